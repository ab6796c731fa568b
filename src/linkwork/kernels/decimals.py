"""Plain decimal numbers read out of text: those that one exact operation gives to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import kernel

PLUS, MINUS, POINT, ZERO, NINE, LARGE_E, SMALL_E = b"+-.09Ee"
BLANK = np.isin(np.arange(256), list(b" \t\n\v\f\r"))  # by byte
EXACT = 2**53  # whole numbers up to here are floats to the bit
TENS = np.array([10.0**k for k in range(23)])  # so are these, and a quotient of two such is rounded once


@kernel("u1[] f8[] i8[,] i8[]")
def read_decimals(data: Any, values: Any, unread: Any, counts: Any) -> None:
    """Read words into values; where that takes more than one exact operation, note which word it is, and its ends.

    `counts` takes how many words there are, and how many of them are noted.
    """
    count, missed, i, n = 0, 0, 0, data.size
    while i < n:
        if BLANK[data[i]]:
            i += 1
            continue
        start = i
        negative = data[i] == MINUS
        if negative or data[i] == PLUS:
            i += 1
        mantissa, digits, power = 0, 0, 0
        plain, behind = True, False
        while i < n and not BLANK[data[i]]:
            c = data[i]
            if ZERO <= c <= NINE:
                if mantissa < EXACT // 10:
                    mantissa = mantissa * 10 + (c - ZERO)
                    power -= behind
                else:
                    plain = False
                digits += 1
            elif c == POINT and not behind:
                behind = True
            else:
                break
            i += 1
        if i < n and (data[i] == LARGE_E or data[i] == SMALL_E) and i + 1 < n:
            i += 1
            below = data[i] == MINUS
            if below or data[i] == PLUS:
                i += 1
            exponent, more = 0, 0
            while i < n and ZERO <= data[i] <= NINE and more < 4:
                exponent = exponent * 10 + (data[i] - ZERO)
                more += 1
                i += 1
            plain = plain and more > 0
            power += -exponent if below else exponent
        if digits == 0 or not plain or abs(power) > 22 or (i < n and not BLANK[data[i]]):
            while i < n and not BLANK[data[i]]:
                i += 1
            unread[missed, 0], unread[missed, 1], unread[missed, 2] = count, start, i
            missed += 1
        else:
            value = mantissa / TENS[-power] if power < 0 else mantissa * TENS[power]
            values[count] = -value if negative else value
        count += 1
    counts[0], counts[1] = count, missed
