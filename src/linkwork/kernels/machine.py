"""Machine-level operations that Python lacks: memory at addresses, calls of C functions by address, CPU features.

This module only declares them; `machine_emission` defines their LLVM code.
"""

from __future__ import annotations

from .declarations import intrinsic


@intrinsic
def peek(address):
    """Return the 8 bytes at an address, as an integer."""


@intrinsic
def poke(address, value):
    """Store 8 bytes at an address."""


@intrinsic
def block_of_slots():
    """Return the address of memory for a kernel's arguments, valid until the function returns."""


@intrinsic
def invoke(function, first, second):
    """Call the C function at an address with two integers, and return an integer; functions may ignore arguments."""


@intrinsic
def invoke_for_real(function, argument):
    """Call the C function at an address with an integer, and return the bits of the double that it returns."""


@intrinsic
def invoke_with_real(function, bits):
    """Call the C function at an address with the double that has the given bits, and return an integer."""


@intrinsic
def ask(question, register):
    """Return the answer of cpuid to a question: register B (1) or C (2); `register` is a literal."""


@intrinsic
def saved_state():
    """Return which registers the operating system saves (xgetbv)."""
