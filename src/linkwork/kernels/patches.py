"""What linkwork changes in Numba: how parts of kernels compile.

Numba would wrap every function for Python, optimise it with all that it calls, turn that into machine code, and do so
again for each caller. Here a function is only translated to LLVM's language; it is optimised and becomes machine code
once, in the kernel that uses it, by `objects`. `compiler` says where this may be imported.
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
        """Return no address: there is nothing to run."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> PartLibrary:
        """What Numba asks to connect a function with Python's environment: here no one."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Connect nothing."""


class PartCompiler(Compiler):
    """Numba's compiler of parts."""

    def __init__(self, typing_context: Any, target_context: Any, _library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target_context, PartLibrary(target_context.codegen(), "part"), *rest)


def only_for_kernels(dispatcher: Any) -> Any:
    """Let a compiled function be known by the types of its arguments alone, and by nothing that Python could run.

    Whole numbers written in a call are of one type; Numba would compile the function for each of them anew.
    """
    resolve = dispatcher.get_call_template

    def plain(args: Any, kws: Any) -> Any:
        return resolve([types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()})

    def keep(result: Any) -> None:
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher.get_call_template, dispatcher.add_overload = plain, keep
    return dispatcher
