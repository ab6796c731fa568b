"""Plain decimal numbers out of text by a compiled kernel, ten times as fast as NumPy reads them.

It needs Numba: import it only where that is loaded anyway.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import kernel
from ..transforms import FloatArray

PLUS, MINUS, POINT, ZERO, NINE, LARGE_E, SMALL_E = b"+-.09Ee"
BLANK = np.isin(np.arange(256), list(b" \t\n\v\f\r"))  # by byte
EXACT = 2**53  # whole numbers up to here are floats to the bit
TENS = np.array([10.0**k for k in range(23)])  # so are these, and a quotient of two such is rounded once


def numbers(text: str) -> FloatArray | None:
    """Return the numbers of a text as `float` reads them, or None where a word may be no number.

    Example:
        >>> numbers("1.25 -3e-2").tolist()
        [1.25, -0.03]
    """
    raw = text.encode()
    most = len(raw) // 2 + 1
    values, unread = np.empty(most), np.empty((most, 3), np.int64)
    count, missed = _read(np.frombuffer(raw, np.uint8), values, unread)
    try:
        for k, start, end in unread[:missed].tolist():  # more digits than a float holds, or no number at all
            values[k] = float(raw[start:end].replace(b"_", b"?"))  # Python reads 1_000 as a number, and files do not
    except ValueError:
        return None
    return values[:count]


@kernel
def _read(data: Any, values: Any, unread: Any) -> Any:
    """Read words into values; where that takes more than one exact operation, note which word it is, and its ends."""
    count, missed, i, n = 0, 0, 0, len(data)
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
    return count, missed
