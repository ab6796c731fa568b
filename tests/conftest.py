"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every machine, and no deadline: the first call of a kernel may compile it.
settings.register_profile("linkwork", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("linkwork")
