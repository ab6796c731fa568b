//! What kernels call of C's mathematics, for every target alike: answers do not depend on the platform's own library.
//! Sine, cosine, tangent, exponentials, logarithms, rounding, memcpy and memset come with Zig's compiler-rt, which is
//! linked in too; here are the rest. Both are ports of musl's functions (MIT licence; see NOTICE).

const std = @import("std");

pub const panic = std.debug.no_panic; // nothing here can fail, and no code to report failures is wanted
pub const std_options_debug_threaded_io: ?*std.Io.Threaded = null;
pub const std_options_debug_io: std.Io = unreachable;

comptime {
    for (.{ "acos", "asin", "atan", "atan2", "hypot", "pow" }) |name| {
        @export(&@field(double, name), .{ .name = name, .visibility = .hidden });
        @export(&@field(single, name), .{ .name = name ++ "f", .visibility = .hidden });
    }
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
        fn pow(x: Real, y: Real) callconv(.c) Real {
            return std.math.pow(Real, x, y);
        }
    };
}
