"""Lanes: several numbers in one SIMD vector of the processor; and operations on raw memory.

A kernel written with plain arithmetic, `select`, `load` and `store` solves one problem if its memory holds numbers, and
eight problems in parallel (sixteen in single precision) if it holds lanes. The type of the memory decides; the source
is the same. LLVM splits the vectors into registers of the processor.

This module only declares the operations; `emission` defines their LLVM code.
"""

from __future__ import annotations

from .declarations import intrinsic

# Functions of numbers and of lanes


@intrinsic
def sqrt(x):
    """Return the square root."""


@intrinsic
def fabs(x):
    """Return the absolute value."""


@intrinsic
def exact_sin(x):
    """Return the sine computed by the C library for each lane: slow, but accurate for any angle."""


@intrinsic
def exact_cos(x):
    """Return the cosine computed by the C library for each lane."""


@intrinsic
def select(mask, yes, no):
    """Return ``yes`` in lanes where the mask is true and ``no`` elsewhere."""


@intrinsic
def bits(mask):
    """Return a mask as an integer with lane k in bit k; zero means that no lane is set."""


@intrinsic
def lowest(x):
    """Return the smallest of all lanes, as a number."""


@intrinsic
def mantissa_bit(x, position):
    """Return a mask of the lanes whose floating-point pattern has a low bit set; `position` is a literal.

    After adding 1.5·2⁵² (2²³ for float32) to a number, the low bits are those of the nearest integer.
    """


@intrinsic
def by_precision(x, double, single):
    """Return the constant `double` if `x` is in double precision, `single` if it is in single precision."""


# Cells: the raw memory of an array, a pointer that costs nothing to pass on


@intrinsic
def cells(array):
    """Return the memory of an array: of numbers (one axis), or of lanes, row by row (two axes)."""


@intrinsic
def flat(array):
    """Return the memory of an array of any number of axes as single numbers."""


@intrinsic
def all_flat(group):
    """Return a named tuple of arrays and numbers with each array replaced by its memory, as `flat` returns it."""


@intrinsic
def beyond(memory, items):
    """Return the memory that begins the given number of items further on."""


@intrinsic
def divided(memory, sizes):
    """Return memory split into consecutive parts of the given sizes: a tuple, named like that of the sizes."""


@intrinsic
def load(memory, item):
    """Return an item of memory: a number, or a vector of lanes."""


@intrinsic
def store(memory, item, value):
    """Store a number, or a vector of lanes, in an item of memory."""


@intrinsic
def fill(memory, value):
    """Return a number in the type that the memory holds: itself, or copied to all lanes."""


@intrinsic
def gather(memory, item, stride):
    """Return lanes read from single numbers in memory: items ``item``, ``item + stride``, and so on."""


@intrinsic
def scatter(memory, item, stride, value):
    """Store each lane as a single number in memory: items ``item``, ``item + stride``, and so on."""
