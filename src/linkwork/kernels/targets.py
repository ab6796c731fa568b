"""The table of platforms that kernels are compiled for ahead of time, with the data for compiler, linker and wheel.

Plain data: it is read both when packs are loaded and when they are built.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """One instruction set of a target.

    Attributes:
        name: Suffix of the symbols of its functions, as in ``search_one__v3``; empty if a target has only one level.
        cpu: LLVM's name of the processor.
        features: Further features, in LLVM's notation: ``+simd128,+sign-ext``.
    """

    name: str
    cpu: str
    features: str = ""


@dataclass(frozen=True)
class Target:
    """One platform.

    Attributes:
        name: Its name here, in folders and in pack.json.
        triple: LLVM's name of it.
        zig: Zig's name of it.
        levels: Its instruction sets; the first is the one that every machine has.
        file: File name of its pack.
        marker: The machines it serves, as an environment marker of package metadata; empty if there is no wheel.
        tag: Platform tag of its wheel; empty if there is none.
        relocation: LLVM's relocation model.
    """

    name: str
    triple: str
    zig: str
    levels: tuple[Level, ...]
    file: str
    marker: str = ""
    tag: str = ""
    relocation: str = "pic"

    def symbol(self, function: str, level: Level) -> str:
        """Return the symbol of a function of one level in the pack.

        Example:
            >>> linux = TARGETS["linux-x86_64"]
            >>> linux.symbol("search_one", linux.levels[1])
            'search_one__v3'
        """
        return f"{function}__{level.name}" if level.name else function


X86 = (Level("v2", "x86-64-v2"), Level("v3", "x86-64-v3"), Level("v4", "x86-64-v4"))
ARM = (Level("base", "generic", "+neon"),)
APPLE = (Level("base", "apple-m1"),)
WASM = (Level("", "mvp", "+simd128,+bulk-memory,+bulk-memory-opt,+sign-ext,+nontrapping-fptoint,+mutable-globals"),)

# A pack needs no C library, so it works on every Linux: glibc from 2.17 on, and musl.
# Linux calls its processors x86_64 and aarch64, macOS x86_64 and arm64, Windows AMD64 and ARM64.
TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(
            "linux-x86_64",
            "x86_64-unknown-linux-gnu",
            "x86_64-linux-none",
            X86,
            "pack.so",
            "sys_platform == 'linux' and platform_machine == 'x86_64'",
            "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        ),
        Target(
            "linux-arm64",
            "aarch64-unknown-linux-gnu",
            "aarch64-linux-none",
            ARM,
            "pack.so",
            "sys_platform == 'linux' and platform_machine == 'aarch64'",
            "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        ),
        Target(
            "macos-arm64",
            "arm64-apple-macosx11.0.0",
            "aarch64-macos.11.0",
            APPLE,
            "pack.dylib",
            "sys_platform == 'darwin' and platform_machine == 'arm64'",
            "macosx_11_0_arm64",
        ),
        Target(
            "macos-x86_64",
            "x86_64-apple-macosx10.13.0",
            "x86_64-macos.10.13",
            X86[:2],  # macOS reports AVX-512 only after a thread has used it
            "pack.dylib",
            "sys_platform == 'darwin' and platform_machine == 'x86_64'",
            "macosx_10_13_x86_64",
        ),
        Target(
            "windows-x86_64",
            "x86_64-pc-windows-gnu",
            "x86_64-windows-gnu",
            X86,
            "pack.dll",
            "sys_platform == 'win32' and platform_machine == 'AMD64'",
            "win_amd64",
        ),
        Target("wasm", "wasm32-unknown-unknown", "wasm32-freestanding", WASM, "linkwork.wasm", relocation="static"),
    )
}


def host() -> Target | None:
    """Return the target of this Python process, or None."""
    if sys.maxsize < 2**32:
        return None
    if sys.platform == "win32":  # of the process, not of the machine: Python for AMD64 also runs on ARM64
        return TARGETS["windows-x86_64"] if "amd64" in sys.version.lower() else None
    system = {"linux": "linux", "darwin": "macos"}.get(sys.platform, "")
    machine = os.uname().machine
    return TARGETS.get(f"{system}-{'arm64' if machine == 'aarch64' else machine}")
