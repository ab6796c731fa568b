"""Build packs: translate every kernel by Numba's front end once, compile it for each target, and link."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from .calling import HEADS
from .declarations import Kernel, all_kernels, in_order
from .linker import link
from .pack import write_listing
from .sources import source_hash
from .targets import Level, Target
from .web import FUNCTIONS
from .workers import Progress, work_on


def build(
    targets: Sequence[Target],
    output: Path,
    *,
    levels: Iterable[str] | None = None,
    functions: Iterable[str] | None = None,
    workers: int | None = None,
    apart: bool = False,
    progress: Progress | None = None,
) -> dict[str, Path]:
    """Build packs, and return their folders by target.

    Args:
        targets: The platforms to build for.
        output: A folder; each pack is written to a subfolder with its target's name.
        levels: Names of the instruction sets to build; all by default, and for targets with only one.
        functions: Names of the kernels to build; by default all, or those of web pages.
        workers: Number of compiling processes; by default the number of cores.
        apart: Whether each function is compiled in its own process: reproducible bytes, slightly slower.
        progress: Called with the number of compiled functions, their total number and the name of the last one.
    """
    source_hash()  # cached now, so that it fits the compiled sources even if they are edited meanwhile
    wanted = [
        (target, level)
        for target in targets
        for level in target.levels
        if not levels or len(target.levels) == 1 or level.name in levels
    ]
    chosen = None if functions is None else set(functions)
    kernels = {name: one for name, one in all_kernels().items() if chosen is None or name in chosen}
    symbols = in_order({symbol for target in targets for symbol in symbols_of(target, kernels)})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work_on(symbols, compile_symbol, wanted, folder, workers=workers, apart=apart, progress=progress)
        return {target.name: _pack(target, wanted, kernels, folder, output / target.name) for target in targets}


def _pack(
    target: Target, wanted: Sequence[tuple[Target, Level]], kernels: dict[str, Kernel], objects: Path, to: Path
) -> Path:
    """Link the objects of a target to its pack."""
    from .. import __version__

    there = tuple(level for one, level in wanted if one == target)
    names = [(symbol, level) for level in there for symbol in sorted(symbols_of(target, kernels))]
    to.mkdir(parents=True, exist_ok=True)
    link(
        [_object(objects, target, level, symbol) for symbol, level in names],
        [target.symbol(symbol, level) for symbol, level in names],
        target,
        to / target.file,
    )
    own = [one for one in kernels.values() if set(one.symbols) <= symbols_of(target, kernels)]
    write_listing(to, target, there, own, __version__)
    return to


def symbols_of(target: Target, kernels: dict[str, Kernel]) -> set[str]:
    """Return the names of all functions in a target's pack, for each level."""
    if target.name == "wasm":
        return {symbol for name in FUNCTIONS if name in kernels for symbol in kernels[name].symbols}
    found = {symbol for one in kernels.values() for symbol in one.symbols} | {f"call_{head}" for head in HEADS}
    return found if "x86_64" in target.name else found - {"processor_level"}


def compile_symbol(symbol: str, wanted: Sequence[tuple[Target, Level]], folder: Path) -> None:
    """Compile one function for targets and levels into object files below a folder: the work of one process."""
    from .compiler import call_text, kernel_text
    from .objects import compile_object

    kernels = all_kernels()
    if symbol.startswith("call_"):
        text = call_text(int(symbol.removeprefix("call_")))
    else:
        owner = next(one for one in kernels.values() if symbol in one.symbols)
        text = kernel_text(owner, owner.symbols.index(symbol))
    for target, level in wanted:
        if symbol in symbols_of(target, kernels):
            name = target.symbol(symbol, level)
            kind = target.triple, level.cpu, level.features
            code = compile_object(text, *kind, name, reloc=target.relocation, model="default")
            path = _object(folder, target, level, symbol)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(code)


def _object(folder: Path, target: Target, level: Level, symbol: str) -> Path:
    return folder / target.name / (level.name or "base") / f"{symbol}.o"
