"""The bridge from Python to kernels: reads Python's arguments into a block of slots and calls the kernel.

CPython passes the arguments of a call as an array of objects (its "fast call"). `call`, compiled with the kernels,
reads them as the record of a kernel describes, writes addresses, lengths and numbers into 8-byte slots, and calls the
kernel's entry point: 50 ns, where ctypes or a dispatcher takes ten times as long. Nothing is linked with Python: the
record holds the addresses of the few functions of its stable interface that are needed. `binding` makes records.

All values here are 8-byte integers, including addresses.
"""

from __future__ import annotations

import struct

from .declarations import inner, part
from .layout import Layout
from .machine import block_of_slots, invoke, invoke_for_real, invoke_with_real, peek, poke

RECORD = Layout(
    "entry",  # the kernel's entry point
    "other",  # the record of the kernel's next signature, or 0
    "count",  # number of arguments
    "returns",  # WHOLE, REAL, TRUTH or NOTHING
    "release",  # whether to release Python's lock during the call
    "takes",  # text for errors: the signatures of the kernel
    "array",  # NumPy's array type
    "type_error",  # Python's TypeError
    "none",  # Python's None
    "as_whole",  # and functions of Python's C API
    "as_real",
    "as_truth",
    "from_whole",
    "from_real",
    "from_truth",
    "new_reference",
    "member",
    "occurred",
    "complain",
    "save",
    "restore",
)  # then, for each argument, its kind; after a group, the kinds of its members
WHOLE, REAL, TRUTH, NOTHING, ARRAY, GROUP = range(
    6
)  # an array's kind also holds dtype, size and number of axes, a group's its count
HEADS = (16, 32)  # bytes of an object header: of CPython, and of CPython without global lock
# Offsets of NumPy's array fields after the header: data, number of axes, lengths, dtype, flags; of a dtype: kind, size
DATA, AXES, LENGTHS, DTYPE, FLAGS, KIND, SIZE = 0, 8, 16, 40, 48, 8, 24
READY = 0x101  # flags: C-contiguous and aligned
SWAPPED = ord(">")  # byte order of a dtype, which is stored two bytes after its kind
UNFIT, FAILED = -1, -2  # an argument has the wrong type; Python has raised an error
MINUS_ONE = struct.unpack("q", struct.pack("d", -1.0))[0]  # what Python's conversions return on an error
BYTE, HALF = 0xFF, 0xFFFFFFFF


@inner
def field(record, place):
    """Return a field of a record."""
    return peek(record + 8 * place)


@part
def put_array(head, record, kind, item, block):
    """Write an array's address and lengths into a block; return the end of the block, or UNFIT."""
    axes, fields = kind >> 24, item + head
    if peek(fields - 8) != field(record, RECORD.array) or peek(fields + AXES) & HALF != axes:
        return UNFIT
    dtype = peek(fields + DTYPE) + head
    named = peek(dtype + KIND)
    if peek(fields + FLAGS) & READY != READY or (named >> 16) & BYTE == SWAPPED:
        return UNFIT
    if named & BYTE != (kind >> 8) & BYTE or peek(dtype + SIZE) != (kind >> 16) & BYTE:
        return UNFIT
    poke(block, peek(fields + DATA))
    lengths = peek(fields + LENGTHS)
    for axis in range(axes):
        poke(block + 8 + 8 * axis, peek(lengths + 8 * axis))
    return block + 8 + 8 * axes


@part
def put(head, record, kind, item, block):
    """Write an argument into a block; return the end of the block, UNFIT or FAILED."""
    if kind & BYTE == ARRAY:
        return put_array(head, record, kind, item, block)
    if kind == REAL:
        value = invoke_for_real(field(record, RECORD.as_real), item)
        doubtful = value == MINUS_ONE
    elif kind == TRUTH:
        value = invoke(field(record, RECORD.as_truth), item, 0) & HALF  # the function returns 4 bytes
        doubtful = value == HALF
    else:
        value = invoke(field(record, RECORD.as_whole), item, 0)
        doubtful = value == -1
    if doubtful and invoke(field(record, RECORD.occurred), 0, 0) != 0:
        return FAILED
    poke(block, value)
    return block + 8


@part
def put_all(head, record, arguments, block):
    """Write all arguments into a block; return its end, or UNFIT or FAILED."""
    kinds = record + 8 * RECORD.size
    for k in range(field(record, RECORD.count)):
        item, kind = peek(arguments + 8 * k), peek(kinds)
        kinds += 8
        if kind & BYTE != GROUP:
            block = put(head, record, kind, item, block)
            if block < 0:
                return block
            continue
        for m in range(kind >> 8):
            member = invoke(field(record, RECORD.member), item, m)
            block = FAILED if member == 0 else put(head, record, peek(kinds), member, block)
            kinds += 8
            if block < 0:
                return block
    return block


@part
def as_object(record, value):
    """Return the Python object for the result of a kernel."""
    kind = field(record, RECORD.returns)
    if kind == WHOLE:
        return invoke(field(record, RECORD.from_whole), value, 0)
    if kind == REAL:
        return invoke_with_real(field(record, RECORD.from_real), value)
    if kind == TRUTH:
        return invoke(field(record, RECORD.from_truth), value, 0)
    return invoke(field(record, RECORD.new_reference), field(record, RECORD.none), 0)


@part
def call(head, owner, arguments, count):
    """Call the kernel whose record is the data of the array `owner`; return an object, or 0 after an error."""
    record, block = peek(owner + head + DATA), block_of_slots()
    while True:
        end = put_all(head, record, arguments, block) if count == field(record, RECORD.count) else UNFIT
        if end >= 0:
            break
        if end == FAILED:
            return 0
        if field(record, RECORD.other) == 0:
            invoke(field(record, RECORD.complain), field(record, RECORD.type_error), field(record, RECORD.takes))
            return 0
        record = field(record, RECORD.other)
    if field(record, RECORD.release) == 0:
        return as_object(record, invoke(field(record, RECORD.entry), block, 0))
    thread = invoke(field(record, RECORD.save), 0, 0)
    value = invoke(field(record, RECORD.entry), block, 0)
    invoke(field(record, RECORD.restore), thread, 0)
    return as_object(record, value)
