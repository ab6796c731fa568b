"""LLVM code of the operations of `machine`: loads, stores, calls of C functions by address, and CPU queries."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from . import machine
from .emission import INT64, emits

SLOTS = 160  # of a block: more than any kernel takes, which a test checks
DOUBLE = ir.DoubleType()


def _pointer(builder: Any, address: Any, kind: Any = INT64) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


@emits(machine.peek)
def _peek(typing_context: Any, address: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.load(_pointer(builder, args[0]))
        value.align = 1
        return value

    return types.int64(types.int64), emit


@emits(machine.poke)
def _poke(typing_context: Any, address: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[1], _pointer(builder, args[0]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


@emits(machine.block_of_slots)
def _block_of_slots(typing_context: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            block = builder.alloca(ir.ArrayType(INT64, SLOTS))
        return builder.ptrtoint(block, INT64)

    return types.int64(), emit


@emits(machine.invoke)
def _invoke(typing_context: Any, function: Any, first: Any, second: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.call(_pointer(builder, args[0], ir.FunctionType(INT64, [INT64] * 2)), args[1:])

    return types.int64(types.int64, types.int64, types.int64), emit


@emits(machine.invoke_for_real)
def _invoke_for_real(typing_context: Any, function: Any, argument: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        real = builder.call(_pointer(builder, args[0], ir.FunctionType(DOUBLE, [INT64])), [args[1]])
        return builder.bitcast(real, INT64)

    return types.int64(types.int64, types.int64), emit


@emits(machine.invoke_with_real)
def _invoke_with_real(typing_context: Any, function: Any, bits: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        real = builder.bitcast(args[1], DOUBLE)
        return builder.call(_pointer(builder, args[0], ir.FunctionType(INT64, [DOUBLE])), [real])

    return types.int64(types.int64, types.int64), emit


# The processor


@emits(machine.ask)
def _ask(typing_context: Any, question: Any, register: Any) -> Any:
    if not isinstance(register, types.IntegerLiteral):
        return None
    chosen = register.literal_value

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        half = ir.IntType(32)
        kind = ir.FunctionType(ir.LiteralStructType([half] * 4), [half, half])
        said = builder.asm(
            kind, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}", [builder.trunc(args[0], half), half(0)], True
        )
        return builder.zext(builder.extract_value(said, chosen), INT64)

    return types.int64(types.int64, register), emit


@emits(machine.saved_state)
def _saved_state(typing_context: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        half = ir.IntType(32)
        kind = ir.FunctionType(ir.LiteralStructType([half] * 2), [half])
        said = builder.asm(kind, "xgetbv", "={ax},={dx},{cx}", [half(0)], True)
        return builder.zext(builder.extract_value(said, 0), INT64)

    return types.int64(), emit
