"""Lanes: several numbers in one SIMD vector of the processor; and what kernels do with bare memory.

A kernel written with plain arithmetic, `select`, `load` and `store` works on one problem when its memory holds numbers,
and on eight (sixteen in single precision) problems side by side when it holds lanes: the type of the memory decides,
the source is the same. LLVM splits the vectors into what the processor has.

Here is what kernels say; `emission` is what it becomes.
"""

from __future__ import annotations

from .declarations import intrinsic

# Functions that serve numbers and lanes alike


@intrinsic
def sqrt(x):
    """Return the square root."""


@intrinsic
def fabs(x):
    """Return the size of a number."""


@intrinsic
def exact_sin(x):
    """Return the sine as the C library has it, lane by lane: slow and right for any angle."""


@intrinsic
def exact_cos(x):
    """Return the cosine likewise."""


@intrinsic
def select(mask, yes, no):
    """Return ``yes`` where the mask is true and ``no`` elsewhere."""


@intrinsic
def bits(mask):
    """Return a mask as an integer, lane k in bit k; zero means no lane at all."""


@intrinsic
def lowest(x):
    """Return the least of all lanes, as a number."""


@intrinsic
def mantissa_bit(x, position):
    """Return where a low bit of the floating-point pattern is set; `position` is a literal.

    After adding 1.5·2⁵² (2²³ for float32) to a number, the low bits are those of the nearest integer.
    """


@intrinsic
def by_precision(x, double, single):
    """Return one of two constants: the first where `x` is in double precision, the second where it is in single."""


# Cells: the bare memory of an array, a pointer, which costs nothing to hand on


@intrinsic
def cells(array):
    """Return the memory of an array: its numbers (one axis), or its lanes, row by row (two axes)."""


@intrinsic
def flat(array):
    """Return the memory of an array as single numbers, whatever its axes."""


@intrinsic
def all_flat(group):
    """Return a named tuple of arrays and numbers with the memory of its arrays in their place."""


@intrinsic
def beyond(memory, items):
    """Return the memory that begins some items further on."""


@intrinsic
def divided(memory, sizes):
    """Return memory cut into parts that follow one another: a tuple, named as that of their sizes is."""


@intrinsic
def load(memory, item):
    """Return an item of memory: a number, or lanes."""


@intrinsic
def store(memory, item, value):
    """Put a number, or lanes, into an item of memory."""


@intrinsic
def fill(memory, value):
    """Return a number as what the memory holds: itself, or lanes that all hold it."""


@intrinsic
def gather(memory, item, stride):
    """Return lanes filled from numbers in memory: items ``item``, ``item + stride``, and so on."""


@intrinsic
def scatter(memory, item, stride, value):
    """Put each lane into memory: items ``item``, ``item + stride``, and so on."""
