"""Runs over many items: the folder that they write to, and the engines that do the work.

A folder holds a manifest that ties it to what went in; files in it are there in full or not at all. Engines yield a
receipt for each item, as it is done.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import LinkworkError, OptionError, RunError, listed
from ..formats.atomic_files import read_text, write_text
from ..formats.scene import dump
from ..linkage.linkage import Linkage
from ..solvers.options import whole
from .goal_files import require

MANIFEST, VERSION = "_manifest.json", 1  # readers of Parquet pass by names that begin so
DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")
STORE = 2**27  # bytes of Ray's object store, which holds receipts alone
RETRIES = 8  # of an item whose worker dies; an item that kills them all must not go on for ever
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


@dataclass(frozen=True)
class Receipt:
    """What became of an item: how its rows ended, or why they are missing, or why the whole run cannot go on."""

    item: int
    counts: Mapping[str, int] = field(default_factory=dict)
    missing: str = ""
    fatal: str = ""


Work = Callable[[int], Receipt]
Receipts = Generator[Receipt, None, None]


# The folder


def linkage_digest(linkage: Linkage) -> str:
    """Return what tells a linkage from another: a digest of its scene text."""
    return hashlib.sha256(dump(linkage, "json").encode()).hexdigest()


@contextmanager
def run_folder(folder: str | os.PathLike[str], facts: Mapping[str, Any], *, resume: bool) -> Iterator[tuple[Path, str]]:
    """Make a folder ready for a run, or find it so, and hold it until the run ends.

    Args:
        folder: Where to write.
        facts: What decides the answers, as plain data; it is kept in the manifest.
        resume: Whether to continue what is there.

    Yields:
        The folder, and a digest of the facts that files carry.

    Raises:
        RunError: If the folder holds another run, or one to be resumed, or is in use.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot write to {str(path)!r}: {error.strerror}.") from error
    with _held(path):
        plain = json.loads(json.dumps(facts))
        manifest = path / MANIFEST
        if manifest.exists():
            _check_manifest(manifest, plain, resume)
        elif any(path.iterdir()):
            raise RunError(f"{str(path)!r} is not empty, and no run began there; give a folder of its own.")
        else:
            write_text(manifest, json.dumps({"linkwork": VERSION, **plain}, indent=1) + "\n")
        _clear(path)
        try:
            yield path, hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
        finally:
            _clear(path)


def _check_manifest(manifest: Path, facts: Mapping[str, Any], resume: bool) -> None:
    where = str(manifest.parent)
    if not resume:
        raise RunError(f"{where!r} holds a run already; continue it with resume, or give another folder.")
    try:
        kept = json.loads(read_text(manifest))
    except (ValueError, RecursionError):
        kept = None
    if not isinstance(kept, dict) or kept.pop("linkwork", None) != VERSION:
        raise RunError(f"{str(manifest)!r} is not the manifest of a run that this version of linkwork can resume.")
    other = [name for name in (*facts, *kept) if facts.get(name) != kept.get(name)]
    if other:
        raise RunError(
            f"{where!r} cannot be resumed: its run had another {listed(sorted({*other}))}; "
            f"resume it with the same, or give another folder."
        )


def _clear(folder: Path) -> None:
    """Remove what a killed run had begun to write."""
    for path in folder.rglob(".*.tmp"):
        if DRAFT.fullmatch(path.name):
            path.unlink(missing_ok=True)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder, where the system can."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise RunError(f"another run is at work in {str(folder)!r}.") from error
    finally:
        os.close(handle)


# Engines


def check_engine(engine: str, known: Sequence[str], workers: Any, address: str | None, *, gpu: bool = False) -> None:
    """Raise OptionError for an unknown engine, or one that is given what it has no use for."""
    if engine not in known:
        raise OptionError(f"no engine {engine!r}; engines are {listed(known)}.")
    if engine != "ray" and (address is not None or gpu):
        raise OptionError("address is for the engine ray, and so is gpu.")
    if workers is not None:
        whole("workers", workers, least=1, most=2**16)


def run_ray(
    work: Work, items: Sequence[int], workers: int | None, *, address: str | None = None, gpu: bool = False
) -> Receipts:
    """Do the work with Ray Data: actors that each have a core, or a graphics card, of their own.

    An item whose worker dies is done again by another.
    """
    require("ray", "the engine ray")
    if not items:
        return
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    import ray
    import ray.data

    with _cluster(ray, workers, address, gpu):
        resource = "GPU" if gpu else "CPU"
        there = int(ray.cluster_resources().get(resource, 0))
        if there < (workers or 1):
            raise RunError(f"Ray has {there} {resource}s for {workers or 1} workers.")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        pool = ray.data.ActorPoolStrategy(size=min(workers or there, len(items)), max_tasks_in_flight_per_actor=2)
        receipts = ray.data.from_items([{"item": item} for item in items], override_num_blocks=len(items)).map_batches(
            _Worker,
            fn_constructor_args=(work,),
            batch_size=1,
            compute=pool,
            num_cpus=None if gpu else 1,
            num_gpus=1 if gpu else None,
            ray_remote_args_fn=lambda: {"max_task_retries": RETRIES},
        )
        try:
            for batch in receipts.iter_batches(batch_size=None, prefetch_batches=0):
                yield from (Receipt(**json.loads(text)) for text in batch["receipt"])
        except ray.exceptions.RayError as error:
            raise RunError(f"Ray could not go on: {' '.join(str(error).split())[:400]}") from error


class _Worker:
    """What an actor does with items: the work, and a receipt for each."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        receipts = []
        for item in map(int, batch["item"]):
            try:
                receipts.append(self.work(item))
            except LinkworkError as error:  # it ends the run, and travels as text
                receipts.append(Receipt(item, fatal=str(error)))
        return {"receipt": [json.dumps(asdict(receipt)) for receipt in receipts]}


@contextmanager
def _cluster(ray: Any, workers: int | None, address: str | None, gpu: bool) -> Iterator[None]:
    """Be connected to Ray: as the program already is, to a cluster, or to one of this machine for the time being."""
    if ray.is_initialized():
        yield
        return
    own: dict[str, Any] = {}
    if address is None:
        own = {"include_dashboard": False, "object_store_memory": STORE}
        own |= {} if workers is None else {"num_gpus" if gpu else "num_cpus": workers}
    try:
        ray.init(address or "local", log_to_driver=False, logging_level="error", **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise RunError(f"Ray cannot be started: {' '.join(str(error).split())[:400]}") from error
    try:
        yield
    finally:
        ray.shutdown()
