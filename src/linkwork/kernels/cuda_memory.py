"""Memory in GPU kernels as the CPU's kernels see it: a pointer that numbers are counted from.

In the simulator it is an array that begins there.
"""

from __future__ import annotations

from typing import Any

from .cuda import SIMULATED, device

if SIMULATED:

    def _begin(array):
        return array

    def _further(memory, items):
        return memory[items:]

    memory_of, further = device(_begin), device(_further)
else:
    from numba.cuda import types
    from numba.cuda.extending import intrinsic

    @intrinsic
    def memory_of(_context: Any, array: Any) -> Any:
        """Return the memory of an array."""

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, arguments[0]).data

        return types.CPointer(array.dtype)(array), emit

    @intrinsic
    def further(_context: Any, memory: Any, items: Any) -> Any:
        """Return the memory that begins the given number of items further on."""

        def emit(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.gep(arguments[0], [arguments[1]])

        return memory(memory, items), emit
