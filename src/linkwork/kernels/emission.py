"""LLVM code of the operations of `lanes`: a Numba type of several numbers that becomes one SIMD vector.

It registers the functions that `lanes` declares with Numba, and imports Numba: only `compiler` imports this module.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from . import lanes
from .declarations import Intrinsic

WIDTH: dict[Any, int] = {types.float64: 8, types.float32: 16}
SCALARS = {types.float64: ir.DoubleType(), types.float32: ir.FloatType(), types.boolean: ir.IntType(1)}
INT64 = ir.IntType(64)


def emits(declared: Intrinsic) -> Callable[[Callable[..., Any]], None]:
    """Define an intrinsic for Numba by a typing function, which returns a signature and a function that emits code."""

    def define(function: Callable[..., Any]) -> None:
        declared.compiled = intrinsic(function)

    return define


class Lanes(types.Type):
    """The Numba type of `width` numbers (or booleans) of one dtype."""

    def __init__(self, dtype: types.Type, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(f"Lanes({dtype}, {width})")

    def unify(self, context: Any, other: types.Type) -> types.Type | None:
        """Let a variable that starts as a number, ``x = 0.0``, become lanes later in a function."""
        return self if self.dtype != types.boolean and _is_number(other) else None

    def can_convert_from(self, context: Any, other: types.Type) -> Conversion | None:
        """Convert a number to lanes that all hold it."""
        return Conversion.safe if self.dtype != types.boolean and _is_number(other) else None


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """The data model of lanes: one LLVM vector."""

    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.VectorType(SCALARS[lanes.dtype], lanes.width))


def _is_number(numba_type: types.Type) -> bool:
    return isinstance(numba_type, types.Float | types.Integer)


def _widen(context: Any, builder: Any, value: Any, numba_type: types.Type, lanes: Lanes) -> Any:
    """Emit lanes that all hold one number; lanes are returned unchanged."""
    if isinstance(numba_type, Lanes):
        return value
    scalar = context.cast(builder, value, numba_type, lanes.dtype)
    vector = ir.VectorType(SCALARS[lanes.dtype], lanes.width)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes.width), [0] * lanes.width)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _cast_number(context: Any, builder: Any, source: types.Type, target: Lanes, value: Any) -> Any:
    return _widen(context, builder, value, source, target)


for _number in (types.Float, types.Integer):
    lower_cast(_number, Lanes)(_cast_number)


# Operators


def _define_binary(
    op: Callable[..., Any], emit: Callable[[Any, Any, Any], Any], *, gives_mask: bool = False, of_masks: bool = False
) -> None:
    """Define an operator for Numba, on lanes and on lanes and a number; or on two masks."""

    def generic(self: Any, args: Any, kws: Any) -> Any:
        lanes = next((a for a in args if isinstance(a, Lanes)), None)
        if lanes is None or len(args) != 2 or (lanes.dtype == types.boolean) != of_masks:
            return None
        if not all(a == lanes or (_is_number(a) and not of_masks) for a in args):
            return None
        return signature(Lanes(types.boolean, lanes.width) if gives_mask else lanes, *args)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = next(a for a in sig.args if isinstance(a, Lanes))
        return emit(builder, *(_widen(context, builder, a, t, lanes) for a, t in zip(args, sig.args, strict=True)))

    infer_global(op)(type(f"Lanes_{op.__name__}", (AbstractTemplate,), {"generic": generic}))
    for pair in (
        (Lanes, Lanes),
        (Lanes, types.Float),
        (types.Float, Lanes),
        (Lanes, types.Integer),
        (types.Integer, Lanes),
    ):
        lower_builtin(op, *pair)(lower)


_define_binary(operator.add, lambda b, x, y: b.fadd(x, y, flags=("nsz",)))
_define_binary(operator.sub, lambda b, x, y: b.fsub(x, y, flags=("nsz",)))
_define_binary(operator.mul, lambda b, x, y: b.fmul(x, y, flags=("nsz",)))
_define_binary(operator.truediv, lambda b, x, y: b.fdiv(x, y, flags=("nsz",)))
_define_binary(operator.lt, lambda b, x, y: b.fcmp_ordered("<", x, y), gives_mask=True)
_define_binary(operator.le, lambda b, x, y: b.fcmp_ordered("<=", x, y), gives_mask=True)
_define_binary(operator.gt, lambda b, x, y: b.fcmp_ordered(">", x, y), gives_mask=True)
_define_binary(operator.ge, lambda b, x, y: b.fcmp_ordered(">=", x, y), gives_mask=True)
_define_binary(operator.and_, lambda b, x, y: b.and_(x, y), of_masks=True)
_define_binary(operator.or_, lambda b, x, y: b.or_(x, y), of_masks=True)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        numbers = isinstance(args[0], Lanes) and args[0].dtype != types.boolean
        return signature(args[0], args[0]) if numbers else None


@lower_builtin(operator.neg, Lanes)
def _negative(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


# Functions of numbers and of lanes


def _llvm_function(declared: Intrinsic, name: str) -> None:
    """Define a function as an LLVM intrinsic of one number, such as ``llvm.sqrt``, for numbers and lanes."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = sig.args[0]
        llvm_type, dtype = context.get_value_type(kind), getattr(kind, "dtype", kind)
        vector = f"v{kind.width}" if isinstance(kind, Lanes) else ""
        function_type = ir.FunctionType(llvm_type, [llvm_type])
        full_name = f"llvm.{name}.{vector}f{dtype.bitwidth}"
        return builder.call(cgutils.get_or_insert_function(builder.module, function_type, full_name), args)

    @emits(declared)
    def function(typing_context: Any, x: Any) -> Any:
        return x(x), emit


_llvm_function(lanes.sqrt, "sqrt")
_llvm_function(lanes.fabs, "fabs")
_llvm_function(lanes.exact_sin, "sin")
_llvm_function(lanes.exact_cos, "cos")


@emits(lanes.select)
def _select(typing_context: Any, mask: Any, yes: Any, no: Any) -> Any:
    kinds: tuple[Any, ...] = (Lanes, types.Float, types.Type)  # lanes before numbers, floats before integers
    result: Any = next(choice for kind in kinds for choice in (yes, no) if isinstance(choice, kind))
    if isinstance(mask, Lanes) and not isinstance(result, Lanes):
        result = Lanes(next(dtype for dtype in WIDTH if WIDTH[dtype] == mask.width), mask.width)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def as_result(value: Any, kind: types.Type) -> Any:
            if isinstance(result, Lanes):
                return _widen(context, builder, value, kind, result)
            return context.cast(builder, value, kind, result)

        return builder.select(args[0], as_result(args[1], sig.args[1]), as_result(args[2], sig.args[2]))

    return result(mask, yes, no), emit


@emits(lanes.bits)
def _bits(typing_context: Any, mask: Any) -> Any:

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = args[0]
        if isinstance(sig.args[0], Lanes):
            value = builder.bitcast(value, ir.IntType(sig.args[0].width))
        return builder.zext(value, INT64)

    return types.int64(mask), emit


@emits(lanes.lowest)
def _lowest(typing_context: Any, x: Any) -> Any:

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = sig.args[0]
        least = builder.extract_element(args[0], ir.Constant(ir.IntType(32), 0))
        for lane in range(1, lanes.width):
            other = builder.extract_element(args[0], ir.Constant(ir.IntType(32), lane))
            least = builder.select(builder.fcmp_ordered("<", other, least), other, least)
        return least

    return x.dtype(x), emit


@emits(lanes.mantissa_bit)
def _mantissa_bit(typing_context: Any, x: Any, position: Any) -> Any:
    if not isinstance(position, types.IntegerLiteral):
        return None
    dtype, width = getattr(x, "dtype", x), x.width if isinstance(x, Lanes) else 0
    result = Lanes(types.boolean, width) if width else types.boolean

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        integer = ir.IntType(dtype.bitwidth)
        kind = ir.VectorType(integer, width) if width else integer

        def constant(value: int) -> Any:
            return ir.Constant(kind, [value] * width if width else value)

        chosen = builder.and_(builder.bitcast(args[0], kind), constant(1 << sig.args[1].literal_value))
        return builder.icmp_unsigned("!=", chosen, constant(0))

    return result(x, position), emit


@emits(lanes.by_precision)
def _by_precision(typing_context: Any, x: Any, double: Any, single: Any) -> Any:
    dtype: Any = getattr(x, "dtype", x)
    chosen = 1 if dtype == types.float64 else 2

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[chosen], sig.args[chosen], dtype)

    return dtype(x, double, single), emit


# Cells: the raw memory of an array. Numba counts references to arrays with atomic operations at every inner call, which
# would cost more than the arithmetic; a pointer costs nothing.


@emits(lanes.cells)
def _cells(typing_context: Any, array: Any) -> Any:
    if not isinstance(array, types.Array) or array.layout != "C" or array.ndim > 2:
        return None
    held = array.dtype if array.ndim == 1 else Lanes(array.dtype, WIDTH[array.dtype])
    pointer = types.CPointer(held)  # type: ignore[attr-defined,unused-ignore]

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.bitcast(data, context.get_value_type(pointer))

    return pointer(array), emit


@emits(lanes.flat)
def _flat(typing_context: Any, array: Any) -> Any:
    if not isinstance(array, types.Array) or array.layout != "C":
        return None
    pointer = types.CPointer(array.dtype)  # type: ignore[attr-defined,unused-ignore]

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(sig.args[0])(context, builder, args[0]).data

    return pointer(array), emit


@emits(lanes.all_flat)
def _all_flat(typing_context: Any, group: Any) -> Any:
    pointer = types.CPointer  # type: ignore[attr-defined,unused-ignore]
    held = [pointer(kind.dtype) if isinstance(kind, types.Array) else kind for kind in group]

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(sig.args[0], cgutils.unpack_tuple(builder, args[0]), strict=True)
        ]
        return context.make_tuple(builder, sig.return_type, values)

    return _tuple_like(group, held)(group), emit


def _tuple_like(group: Any, kinds: list[Any]) -> Any:
    """Return the type of a tuple of the given types, named if `group` is a named tuple."""
    tuples = types.BaseTuple  # type: ignore[attr-defined,unused-ignore]
    return tuples.from_types(kinds, getattr(group, "instance_class", None))


@emits(lanes.beyond)
def _beyond(typing_context: Any, memory: Any, items: Any) -> Any:

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _address(context, builder, sig, args)

    return memory(memory, items), emit


@emits(lanes.divided)
def _divided(typing_context: Any, memory: Any, sizes: Any) -> Any:

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found, at = [], args[0]
        for size, kind in zip(cgutils.unpack_tuple(builder, args[1]), sig.args[1], strict=True):
            found.append(at)
            at = builder.gep(at, [context.cast(builder, size, kind, types.int64)])
        return context.make_tuple(builder, sig.return_type, found)

    return _tuple_like(sizes, [memory] * len(sizes))(memory, sizes), emit


def _as_held(context: Any, builder: Any, value: Any, kind: types.Type, held: Any) -> Any:
    if isinstance(held, Lanes):
        return _widen(context, builder, value, kind, held)
    return context.cast(builder, value, kind, held)


def _address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.gep(args[0], [context.cast(builder, args[1], sig.args[1], types.int64)])


def _alignment(held: Any) -> int:
    return int(getattr(held, "dtype", held).bitwidth // 8)  # NumPy aligns to one number, not to a vector


@emits(lanes.load)
def _load(typing_context: Any, memory: Any, item: Any) -> Any:
    held = memory.dtype

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.load(_address(context, builder, sig, args))
        value.align = _alignment(held)
        return value

    return held(memory, item), emit


@emits(lanes.store)
def _store(typing_context: Any, memory: Any, item: Any, value: Any) -> Any:
    held = memory.dtype

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kept = _as_held(context, builder, args[2], sig.args[2], held)
        builder.store(kept, _address(context, builder, sig, args), align=_alignment(held))
        return context.get_dummy_value()

    return types.void(memory, item, value), emit


@emits(lanes.fill)
def _fill(typing_context: Any, memory: Any, value: Any) -> Any:
    held = memory.dtype

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _as_held(context, builder, args[1], sig.args[1], held)

    return held(memory, value), emit


@emits(lanes.gather)
def _gather(typing_context: Any, memory: Any, item: Any, stride: Any) -> Any:
    lanes = Lanes(memory.dtype, WIDTH[memory.dtype])

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = ir.Constant(context.get_value_type(lanes), ir.Undefined)
        for lane, address in enumerate(_strided(context, builder, sig, args, lanes.width)):
            value = builder.insert_element(value, builder.load(address), ir.Constant(ir.IntType(32), lane))
        return value

    return lanes(memory, item, stride), emit


@emits(lanes.scatter)
def _scatter(typing_context: Any, memory: Any, item: Any, stride: Any, value: Any) -> Any:

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = _widen(context, builder, args[3], sig.args[3], Lanes(memory.dtype, WIDTH[memory.dtype]))
        for lane, address in enumerate(_strided(context, builder, sig, args, WIDTH[memory.dtype])):
            builder.store(builder.extract_element(lanes, ir.Constant(ir.IntType(32), lane)), address)
        return context.get_dummy_value()

    return types.void(memory, item, stride, value), emit


def _strided(context: Any, builder: Any, sig: Any, args: Any, count: int) -> list[Any]:
    item = context.cast(builder, args[1], sig.args[1], types.int64)
    stride = context.cast(builder, args[2], sig.args[2], types.int64)
    return [
        builder.gep(args[0], [builder.add(item, builder.mul(stride, ir.Constant(INT64, lane)))])
        for lane in range(count)
    ]
