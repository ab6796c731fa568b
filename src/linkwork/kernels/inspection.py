"""Inspect a library of kernels before it ships: its exports, its imports, and whether it can be loaded.

For platforms that are not at hand this is the only test besides an emulator.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError
from .targets import Target

# Added by the linker to libraries of macOS: exports, imports (never called), and libraries.
MACOS_SHOWS = {"__mh_dylib_header", "___dso_handle"}
MACOS_WANTS = {"dyld_stub_binder"}
MACOS_LIBRARIES = {"@rpath/pack.dylib", "/usr/lib/libSystem.B.dylib"}

Found = tuple[set[str], set[str], list[str]]  # exports, imports, other faults


def inspect(library: Path, exports: Sequence[str], target: Target) -> list[str]:
    """Return the faults of a library, a few words each; empty if there are none.

    Args:
        library: The file.
        exports: The functions that it must export, and no others.
        target: The platform it is for.
    """
    try:
        shown, wanted, faults = READERS[target.file](library, target)
    except (IndexError, struct.error, AttributeError) as error:
        return [f"is damaged: {error}"]
    faults += [f"does not show {name}" for name in sorted(set(exports) - shown)]
    faults += [f"shows {name}" for name in sorted(shown - set(exports))]
    return faults + [f"wants {name}" for name in sorted(wanted)]


def _parsed(library: Path, target: Target, form: str) -> tuple[Any, list[str]]:
    """Return a library parsed by lief, and a fault if it is for another processor."""
    try:
        import lief
    except ImportError as error:
        raise MissingExtraError("lief", "build", "looking into a library") from error
    lief.logging.disable()
    binary: Any = lief.parse(library)
    if binary is None or binary.format.name != form:
        raise IndexError(f"it cannot be read as {form}")
    processor = binary.abstract.header.architecture.name
    return binary, [] if target.name.endswith(processor.lower()) else [f"is for the processor {processor}"]


def _elf(library: Path, target: Target) -> Found:
    binary, faults = _parsed(library, target, "ELF")
    for segment in binary.segments:
        if segment.flags.value & 1 and segment.flags.value & 2:
            faults.append(f"has a segment that can be written and run: {segment.type.name}")
    writable = [(s.virtual_address, s.virtual_size) for s in binary.segments if s.flags.value & 2]
    faults += _fixed_in_code((r.address for r in binary.dynamic_relocations), writable)
    wanted = {s.name for s in binary.imported_symbols} | set(binary.libraries)
    return {s.name for s in binary.exported_symbols}, wanted, faults


def _pe(library: Path, target: Target) -> Found:
    binary, faults = _parsed(library, target, "PE")
    flags = {flag.name for flag in binary.optional_header.dll_characteristics_lists}
    faults += [f"is not {flag}" for flag in ("DYNAMIC_BASE", "NX_COMPAT", "HIGH_ENTROPY_VA") if flag not in flags]
    if binary.header.time_date_stamps:
        faults.append("holds the time it was made")
    data = [(s.virtual_address, s.virtual_size) for s in binary.sections if s.name != ".text"]
    faults += _fixed_in_code((entry.address for page in binary.relocations for entry in page.entries), data)
    shown = {entry.name for entry in binary.get_export().entries} if binary.has_exports else set()
    return shown, {library.name for library in binary.imports}, faults


def _macho(library: Path, target: Target) -> Found:
    binary, faults = _parsed(library, target, "MACHO")
    least = binary.build_version.minos if binary.has_build_version else binary.version_min.version
    if not target.triple.endswith(".".join(map(str, least))):
        faults.append(f"needs macOS {'.'.join(map(str, least))}")
    data = [(s.virtual_address, s.virtual_size) for s in binary.segments if s.name.startswith("__DATA")]
    faults += _fixed_in_code((relocation.address for relocation in binary.relocations), data)
    if target.name == "macos-arm64":
        faults += _signature_faults(library.read_bytes(), binary)
    shown = {export.symbol.name for export in binary.dyld_info.exports} - MACOS_SHOWS
    wanted = {binding.symbol.name for binding in binary.dyld_info.bindings} - MACOS_WANTS
    wanted |= {library.name for library in binary.libraries} - MACOS_LIBRARIES
    return {name.removeprefix("_") for name in shown}, wanted, faults


def _fixed_in_code(addresses: Iterable[int], writable: list[tuple[int, int]]) -> list[str]:
    """Return a fault if the loader would have to modify code: some loaders refuse, and processes could not share it."""
    fixed = sum(not any(start <= address < start + size for start, size in writable) for address in addresses)
    return [f"has {fixed} relocations in code"] if fixed else []


def _signature_faults(content: bytes, binary: Any) -> list[str]:
    """Return the faults of the page hashes that Apple's processors check before they run a library."""
    if not binary.has_code_signature:
        return ["is not signed"]
    start = binary.code_signature.data_offset
    count = struct.unpack_from(">I", content, start + 8)[0]
    blobs = dict(struct.unpack_from(">II", content, start + 12 + 8 * k) for k in range(count))
    directory = start + blobs[0]
    hashes, pages, limit, size, kind, _, page = struct.unpack_from(">16xI8xIIBBBB", content, directory)
    if (kind, size) != (2, 32):
        return [f"is signed with hashes of kind {kind}, not SHA-256"]
    for number in range(pages):
        expected = content[directory + hashes + size * number :][:size]
        if hashlib.sha256(content[number << page : min(number + 1 << page, limit)]).digest() != expected:
            return [f"is signed wrongly: page {number}"]
    return []


def _wasm(library: Path, _target: Target) -> Found:
    content = library.read_bytes()
    if content[:8] != b"\0asm\1\0\0\0":
        raise IndexError("it cannot be read as WASM")
    names: dict[int, set[str]] = {2: set(), 7: set()}  # sections of imports and exports
    place = 8
    while place < len(content):
        kind, (size, start) = content[place], _leb(content, place + 1)
        if kind == 2:
            names[kind] = {"imports"}
        elif kind == 7:
            names[kind] = set(_names(content, start))
        place = start + size
    if place != len(content):
        raise IndexError("it ends early")
    missing = {"memory", "__heap_base"} - names[7]
    return names[7] - {"memory", "__heap_base"}, names[2], [f"does not show {name}" for name in sorted(missing)]


def _names(content: bytes, place: int) -> Iterator[str]:
    """Yield the names of a WebAssembly module's exports."""
    count, place = _leb(content, place)
    for _ in range(count):
        length, place = _leb(content, place)
        yield content[place : place + length].decode()
        _, place = _leb(content, place + length + 1)


def _leb(content: bytes, place: int) -> tuple[int, int]:
    """Return an integer in WebAssembly's encoding (LEB128, seven bits per byte), and the offset after it."""
    value = shift = 0
    while True:
        byte = content[place]
        place, value, shift = place + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, place


READERS: dict[str, Callable[[Path, Target], Found]] = {
    "pack.so": _elf,
    "pack.dll": _pe,
    "pack.dylib": _macho,
    "linkwork.wasm": _wasm,
}
