"""Instruction sets of x86-64 processors, queried from the processor itself (cpuid)."""

from __future__ import annotations

from . import inner, kernel
from .machine import ask, saved_state

# Bits of the answers of cpuid: leaf 1, register C; leaf 7, register B; leaf 0x80000001, register C
SECOND = (1 << 0) | (1 << 9) | (1 << 13) | (1 << 19) | (1 << 20) | (1 << 23)  # SSE3, SSSE3, CX16, SSE4.1, 4.2, POPCNT
THIRD = (1 << 12) | (1 << 22) | (1 << 27) | (1 << 28) | (1 << 29)  # FMA, MOVBE, OSXSAVE, AVX, F16C
THIRD_MORE = (1 << 3) | (1 << 5) | (1 << 8)  # BMI1, AVX2, BMI2
THIRD_LATE = 1 << 5  # LZCNT
FOURTH = (1 << 16) | (1 << 17) | (1 << 28) | (1 << 30) | (1 << 31)  # AVX-512 F, DQ, CD, BW, VL
SAVED = 0b110  # the operating system saves the AVX registers when it switches tasks
SAVED_WIDE = 0b11100110  # and those of AVX-512


@inner
def has(bits, wanted):
    """Return whether all wanted bits are set."""
    return bits & wanted == wanted


@kernel("-> i8")
def processor_level():
    """Return the highest of the levels x86-64-v2, v3 and v4 that the processor supports: 2, 3 or 4; else 1."""
    first = ask(1, 2)
    if not has(first, SECOND):
        return 1
    if ask(0, 0) < 7 or not (has(first, THIRD) and has(ask(7, 1), THIRD_MORE) and has(ask(0x80000001, 2), THIRD_LATE)):
        return 2
    if not has(saved_state(), SAVED):
        return 2
    return 4 if has(ask(7, 1), FOURTH) and has(saved_state(), SAVED_WIDE) else 3
