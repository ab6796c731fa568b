"""Compile kernels on the fly with Numba's front end and LLVM, at their first call; object code is cached on disk."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from functools import cache
from typing import Any

from ..errors import MissingExtraError
from . import store
from .binding import HEAD, builtin
from .declarations import Kernel, all_kernels, in_order
from .sources import hash_of
from .workers import Progress, work_on

_lock = threading.RLock()
_engines: list[Any] = []  # own the machine code, so they must stay alive


class Compiled:
    """A kernel that is compiled when it is first called.

    Args:
        kernel: The kernel.
        reason: Why no pack is used, as the end of a sentence.
    """

    def __init__(self, kernel: Kernel, reason: str) -> None:
        self.kernel, self.reason = kernel, reason
        self.__name__, self.__doc__ = kernel.name, kernel.function.__doc__
        self._function: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel."""
        if self._function is None:
            self._function = compiled(self.kernel, self.reason)
        return self._function(*arguments)


def compiled(kernel: Kernel, reason: str) -> Any:
    """Return a builtin function for a kernel, compiled now or read from the cache.

    Raises:
        MissingExtraError: If Numba is not installed.
    """
    if importlib.util.find_spec("numba") is None:
        raise MissingExtraError("numba", "jit", f"compiling kernels, since no pack of machine code is used ({reason}),")
    with _lock:
        entries = [_loaded(symbol, _object(symbol, kernel)) for symbol in kernel.symbols]
        return builtin(kernel, _call(), entries)


@cache
def _call() -> int:
    """Return the address of `calling.call`, compiled for this Python."""
    symbol = f"call_{HEAD}"
    return _loaded(symbol, _object(symbol))


def _object(symbol: str, kernel: Kernel | None = None) -> bytes:
    """Return the object code of a kernel's symbol, or of `calling.call`; only one process compiles it, once."""
    module = "" if kernel is None else kernel.function.__module__.removeprefix(f"{__package__}.")
    key = f"{symbol} {' '.join(_host())} {hash_of(module)} {_versions()}"
    code = store.find(key) if _can_be_kept(kernel) else None
    if code is not None:
        return code
    with store.alone(key):
        code = store.find(key) if _can_be_kept(kernel) else None
        if code is None:
            _announce()
            from .compiler import call_text, kernel_text
            from .objects import compile_object

            text = call_text(HEAD) if kernel is None else kernel_text(kernel, kernel.symbols.index(symbol))
            code = compile_object(text, *_host(), symbol)
            if _can_be_kept(kernel):
                store.keep(key, code)
    return code


def _can_be_kept(kernel: Kernel | None) -> bool:
    """Return whether the hash of the sources covers a kernel; a kernel declared elsewhere is not cached."""
    return kernel is None or kernel.function.__module__.startswith(f"{__package__}.")


def _loaded(symbol: str, code: bytes) -> int:
    """Load object code into this process and return the address of a symbol."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, cpu, features = _host()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{triple}"'), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(symbol))


@cache
def _host() -> tuple[str, str, str]:
    """Return LLVM's names of this machine and its processor, and the features of the processor."""
    import llvmlite.binding as llvm

    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _versions() -> str:
    """Return the versions of the compilers, without importing Numba."""
    from importlib.metadata import version

    return f"numba {version('numba')} llvmlite {version('llvmlite')} {os.environ.get('LINKWORK_PLAIN_NUMBA', '')}"


@cache
def _announce() -> None:
    """Tell once, on a terminal, that kernels are being compiled."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("linkwork: compiling kernels (once; kept for later runs) ...", file=sys.stderr)


# Compile everything


def warm(progress: Progress | None = None) -> str:
    """Compile all kernels that are not cached yet, with one process per core.

    Return why they could not be cached, or an empty string.
    """
    names = {symbol: one.name for one in all_kernels().values() for symbol in one.symbols}
    troubles = work_on(in_order((*names, f"call_{HEAD}")), _warm_one, names, progress=progress)
    return next(filter(None, troubles), "")


def _warm_one(symbol: str, names: dict[str, str]) -> str:
    _object(symbol, all_kernels()[names[symbol]] if symbol in names else None)
    return store.kept().trouble
