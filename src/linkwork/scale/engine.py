"""Engines that process the items of a run: threads of this process, or Ray workers.

They yield a receipt for each finished item.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from ..collision.obstacles import World
from ..errors import LinkworkError, OptionError, RunError, listed, require
from ..formats.scene import dump
from ..goals import Avoid
from ..kernels.threads import cores
from ..linkage.linkage import Linkage
from ..solvers.options import whole
from .goal_rows import MissingRows
from .head_start import HeadStart

HEAD_START = True  # whether threads already work while Ray starts on this computer
STORE = 2**27  # size of Ray's object store [bytes], which holds only receipts
PATIENCE = 10.0  # timeout for the first response of a cluster [s]
MOST_TRIES = 8  # attempts for an item whose worker dies, before the run ends
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


@dataclass(frozen=True)
class Receipt:
    """Result of an item: statuses of its rows, missing rows with the reason, or why the run cannot go on.

    Notes are on single rows that could not be read; times are seconds of the worker, by kind of work.
    """

    item: int
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    missing: Sequence[MissingRows] = ()
    fatal: str = ""
    times: Mapping[str, float] = field(default_factory=dict)


USUAL = {"weight": 1.0, "priority": 0, "wish": False}  # defaults of a margin, omitted from the manifest
Work = Callable[[int], Receipt]
Receipts = Generator[Receipt, None, None]


def linkage_digest(linkage: Linkage) -> str:
    """Return an identifier of a linkage: a digest of its scene text."""
    return hashlib.sha256(dump(linkage, "json").encode()).hexdigest()


def avoid_facts(avoid: Avoid) -> dict[str, Any]:
    """Return an identifier of what to keep clear of, as plain data."""
    text = dump(None, "json", World() if avoid.world is None else avoid.world)
    links = None if avoid.links is None else list(avoid.links)
    digest = hashlib.sha256(text.encode()).hexdigest()
    facts = {"world": digest, "self": avoid.self, "margin": avoid.margin, "links": links}
    more = {"weight": avoid.weight, "priority": avoid.priority, "wish": avoid.tolerance is not None}
    return facts | {name: value for name, value in more.items() if value != USUAL[name]}


def check_engine(
    engine: str,
    known: Sequence[str],
    workers: Any,
    address: str | None,
    *,
    gpu: bool = False,
    devices: Sequence[int] | None = None,
) -> None:
    """Raise OptionError for an unknown engine, or an option that the engine does not have."""
    if engine not in known:
        raise OptionError(f"no engine {engine!r}; engines are {listed(known)}.")
    if engine != "ray" and (address is not None or gpu):
        raise OptionError("address and gpu need the engine ray.")
    if devices is not None:
        if engine != "cuda":
            raise OptionError("devices needs the engine cuda: it holds the numbers of GPUs.")
        numbers = [whole("devices", number) for number in devices]
        if not numbers or len({*numbers}) < len(numbers):
            raise OptionError(f"devices holds the numbers of GPUs, each once, got {numbers}.")
    if workers is not None:
        whole("workers", workers, least=1, most=2**16)


def run_ray(
    work: Work, items: Sequence[int], workers: int | None, *, address: str | None = None, gpu: bool = False
) -> Receipts:
    """Process items with Ray Data: each actor has a core, or a GPU, of its own.

    If a worker dies, its item is done again by another. If Ray is started on this computer, threads begin meanwhile.
    """
    require("ray", "the engine ray")
    if not items:
        return
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    here = HEAD_START and address is None and not gpu and not _connected()
    early = HeadStart(partial(_receipt, work), items, workers or cores()) if here else None
    try:
        import ray
        import ray.data

        with _cluster(ray, workers, address, gpu):
            resource = "GPU" if gpu else "CPU"
            there = int(ray.cluster_resources().get(resource, 0))
            if there < (workers or 1):
                raise RunError(f"Ray has {there} {resource}s for {workers or 1} workers.")
            if early is not None:
                yield from early.finish()
            left = items[early.done if early is not None else 0 :]
            if left:
                yield from _by_actors(ray, work, left, workers or there, gpu)
    finally:
        for _ in early.finish() if early is not None else ():
            pass


def _connected() -> bool:
    """Return whether this program is connected to Ray already."""
    return "ray" in sys.modules and bool(sys.modules["ray"].is_initialized())


def _by_actors(ray: Any, work: Work, items: Sequence[int], workers: int, gpu: bool) -> Receipts:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    pool = ray.data.ActorPoolStrategy(size=min(workers, len(items)), max_tasks_in_flight_per_actor=2)
    receipts = ray.data.from_items([{"item": item} for item in items], override_num_blocks=len(items)).map_batches(
        _Worker,
        fn_constructor_args=(work, ray.remote(num_cpus=0)(_Tally).remote()),
        batch_size=1,
        compute=pool,
        num_cpus=None if gpu else 1,
        num_gpus=1 if gpu else None,
    )
    try:
        for batch in receipts.iter_batches(batch_size=None, prefetch_batches=0):
            yield from map(_received, batch["receipt"])
    except ray.exceptions.RayError as error:
        raise RunError(f"Ray could not go on: {' '.join(str(error).split())[:400]}") from error


def _receipt(work: Work, item: int) -> Receipt:
    """Return the receipt for an item; an error is passed on as text and ends the run."""
    try:
        return work(item)
    except LinkworkError as error:
        return Receipt(item, fatal=str(error))


def _received(text: str) -> Receipt:
    """Return a receipt from its text."""
    values = json.loads(text)
    return Receipt(**values | {"missing": [MissingRows(**one) for one in values["missing"]]})


class _Tally:
    """An actor that counts the attempts of items: Ray would retry an item that kills its workers forever."""

    def __init__(self) -> None:
        self.begun: Counter[int] = Counter()

    def begin(self, item: int) -> int:
        """Return how often an item was started, including this time."""
        self.begun[item] += 1
        return self.begun[item]


class _Worker:
    """The callable of a Ray actor: processes items and returns their receipts."""

    def __init__(self, work: Work, tally: Any) -> None:
        self.work, self.tally = work, tally

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        receipts = [self._receipt(item) for item in map(int, batch["item"])]
        return {"receipt": [json.dumps(asdict(receipt)) for receipt in receipts]}

    def _receipt(self, item: int) -> Receipt:
        import ray

        if ray.get(self.tally.begin.remote(item)) > MOST_TRIES:
            return Receipt(item, fatal=f"item {item} ended {MOST_TRIES} Ray workers; give them more memory.")
        return _receipt(self.work, item)


def _look_for(address: str) -> None:
    """Raise RunError if no cluster answers at an address; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # "auto" or the name of a cluster, for which Ray reports failure at once
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise RunError(f"no Ray cluster answers at {address!r}: {str(error) or type(error).__name__}.") from error


@contextmanager
def _cluster(ray: Any, workers: int | None, address: str | None, gpu: bool) -> Iterator[None]:
    """Connect to Ray: keep an existing connection, join a cluster, or start Ray on this machine."""
    if ray.is_initialized():
        yield
        return
    own: dict[str, Any] = {}
    if address is None:
        own = {"include_dashboard": False, "object_store_memory": STORE}
        own |= {} if workers is None else {"num_gpus" if gpu else "num_cpus": workers}
    else:
        _look_for(address)
    try:
        ray.init(address or "local", log_to_driver=False, logging_level="error", **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise RunError(f"Ray cannot be started: {' '.join(str(error).split())[:400]}") from error
    try:
        yield
    finally:
        ray.shutdown()
