"""What machine code can do and Python has no word for: bytes at addresses, C functions by address, the processor.

`machine_emission` is what it becomes.
"""

from __future__ import annotations

from .declarations import intrinsic


@intrinsic
def peek(address):
    """Return the 8 bytes at an address."""


@intrinsic
def poke(address, value):
    """Put 8 bytes at an address."""


@intrinsic
def block_of_slots():
    """Return the address of room for a kernel's arguments, which is there until the function returns."""


@intrinsic
def invoke(function, first, second):
    """Call the C function at an address with whole numbers, and return one; a function of fewer leaves the rest."""


@intrinsic
def invoke_for_real(function, argument):
    """Call the C function at an address with a whole number, and return the bits of the real number it returns."""


@intrinsic
def invoke_with_real(function, bits):
    """Call the C function at an address with the real number of some bits, and return a whole number."""


@intrinsic
def ask(question, register):
    """Return what the processor answers to a question (cpuid): register B (1) or C (2); `register` is a literal."""


@intrinsic
def saved_state():
    """Return which registers the system saves (xgetbv)."""
