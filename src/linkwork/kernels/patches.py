"""Linkwork's changes to Numba: how parts of kernels are compiled.

Numba would wrap every function for Python, optimise it with all functions that it calls, compile that to machine code,
and repeat this for each caller. Here a function is only translated to LLVM's language; it is optimised and compiled
once, in the kernel that uses it, by `objects`. `compiler` decides whether this module is imported.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class PartLibrary(JITCodeLibrary):
    """The code of a part, to be linked into kernels."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        """Return 0: a part has no address."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> PartLibrary:
        """The object through which Numba connects a function to Python's environment; here it does nothing."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class PartCompiler(Compiler):
    """Numba's compiler for parts."""

    def __init__(self, typing_context: Any, target_context: Any, _library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target_context, PartLibrary(target_context.codegen(), "part"), *rest)


def only_for_kernels(dispatcher: Any) -> Any:
    """Key compiled versions of a function by argument types alone, and register nothing that Python could run.

    Integer literals in a call count as plain integers; Numba would compile the function again for each value.
    """
    resolve = dispatcher.get_call_template

    def plain(args: Any, kws: Any) -> Any:
        return resolve([types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()})

    def keep(result: Any) -> None:
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher.get_call_template, dispatcher.add_overload = plain, keep
    return dispatcher
