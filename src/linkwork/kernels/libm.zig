//! The C mathematical functions that kernels call, the same for every target, so that answers do not depend on the
//! platform's own library. Sine, cosine, tangent, exponentials, logarithms, rounding, memcpy and memset come from Zig's
//! compiler-rt, which is linked in too; the rest is here, with the functions that LLVM calls instead on macOS. All are
//! ports (see NOTICE).

const builtin = @import("builtin");
const std = @import("std");

pub const panic = std.debug.no_panic; // nothing here can fail, so no code to report failures is needed
pub const std_options_debug_threaded_io: ?*std.Io.Threaded = null;
pub const std_options_debug_io: std.Io = unreachable;

comptime {
    for (.{ "acos", "asin", "atan", "atan2", "hypot", "pow" }) |name| {
        @export(&@field(double, name), .{ .name = name, .visibility = .hidden });
        @export(&@field(single, name), .{ .name = name ++ "f", .visibility = .hidden });
    }
    if (builtin.os.tag == .macos) {
        @export(&double.sincos, .{ .name = "__sincos_stret", .visibility = .hidden });
        @export(&single.sincos, .{ .name = "__sincosf_stret", .visibility = .hidden });
        @export(&double.exp10, .{ .name = "__exp10", .visibility = .hidden });
        @export(&single.exp10, .{ .name = "__exp10f", .visibility = .hidden });
        @export(&zero, .{ .name = "bzero", .visibility = .hidden });
        @export(&zero, .{ .name = "__bzero", .visibility = .hidden });
        @export(&repeat, .{ .name = "memset_pattern16", .visibility = .hidden });
    }
}

extern fn sin(f64) f64;
extern fn cos(f64) f64;
extern fn sinf(f32) f32;
extern fn cosf(f32) f32;
extern fn memset([*]u8, c_int, usize) [*]u8;

fn zero(to: [*]u8, size: usize) callconv(.c) void {
    _ = memset(to, 0, size);
}

/// Fill memory with a repeated pattern of 16 bytes.
fn repeat(to: [*]u8, pattern: *const [16]u8, size: usize) callconv(.c) void {
    const whole = size & ~@as(usize, 15);
    var k: usize = 0;
    while (k < whole) : (k += 16) to[k..][0..16].* = pattern.*;
    for (whole..size) |rest| to[rest] = pattern[rest - whole];
}

const double = functions(f64);
const single = functions(f32);

fn functions(comptime Real: type) type {
    return struct {
        fn acos(x: Real) callconv(.c) Real {
            return std.math.acos(x);
        }
        fn asin(x: Real) callconv(.c) Real {
            return std.math.asin(x);
        }
        fn atan(x: Real) callconv(.c) Real {
            return std.math.atan(x);
        }
        fn atan2(y: Real, x: Real) callconv(.c) Real {
            return std.math.atan2(y, x);
        }
        fn hypot(x: Real, y: Real) callconv(.c) Real {
            return std.math.hypot(x, y);
        }
        fn sincos(x: Real) callconv(.c) extern struct { sin: Real, cos: Real } {
            return if (Real == f64) .{ .sin = sin(x), .cos = cos(x) } else .{ .sin = sinf(x), .cos = cosf(x) };
        }
        fn exp10(x: Real) callconv(.c) Real {
            return std.math.pow(Real, 10, x);
        }
        fn pow(x: Real, y: Real) callconv(.c) Real {
            return std.math.pow(Real, x, y);
        }
    };
}
