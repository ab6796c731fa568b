"""Random calls of the whole public API, checked independently: ``python tests/soak.py --seconds 3600 [--seed 0]``.

Every call returns or raises an error of linkwork; every solution that is reported as a success reaches its goal by the
forward kinematics of `own_forward` and keeps all limits; memory does not grow. Each round makes all calls in a random
order, so that slow and fast calls run about equally often. `test_soak.py` runs a few rounds.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import _lru_cache_wrapper
from typing import Any

import numpy as np

import memory
from linkwork import Linkage
from linkwork.errors import LinkworkError
from soak_further import Further
from soak_judge import ROWS
from soak_others import Others
from soak_solves import Solves

GROWTH = 40.0  # MB that a process may gain after warming up
WARM = 0.5  # share of the calls that warm up: afterwards caches are nearly full
MINUTE = 60.0  # s between two measurements of memory
OFTEN = {"batch": 2, "solve_one": 4, "several_goals": 2, "kinematics": 2, "edit": 2, "nonsense": 4}  # calls per round


class Soak(Solves, Others, Further):
    """Calls in a random order, and their results."""

    def __init__(self, seed: int, rows: int = ROWS) -> None:
        super().__init__(seed, rows)
        self.calls: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.sizes: list[tuple[int, float]] = []  # every minute: number of calls, and memory of the process [MB]
        self.to_come: list[str] = []  # remaining calls of this round
        self.bare = False  # whether caches are cleared before each measurement of memory

    def call(self, name: str | None = None) -> None:
        """Make one call: a given one, or the next of the round."""
        if name is None:
            if not self.to_come:
                once = [name for name in ACTIONS for _ in range(OFTEN.get(name, 1))]
                self.to_come = [str(name) for name in self.rng.permutation(once)]
            name = self.to_come.pop()
        self.calls[name] += 1
        try:
            getattr(self, name)()
        except LinkworkError as error:
            self.refused[f"{name}: {type(error).__name__}"] += 1

    def said(self) -> str:
        """Return a summary in one line."""
        return f"{sum(self.calls.values())} calls, {self.solves} solves checked, {self.successes} of them successes"


ACTIONS = [name for made in (Solves, Others, Further) for name in vars(made) if not name.startswith("_")]


def soak(run: Soak, goes_on: Callable[[], bool], tell: Callable[[str], None] = print) -> None:
    """Make calls while `goes_on` returns true; raise at the first wrong result."""
    begin = told = time.monotonic()
    while goes_on():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=DeprecationWarning, module="(?!linkwork)")  # of other packages
            run.call()
        if time.monotonic() - told > MINUTE:
            told = time.monotonic()
            if run.bare:
                forget()
            run.sizes.append((run.calls.total(), settled()))
            tell(f"{told - begin:.0f} s: {run.said()}; {run.sizes[-1][1]:.0f} MB")
    tell(f"{time.monotonic() - begin:.0f} s, {time.process_time():.0f} s of computing: {run.said()}")
    tell(f"calls: {dict(run.calls)}")
    tell(f"refused: {dict(run.refused)}")
    tell(f"kept: {kept()}")


def settled() -> float:
    """Return the memory of this process [MB], after returning free memory to the system."""
    gc.collect()
    memory.AFTER["resident"] = -np.inf
    memory.give_back()
    return memory.resident() if memory.STATM.exists() else 0.0


def keepers() -> tuple[list[Any], list[Linkage]]:
    """Return everything with a cache: functions of the package with bounded caches, and linkages."""
    things = gc.get_objects()
    bounded = [one for one in things if isinstance(one, _lru_cache_wrapper) and one.__module__.startswith("linkwork")]
    return [one for one in bounded if one.cache_info().maxsize], [one for one in things if isinstance(one, Linkage)]


def forget() -> None:
    """Clear all caches, so that remaining growth is a leak."""
    bounded, linkages = keepers()
    for one in bounded:
        one.cache_clear()
    for linkage in linkages:
        linkage.cache.clear()


def kept() -> str:
    """Return the number of cached entries, in functions of the package and in linkages."""
    bounded, linkages = keepers()
    sizes = {f"{one.__module__}.{one.__qualname__}": one.cache_info() for one in bounded}
    said = [f"{name} {info.currsize} of {info.maxsize}" for name, info in sorted(sizes.items())]
    return f"{'; '.join(said)}; {len(linkages)} linkages with {sum(len(one.cache) for one in linkages)} things"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long")
    parser.add_argument("--seed", type=int, default=0, help="of all that is random")
    parser.add_argument("--rows", type=int, default=ROWS, help="goals of a batch")
    parser.add_argument("--bare", action="store_true", help="clear caches before each measurement of memory")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    run, end = Soak(options.seed, options.rows), time.monotonic() + options.seconds
    run.bare = options.bare
    soak(run, lambda: time.monotonic() < end, lambda line: print(line, flush=True))
    warm = [size for calls, size in run.sizes if calls > WARM * run.calls.total()]
    if not warm:
        return
    print(
        f"memory: {warm[0]:.0f} MB after half of the calls, {warm[-1]:.0f} at the end, {max(warm):.0f} at most between"
    )
    if warm[-1] > warm[0] + GROWTH:
        sys.exit("memory grew")


if __name__ == "__main__":
    main()
