"""How the parts of kernels are compiled: to LLVM's language only, since they never run by themselves.

Imports nothing but Numba. It would wrap every function for Python, optimise it with all that it calls, turn that into
machine code, and do so again for each caller; here a part is optimised and translated once, in the kernel that uses it,
which halves the time of the first compile. This reaches into Numba's own classes, so it is done for versions that it
was tested with; others compile parts as they compile everything else.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numba
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
    """Numba's compiler with such a library."""

    def __init__(self, typing_context: Any, target_context: Any, _library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target_context, PartLibrary(target_context.codegen(), "part"), *rest)


TESTED = ("0.68.",)
KNOWN = numba.__version__.startswith(TESTED)
PART: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True} | (
    {"pipeline_class": PartCompiler} if KNOWN else {}
)


def only_for_kernels(dispatcher: Any) -> Any:
    """Make a compiled function one that kernels call, and Python cannot.

    Whole numbers written in a call are of one type; Numba would compile the function for each of them anew.
    """
    resolve = dispatcher.get_call_template

    def plain(args: Any, kws: Any) -> Any:
        return resolve([types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()})

    def keep(result: Any) -> None:
        dispatcher.overloads[tuple(result.signature.args)] = result

    def refuse(*_args: Any, **_kws: Any) -> NoReturn:
        raise TypeError(f"{dispatcher.__name__} is a part of kernels: only they can call it.")

    dispatcher.get_call_template, dispatcher.add_overload, dispatcher._compile_for_args = plain, keep, refuse
    return dispatcher
