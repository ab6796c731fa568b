"""Forward kinematics, Jacobians and changes of frame, for poses with any leading batch axes.

`Evaluator` computes on arrays; `traverse` is the chapter's traversal with a stack; both give the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DeviceError, PoseShapeError, PoseValueError, TransformError
from ..kernels.cards import require_card
from ..kernels.chain import LANES, jacobian_many, jacobian_one, tip_many, tip_one
from ..kernels.devices import mapped, on_card
from ..kernels.tree import frames_many, frames_one
from ..transforms import FloatArray, as_array, inverse
from .geometry import Visual
from .joints import Joint
from .poses import PoseLike, as_poses, as_velocities, joint_shape
from .program import chain_motions, chain_program, tree_program
from .showing import Shown
from .tree import WORLD, Link

if TYPE_CHECKING:
    from .linkage import Linkage

STRUCTURAL_ZERO = 1e-12
MOST_CHAINS = 256
FLOAT64 = np.dtype(np.float64)


class FrameMap(Shown, Mapping[str, FloatArray]):
    """World transforms by frame name, views into one array.

    Attributes:
        names: Frame names, in the linkage's order.
        array: All transforms, shape (..., number of frames, 4, 4).
    """

    __slots__ = ("_index", "array", "names")

    def __init__(self, linkage: Linkage, array: FloatArray) -> None:
        self.names, self.array, self._index = linkage.frames, array, linkage.frame_index

    def __getitem__(self, name: str) -> FloatArray:
        view: FloatArray = self.array[..., self._index(name), :, :]
        return view

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def get(self, name: str, default: Any = None) -> Any:
        """Return a frame's transforms, or a default if there is no such frame."""
        return super().get(name, default) if name in self else default

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrameMap):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.array, other.array)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<FrameMap of {len(self)} frames, shape {self.array.shape}>"


class Evaluator:
    """A linkage packed for the kernels. It is cached on the linkage; call the methods of `Linkage` instead."""

    __slots__ = ("_chains", "_kernels", "_linkage", "_moving", "_nq", "_nv", "_shape", "_tree")

    def __init__(self, linkage: Linkage) -> None:
        self._linkage, self._nq, self._nv, self._shape = linkage, linkage.nq, linkage.nv, (linkage.nq,)
        self._chains: dict[str, tuple[Any, ...]] = {}
        self._kernels: dict[tuple[str, str], tuple[Any, tuple[Any, ...], tuple[int, ...]]] = {}  # kernels for GPUs
        self._moving: dict[str, NDArray[np.bool_]] = {}
        self._tree: tuple[Any, ...] | None = None

    def _chain(self, frame: str) -> tuple[Any, ...]:
        try:
            return self._chains[frame]
        except (KeyError, TypeError):
            codes, numbers, rates, *_ = chain_program(self._linkage, frame)
            chain = (codes, numbers, rates, 6 * rates.size)  # the last: size of the working memory for the Jacobian
            if len(self._chains) >= MOST_CHAINS:  # all chains of a long linkage would fill the memory
                self._chains.clear()
            self._chains[frame] = chain
            return chain

    def _poses(self, q: PoseLike) -> FloatArray:
        """Return poses as a contiguous array. Wrong shapes raise here; invalid values are found by the kernels."""
        if q.__class__ is np.ndarray and q.dtype is FLOAT64 and q.shape == self._shape and q.flags.carray:
            return q  # fast path of control loops: one valid pose
        x: NDArray[Any] = q if isinstance(q, np.ndarray) else _array(q)
        if x.dtype.kind not in "fiu":
            x = as_poses(self._linkage, q)  # a stored pose or values by joint; raises for anything else
        shape = x.shape  # np.require adds an axis to a scalar
        x = np.require(x, np.float64, ("C", "A", "E"))  # a plain array, not a subclass
        if not shape or shape[-1] != self._nq:
            raise PoseShapeError(self._nq, shape, self._linkage.name)
        return x

    def one_frame(self, q: PoseLike, frame: str) -> FloatArray:
        """Return world_from_frame, shape (..., 4, 4)."""
        codes, numbers, _, _ = self._chain(frame)
        if q.__class__ is not np.ndarray and on_card(q):
            return self._there(q, frame, "tip", (4, 4))
        x = self._poses(q)
        if x.ndim == 1:
            out = np.empty((4, 4))
            if not tip_one(codes, numbers, x, out):
                self._refuse(x)
            return out
        if x.size == self._nq > 0:
            return self.one_frame(x.reshape(-1), frame).reshape(*x.shape[:-1], 4, 4)
        return self._many(tip_many, (codes, numbers), x, (), (4, 4), 16)

    def all_frames(self, q: PoseLike) -> FrameMap:
        """Return every frame's transform by name."""
        if q.__class__ is not np.ndarray and on_card(q):
            raise DeviceError("poses on a graphics card are put one frame at a time: forward(q, frame='tip').")
        if self._tree is None:
            program, parents = tree_program(self._linkage)
            self._tree = (program.starts, parents, program.codes, program.numbers)
        x = self._poses(q)
        shape = (len(self._linkage.frames), 4, 4)
        if x.ndim == 1:
            out = np.empty(shape)
            if not frames_one(*self._tree, x, out.reshape(-1)):
                self._refuse(x)
            return FrameMap(self._linkage, out)
        return FrameMap(self._linkage, self._many(frames_many, self._tree, x, (), shape, math.prod(shape)))

    def jacobian(self, q: PoseLike, frame: str, axes: str) -> FloatArray:
        """Return the Jacobian, shape (..., 6, nv)."""
        _check_axes(axes)
        codes, numbers, rates, work = self._chain(frame)
        if q.__class__ is not np.ndarray and on_card(q):
            return self._there(q, frame, axes, (6, self._nv))
        x = self._poses(q)
        local = axes == "local"
        if x.ndim == 1:
            out = np.empty((6, self._nv))
            if not jacobian_one(codes, numbers, rates, x, local, np.empty(work), out):
                self._refuse(x)
            return out
        if x.size == self._nq > 0:
            return self.jacobian(x.reshape(-1), frame, axes).reshape(*x.shape[:-1], 6, self._nv)
        return self._many(jacobian_many, (codes, numbers, rates), x, (local,), (6, self._nv), work + 6 * self._nv)

    def motion_columns(self, q: PoseLike, frame: str) -> tuple[FloatArray, ColumnPlaces]:
        """Return the Jacobian with one column per motion, in world axes, (..., 6, n), in the order of the chain.

        Followers have columns of their own, beside those of their leaders; `ColumnPlaces` maps columns to velocities.
        """
        codes, numbers, rates, work = self._chain(frame)
        places = self._linkage.cache.get("columns", frame, lambda: _column_places(self._linkage, frame, rates))
        x, count = self._poses(q), rates.size
        if x.ndim > 1:
            program = codes, numbers, places.own
            return self._many(jacobian_many, program, x, (False,), (6, count), work + 6 * count), places
        out = np.empty((6, count))
        if not jacobian_one(codes, numbers, places.own, x, False, np.empty(work), out):
            self._refuse(x)
        return out, places

    def _there(self, q: Any, frame: str, what: str, shape: tuple[int, int]) -> FloatArray:
        """Return transforms or Jacobians for poses on a GPU, as an array on that GPU; poses are not checked for NaN."""
        require_card()
        from ..kernels.cuda_pack import frame_kernel

        if not len(q.shape) or q.shape[-1] != self._nq or not self._nq:
            raise PoseShapeError(self._nq, tuple(q.shape), self._linkage.name)
        if (frame, what) not in self._kernels:
            codes, numbers, rates, _ = self._chain(frame)
            self._kernels[frame, what] = frame_kernel(codes, numbers, rates, self._nq, self._nv, what)
        result: FloatArray = mapped(*self._kernels[frame, what], q, shape)
        return result

    def moving_rows(self, frame: str) -> NDArray[np.bool_]:
        """Return which Jacobian rows of a frame can be non-zero, tested at a few poses: not all in a planar arm."""
        if frame not in self._moving:
            samples = np.concatenate([self._linkage.neutral()[None], self._linkage.random_pose(0, 7)])
            largest = np.abs(self.jacobian(samples, frame, "world")).max(axis=(0, 2), initial=0.0)
            size = max(self._linkage.length, 1e-9)
            self._moving[frame] = largest > STRUCTURAL_ZERO * np.array([size] * 3 + [1.0] * 3)
        return self._moving[frame]

    def _many(
        self,
        kernel: Any,
        program: tuple[Any, ...],
        x: FloatArray,
        options: tuple[Any, ...],
        shape: tuple[int, ...],
        work: int,
    ) -> FloatArray:
        """Run a kernel over a batch of poses. A batch smaller than the lanes is padded with its last pose.

        The kernel's working memory holds the poses of one block of lanes and `work` more numbers for each.
        """
        batch = x.shape[:-1]
        count = math.prod(batch)
        out = np.empty((max(count, LANES if count else 0), *shape))
        if out.size:
            flat = x.reshape(count, self._nq)
            if count < LANES:
                flat = np.concatenate([flat, np.repeat(flat[-1:], LANES - count, axis=0)])
            room = np.empty((self._nq + work, LANES))
            bad = kernel(*program, flat.reshape(-1), self._nq, *options, room, out.reshape(-1))
            if bad < len(out):
                self._refuse(x, np.unravel_index(min(bad, count - 1), batch))
        return out[:count].reshape(*batch, *shape)

    def _refuse(self, x: FloatArray, where: tuple[Any, ...] = ()) -> NoReturn:
        as_poses(self._linkage, x)  # raises an error that names the value and the pose
        which = f"pose {tuple(map(int, where))}" if where else "the pose"
        raise PoseValueError(f"{which} takes linkage {self._linkage.name!r} beyond the largest floating-point number.")


def jacobian_dot(linkage: Linkage, q: PoseLike, velocity: ArrayLike, frame: str, axes: str) -> FloatArray:
    """Return the time derivative of a frame's Jacobian; see `Linkage.jacobian_dot`.

    The column ``(l, a)`` of a motion is carried by the motions up to its own, which rotate it by ``w`` and move the
    frame by ``p``. The motions after it move the frame by the rest of its velocity, ``v - p``. So ``a' = w x a`` and
    ``l' = w x l + a x (v - p)``.
    """
    _check_axes(axes)
    columns, places = linkage.evaluator.motion_columns(q, frame)
    speeds = as_velocities(linkage, velocity)
    joint_shape(columns.shape[:-2], speeds.shape[:-1])
    moved = np.cumsum(columns * speeds[..., None, places.rates], axis=-1)
    before, total = moved[..., places.last], moved[..., -1:] if columns.shape[-1] else np.zeros((*moved.shape[:-1], 1))
    linear, angular, turned = columns[..., :3, :], columns[..., 3:, :], before[..., 3:, :]
    carried = _cross(turned, linear) + _cross(angular, total[..., :3, :] - before[..., :3, :])
    result: FloatArray = np.concatenate([carried, _cross(turned, angular)], axis=-2) @ places.owners
    if axes == "local":
        jacobian = columns @ places.owners
        local_from_world = np.swapaxes(linkage.forward(q, frame=frame)[..., :3, :3], -1, -2)
        for rows in (slice(0, 3), slice(3, 6)):
            spin = _cross(total[..., 3:, :], jacobian[..., rows, :])
            result[..., rows, :] = local_from_world @ (result[..., rows, :] - spin)
    return result


class ColumnPlaces(NamedTuple):
    """Indices that map the columns of a Jacobian, one per motion, to motions and velocities.

    Attributes:
        own: Index of each column, (n,).
        rates: Index of the velocity that drives each column, (n,).
        last: Index of the last column of the same motion, (n,); a ball has three columns.
        owners: One-hot matrix from columns to velocities, (n, nv).
    """

    own: NDArray[np.int64]
    rates: NDArray[np.int64]
    last: NDArray[np.int64]
    owners: FloatArray


def _column_places(linkage: Linkage, frame: str, rates: NDArray[np.int64]) -> ColumnPlaces:
    sizes = [len(motion.rates) for motion in chain_motions(linkage, frame).motions]
    last = np.repeat(np.cumsum(sizes, dtype=np.int64) - 1, sizes)
    return ColumnPlaces(np.arange(rates.size), rates, last, np.eye(linkage.nv)[rates])


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the cross products of columns (..., 3, n); several times faster than NumPy's for few columns."""
    x, y = a[..., (1, 2, 0), :], a[..., (2, 0, 1), :]
    return np.asarray(x * b[..., (2, 0, 1), :] - y * b[..., (1, 2, 0), :])


def _check_axes(axes: object) -> None:
    if axes not in ("world", "local"):
        raise TransformError(f"axes of a Jacobian are 'world' or 'local', got {axes!r}.")


def _array(q: Any) -> NDArray[Any]:
    try:
        return np.asarray(q)
    except (TypeError, ValueError):
        return np.asarray(None)  # an object array, which is rejected as not numeric


@dataclass(frozen=True, eq=False)
class Visit:
    """One step of a tree traversal.

    Attributes:
        node: The link.
        joint: The arc that leads to it.
        matrix: world_from_link, shape (..., 4, 4), inherited by child links.
    """

    node: Link
    joint: Joint
    matrix: FloatArray

    @property
    def data(self) -> list[tuple[Visual, FloatArray]]:
        """The link's shapes and their world_from_shape, including the node transform, which is not inherited."""
        ready = self.matrix @ self.node.matrix
        return [(visual, ready @ visual.placement) for visual in self.node.visuals]


def traverse(linkage: Linkage, values: FloatArray) -> Iterator[Visit]:
    """Walk the tree depth first (figure 5.13) and yield the `Visit` of every node in turn.

    The pseudocode's recursion is a stack of (arc, matrix of the node above): an arc's location and articulation are
    concatenated to the matrix saved for it, and the result is pushed for every arc below.
    """
    stack = [(0, np.eye(4))]
    while stack:
        i, matrix = stack.pop()
        joint, drive = linkage.arcs[i], linkage.drives[i]
        matrix = matrix @ joint.placement
        if drive.nq:
            matrix = matrix @ joint.articulation.matrix(drive.values(values))
        elif i == 0:
            matrix = np.broadcast_to(matrix, (*values.shape[:-1], 4, 4)).copy()
        matrix.setflags(write=False)  # child links inherit it, so visitors must not change it
        yield Visit(linkage.nodes[i], joint, matrix)
        stack += [(child, matrix) for child in reversed(linkage.children[i])]


def convert(
    linkage: Linkage, points: ArrayLike, q: PoseLike, *, source: str = WORLD, target: str = WORLD
) -> FloatArray:
    """Return points given in one frame as coordinates in another: up the tree from one, down to the other."""
    points = as_array(points, "points")
    if points.ndim == 0 or points.shape[-1] != 3:
        raise TransformError(f"points must have shape (..., 3), got {points.shape}.")
    if not np.isfinite(points).all():
        raise TransformError("points must be finite.")
    target_from_source = inverse(_world_from(linkage, q, target)) @ _world_from(linkage, q, source)
    joint_shape(points.shape[:-1], target_from_source.shape[:-2])
    rotated = np.einsum("...ij,...j->...i", target_from_source[..., :3, :3], points)
    return np.asarray(rotated + target_from_source[..., :3, 3], dtype=np.float64)


def _world_from(linkage: Linkage, q: PoseLike, frame: str) -> FloatArray:
    if frame == WORLD and WORLD not in linkage.frames:
        shape = as_poses(linkage, q).shape[:-1]
        return np.broadcast_to(np.eye(4), (*shape, 4, 4))
    return linkage.forward(q, frame=frame)
