"""Compile kernels and their parts to LLVM's language with Numba's front end; importing it imports Numba.

`patches` overrides private classes of Numba, but only in tested versions that have everything it touches. Otherwise,
and with ``LINKWORK_PLAIN_NUMBA=1``, functions are compiled by unmodified Numba: more slowly, with the same results.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
from collections.abc import Callable
from typing import Any

import numba
from numba import njit
from numba.core import types as numba_types
from numba.core.registry import cpu_target
from numba.extending import intrinsic, typeof_impl
from numba.np.arrayobj import populate_array

from . import calling, emission, machine_emission  # noqa: F401 - two of them teach Numba
from .declarations import Intrinsic, Kernel, Part
from .objects import ENTRY
from .signatures import Group, Item, Signature

types: Any = numba_types  # its stubs are incomplete
TESTED = ("0.68.",)
NEEDED: dict[str, tuple[str, ...] | None] = {  # attributes that are overridden or called, and parameters that matter
    "numba.core.codegen:JITCodeLibrary._optimize_functions": ("self", "ll_module"),
    "numba.core.codegen:JITCodeLibrary._optimize_final_module": ("self",),
    "numba.core.codegen:JITCodeLibrary._finalize_final_module": ("self",),
    "numba.core.codegen:JITCodeLibrary._ensure_finalized": ("self",),
    "numba.core.codegen:JITCodeLibrary.get_pointer_to_function": ("self", "name"),
    "numba.core.codegen:JITCodeLibrary.codegen": None,
    "numba.core.compiler:Compiler.__init__": ("self", "typingctx", "targetctx", "library"),
    "numba.core.dispatcher:Dispatcher.get_call_template": ("self", "args", "kws"),
    "numba.core.dispatcher:Dispatcher.add_overload": ("self", "cres"),
}
# Products and sums are not fused, although that would save a tenth of the time: not every processor has fused
# instructions, and answers must be the same on all of them.
ARITHMETIC: dict[str, Any] = {"error_model": "numpy", "fastmath": {"nsz"}}
OPTIONS: dict[str, Any] = {
    **ARITHMETIC,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # kernels allocate no arrays, so no references are counted
}
DTYPES = {
    "f8": types.float64,
    "f4": types.float32,
    "i8": types.int64,
    "i4": types.int32,
    "u1": types.uint8,
    "b1": types.boolean,
}
BLOCK = types.CPointer(types.int64)


def missing(needed: dict[str, tuple[str, ...] | None]) -> str:
    """Return the first of some attributes, ``module:Class.name``, that is missing or takes other parameters; or ''.

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
    """Return why Numba is used unmodified, in words; an empty string if `patches` is used."""
    if os.environ.get("LINKWORK_PLAIN_NUMBA", "") not in ("", "0"):
        return "LINKWORK_PLAIN_NUMBA is set"
    if not numba.__version__.startswith(TESTED):
        return f"Numba {numba.__version__} is none of the tested versions ({', '.join(TESTED)}*)"
    path = missing(NEEDED)
    return f"{path} of Numba {numba.__version__} has changed" if path else ""


PLAIN = why_plain()
if PLAIN:
    logging.getLogger("linkwork").debug("kernels are compiled by plain Numba: %s", PLAIN)

    def only_for_kernels(dispatcher: Any) -> Any:
        """Return a part of kernels unchanged."""
        return dispatcher

else:
    from .patches import PartCompiler, only_for_kernels

    OPTIONS["pipeline_class"] = PartCompiler


# Numba's types of parts and intrinsics that a kernel names


def dispatcher_of(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """Return Numba's dispatcher for a function that kernels call."""
    return only_for_kernels(njit(**OPTIONS, forceinline=inline)(function))


@typeof_impl.register(Part)
def _type_of_part(part: Part, _context: Any) -> Any:
    if part.compiled is None:
        part.compiled = dispatcher_of(part.py_func, inline=part.inline)
    return numba.typeof(part.compiled)


@typeof_impl.register(Intrinsic)
def _type_of_intrinsic(declared: Intrinsic, _context: Any) -> Any:
    return cpu_target.typing_context.resolve_value_type(declared.compiled)


# Entry points


def kernel_text(kernel: Kernel, number: int) -> str:
    """Return a kernel in LLVM's language, not optimised, with the entry point for one of its signatures."""
    signature, names = kernel.signatures[number], kernel.function.__globals__
    function, arguments, outcome = dispatcher_of(kernel.function), _arguments(signature, names), _outcome(signature)

    def entry(block):
        return outcome(function(*arguments(block)))

    return _module(entry, (BLOCK,), ("ptr",))


def call_text(head: int) -> str:
    """Return `calling.call` in LLVM's language for object headers of `head` bytes."""
    call = calling.call

    def entry(owner, arguments, count):
        return call(head, owner, arguments, count)

    return _module(entry, (types.int64,) * 3, ("i64",) * 3)


def _module(entry: Callable[..., Any], takes: tuple[Any, ...], llvm_types: tuple[str, ...]) -> str:
    """Return the text of a module: a function, everything that it calls, and the C function ENTRY, which calls it."""
    dispatcher = dispatcher_of(entry)
    dispatcher.compile(takes)
    (compiled,) = dispatcher.overloads.values()
    given = ", ".join(f"{kind} %{k}" for k, kind in enumerate(llvm_types))
    return (
        f"{compiled.library._final_module}\ndefine i64 @{ENTRY}({given}) {{\n"
        "  %result = alloca i64\n  %error = alloca ptr\n  store i64 0, ptr %result\n"
        f'  %status = call i32 @"{compiled.fndesc.llvm_func_name}"(ptr %result, ptr %error, {given})\n'
        "  %value = load i64, ptr %result\n  ret i64 %value\n}\n"
    )


def _type(argument: Item | Group, names: dict[str, Any]) -> Any:
    if isinstance(argument, Group):
        return types.NamedTuple([_type(item, names) for item in argument.items], names[argument.name])
    dtype = DTYPES[argument.dtype]
    return dtype if argument.axes < 0 else types.Array(dtype, argument.axes, "C")


def _arguments(signature: Signature, names: dict[str, Any]) -> Any:
    """Return an intrinsic that reads the tuple of a kernel's arguments from a block of slots."""
    kinds = [_type(argument, names) for argument in signature.arguments]

    def read(context: Any, builder: Any, block: Any, slot: int, kind: Any) -> tuple[Any, int]:
        """Return the value that begins at a slot, and the next slot."""
        if isinstance(kind, types.NamedTuple):
            members = []
            for member in kind.types:
                value, slot = read(context, builder, block, slot, member)
                members.append(value)
            return context.make_tuple(builder, kind, members), slot
        word = builder.load(builder.gep(block, [emission.INT64(slot)]))
        if not isinstance(kind, types.Array):
            if kind == types.float64:
                return builder.bitcast(word, context.get_value_type(kind)), slot + 1
            return context.cast(builder, word, types.int64, kind), slot + 1
        shape = [builder.load(builder.gep(block, [emission.INT64(slot + 1 + k)])) for k in range(kind.ndim)]
        array = context.make_array(kind)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        strides = [emission.INT64(size)]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.inttoptr(word, context.get_data_type(kind.dtype).as_pointer())
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return array._getvalue(), slot + 1 + kind.ndim

    @intrinsic
    def arguments(typing_context: Any, block: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            slot, values = 0, []
            for kind in kinds:
                value, slot = read(context, builder, args[0], slot, kind)
                values.append(value)
            return context.make_tuple(builder, sig.return_type, values)

        return types.Tuple(kinds)(block), emit

    return arguments


def _outcome(signature: Signature) -> Any:
    """Return an intrinsic that converts the result of a kernel to a slot."""

    @intrinsic
    def outcome(typing_context: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if not signature.returns:
                return emission.INT64(0)
            if signature.returns == "f8":
                return builder.bitcast(context.cast(builder, args[0], value, types.float64), emission.INT64)
            return context.cast(builder, args[0], value, types.int64)

        return types.int64(value), emit

    return outcome
