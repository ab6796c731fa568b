"""Whether Numba may be changed as `patches` does, which reaches into its private classes.

It is done where Numba is a tested version and has everything that is touched. Elsewhere, and with
``LINKWORK_PLAIN_NUMBA=1``, kernels compile as Numba compiles anything: more slowly, to the same answers.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
from typing import Any

import numba

TESTED = ("0.68.",)
NEEDED: dict[str, tuple[str, ...] | None] = {  # what is overridden or called, and its parameters where they matter
    "numba.core.codegen:JITCodeLibrary._optimize_functions": ("self", "ll_module"),
    "numba.core.codegen:JITCodeLibrary._optimize_final_module": ("self",),
    "numba.core.codegen:JITCodeLibrary._finalize_final_module": ("self",),
    "numba.core.codegen:JITCodeLibrary._ensure_finalized": ("self",),
    "numba.core.codegen:JITCodeLibrary.get_pointer_to_function": ("self", "name"),
    "numba.core.codegen:JITCodeLibrary.codegen": None,
    "numba.core.codegen:JITCodeLibrary.enable_object_caching": ("self",),
    "llvmlite.binding:Linkage.linkonce_odr": None,
    "numba.core.compiler:Compiler.__init__": ("self", "typingctx", "targetctx", "library"),
    "numba.core.caching:FunctionCache._index_key": ("self", "sig", "codegen"),
    "numba.core.caching:FunctionCache.load_overload": ("self", "sig", "target_context"),
    "numba.core.dispatcher:Dispatcher.get_call_template": ("self", "args", "kws"),
    "numba.core.dispatcher:Dispatcher.add_overload": ("self", "cres"),
    "numba.core.dispatcher:Dispatcher._compile_for_args": None,
    "numba.core.dispatcher:Dispatcher.enable_caching": ("self",),
}


def missing(needed: dict[str, tuple[str, ...] | None]) -> str:
    """Return the first of some attributes, ``module:Class.name``, that is not there or takes other parameters; or ''.

    Parameters are compared from the first on; more may follow.
    """
    for path, parameters in needed.items():
        module, _, names = path.partition(":")
        try:
            found: Any = importlib.import_module(module)
            for name in names.split("."):
                found = getattr(found, name)
        except (ImportError, AttributeError):
            return path
        if parameters is not None and tuple(inspect.signature(found).parameters)[: len(parameters)] != parameters:
            return path
    return ""


def why_plain() -> str:
    """Return why Numba is used as it comes, in words; empty where it is changed as described above."""
    if os.environ.get("LINKWORK_PLAIN_NUMBA", "") not in ("", "0"):
        return "LINKWORK_PLAIN_NUMBA is set"
    if not numba.__version__.startswith(TESTED):
        return f"Numba {numba.__version__} is none of the tested versions ({', '.join(TESTED)}*)"
    path = missing(NEEDED)
    return f"{path} of Numba {numba.__version__} is not what it was" if path else ""


PLAIN = why_plain()
if PLAIN:
    logging.getLogger("linkwork").debug("kernels are compiled by plain Numba: %s", PLAIN)
