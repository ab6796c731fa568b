"""What linkwork changes in Numba: how parts of kernels compile, and what the cache on disk is keyed by.

Numba would wrap every function for Python, optimise it with all that it calls, turn that into machine code, and do so
again for each caller. Here a part is optimised and translated once, in the kernel that uses it, which halves the time
of the first compile. Numba also keys its cache by the file of a function alone; here the key holds a hash of all kernel
sources, so that an edit in any kernel file recompiles what calls it. And Numba leaves the functions that a kernel calls
visible to the linker, which takes the first of a name that was loaded, whichever kernel it came with: then rounding
depends on what else a process has solved. Here they belong to their kernel. `compiler` says where this may be imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from llvmlite.binding import Linkage
from numba import types
from numba.core.caching import FunctionCache
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


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel, with its own copy of every part."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()


class PartCompiler(Compiler):
    """Numba's compiler of parts."""

    def __init__(self, typing_context: Any, target_context: Any, _library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target_context, PartLibrary(target_context.codegen(), "part"), *rest)


class KernelCompiler(Compiler):
    """Numba's compiler of kernels, whose code is kept on disk."""

    def __init__(self, typing_context: Any, target_context: Any, _library: Any, *rest: Any) -> None:
        library = KernelLibrary(target_context.codegen(), "kernel")
        library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *rest)


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


class Announced:
    """A cache on disk that says on a terminal, once, that something must be compiled."""

    said: ClassVar[bool] = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled before, or None."""
        found = super().load_overload(sig, target_context)  # type: ignore[misc]
        if found is None and not Announced.said and sys.stderr is not None and sys.stderr.isatty():
            Announced.said = True
            print("linkwork: compiling kernels (once; kept for later runs) ...", file=sys.stderr)
        return found


class KernelCache(Announced, FunctionCache):
    """Numba's cache on disk, keyed also by the sources of all kernels."""

    def __init__(self, function: Callable[..., Any], sources: str) -> None:
        super().__init__(function)
        self._sources = sources

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), self._sources)
