"""The examples of docstrings are tests too; those of modules for GPUs only where numba-cuda is, which macOS has not."""

from __future__ import annotations

from importlib.util import find_spec

ON_CARDS = ["linkwork/**/cuda*.py", "linkwork/**/card.py"]
collect_ignore_glob = [] if find_spec("numba_cuda") else ON_CARDS
