"""Settings of the whole suite: its examples, its signals, and the memory its processes may take."""

from __future__ import annotations

import signal

from hypothesis import settings

# The same examples on every machine, and no deadline: the first call of a kernel may compile it.
settings.register_profile("linkwork", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("linkwork")

# Under nohup and in the background of a shell SIGINT is ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
