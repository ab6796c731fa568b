"""Parse decimal numbers from text, those for which one exact operation gives the correctly rounded value."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import kernel

PLUS, MINUS, POINT, ZERO, NINE, LARGE_E, SMALL_E = b"+-.09Ee"
BLANK = np.isin(np.arange(256), list(b" \t\n\v\f\r"))  # whether a byte is white space
EXACT = 2**53  # integers up to here are exact as floats
TENS = np.array([10.0**k for k in range(23)])  # these are exact too, so a quotient or product of both is rounded once


@kernel("u1[] f8[] i8[,] i8[]")
def read_decimals(data: Any, values: Any, unread: Any, counts: Any) -> None:
    """Parse words into values; record the index, start and end of words that need more than one exact operation.

    `counts` receives the number of words and the number of those recorded in `unread`.
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
