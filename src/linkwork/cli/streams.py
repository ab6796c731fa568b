"""The three standard streams: a shell may have closed any of them, and a pipe may close at its other end."""

from __future__ import annotations

import errno
import os
import sys


def open_closed() -> None:
    """Open those of stdin, stdout and stderr that are closed, on the null device.

    Otherwise the next file that is opened takes the number of a closed stream, and gets what libraries write there;
    and what Python prints to a stream that is None goes to stdout.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            handle = os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
        setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # open to the end


def is_closed_pipe(error: OSError) -> bool:
    """Return whether an error means that the reader of a pipe is gone; Windows has another error for it."""
    return isinstance(error, BrokenPipeError) or (
        os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
    )


def forget_output() -> None:
    """Send the rest of stdout to the null device, so that it cannot fail again when Python exits."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
