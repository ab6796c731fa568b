"""The linkage: an immutable tree of links (nodes) and joints (arcs), checked when it is built.

The methods here call functions of other modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkageError, OptionError, PoseError, PoseNotFoundError
from ..transforms import IDENTITY, FloatArray, TransformLike, read_only
from . import assembly, dh_table, edits, poses as pose_vectors, tree
from .caching import Cache
from .coordinates import CoordinateTable, coordinate_table
from .couplings import Coupling, followed, rows_of
from .groups import Groups, Pairs, as_groups, as_pairs
from .joints import Articulation, Joint
from .origin import Origin
from .poses import PoseLike, mid_range
from .structure import Structure
from .swing_twist import Cone, cones_of, neutral_turn
from .tree import ROOT, WORLD, Drive, Frame, Link, Loop

if TYPE_CHECKING:
    from ..formats.packed import PackedLinkage
    from ..solvers.closed_form import ClosedForm, NoForm
    from ..solvers.options import PackOptions
    from ..solvers.packing import Wanted
    from .kinematics import Evaluator, FrameMap, Visit

__all__ = ["ROOT", "WORLD", "Drive", "Frame", "Link", "Linkage", "Loop"]


class Linkage(Structure):
    """A tree of links and joints. It is immutable: edits return a new one.

    Args:
        links: The nodes.
        joints: The arcs between them, in any order.
        name: Its name, used in messages and files.
        frames: Further named frames fixed to links.
        root: The root arc that places the whole linkage in the world: a `Joint` without parent, an articulation, one of
            ``"fixed"``, ``"planar"`` and ``"floating"``, or a 4x4 transform. Fixed at the origin by default. Its name
            is ``"root"`` unless it has another, or it is fixed and another joint has this name.
        poses: Named poses, each of shape (nq,).
        groups: Names of joints by group name, for ``joints="arm"`` in solves. Only joints with values of their own are
            kept, in the order of the linkage.
        disabled_pairs: Pairs of links that are not checked for collisions, as in SRDF, with the reason.
        loops: Closed loops: pairs of frames that must coincide. Solves close them; other poses may leave them open.
        couplings: Joints that follow one or several others, by a curve or ratios. Solves hold them; other poses may
            violate them.
        origin: The file it was read from, if that contains more than a linkage, such as a mesh with its skin.

    Raises:
        LinkageError: If the parts do not form one tree.

    Example:
        >>> from linkwork import Link, Joint, Linkage, Revolute
        >>> arm = Linkage([Link("base"), Link("hand")], [Joint("wrist", "base", "hand", Revolute("z"))], name="arm")
        >>> arm
        <Linkage 'arm': 2 links, 1 joint, nq=1, nv=1>
    """

    coordinates: tuple[str, ...]
    nq: int
    nv: int
    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray
    poses: Mapping[str, FloatArray]
    loops: tuple[Loop, ...]
    couplings: tuple[Coupling, ...]
    groups: Groups
    disabled_pairs: Pairs
    origin: Origin | None
    cache: Cache  # values that other modules compute once for this linkage

    def __init__(
        self,
        links: Iterable[Link],
        joints: Iterable[Joint] = (),
        *,
        name: str = "linkage",
        frames: Iterable[Frame] = (),
        root: Joint | Articulation | str | ArrayLike | None = None,
        poses: Mapping[str, PoseLike] | None = None,
        loops: Iterable[Loop] = (),
        couplings: Iterable[Coupling] = (),
        groups: Mapping[str, Iterable[str]] | None = None,
        disabled_pairs: Mapping[tuple[str, str], str] | Iterable[tuple[str, str]] | None = None,
        origin: Origin | None = None,
    ) -> None:
        where = f"linkage {name!r}"
        if not isinstance(name, str):  # callers may have no type checker
            raise LinkageError(f"the name of a linkage is a text, got {name!r}.")
        links, joints = tree.as_parts(Link, links, where), tree.as_parts(Joint, joints, where)
        frames, loops = tree.as_parts(Frame, frames, where), tree.as_parts(Loop, loops, where)
        link_names, joint_names = [link.name for link in links], [joint.name for joint in joints]
        tree.check_names("link", link_names, where)
        tree.check_names("joint", joint_names, where)
        tree.check_names("frame", link_names + [frame.name for frame in frames], where)
        nodes, arcs, parents = tree.depth_first(links, joints, where)
        first = tree.root_arc(root, nodes[0].name, set(joint_names), where)
        known = {name: name for name in link_names}
        for frame in frames:
            tree.check_link(frame.link, known, f"{where} (frame {frame.name!r})")
        tree.check_loops(loops, known | {frame.name: frame.link for frame in frames}, where)
        values = self.__dict__
        values.update(
            cache=Cache(), origin=origin, name=name, nodes=tuple(nodes), arcs=(first, *arcs), parents=tuple(parents)
        )
        values.update(
            tree.layout(self.arcs, where), extra_frames=tuple(frames), loops=tuple(loops), poses=MappingProxyType({})
        )
        values.update(couplings=tuple(tree.as_parts(Coupling, couplings, where)))
        values.update(coupling_rows=rows_of(self.couplings, self.arcs, self.drives, where))
        values.update(groups=as_groups(groups, self.arcs, where))
        values.update(disabled_pairs=as_pairs(disabled_pairs, self.nodes, where))
        tree.check_names("pose", poses or (), where)
        values["poses"] = MappingProxyType({key: self._stored(key, pose) for key, pose in (poses or {}).items()})

    # Poses

    def neutral(self) -> FloatArray:
        """Return the neutral pose: the middle of the limits, else zero or no rotation; coupled joints follow."""
        q = mid_range(self.lower, self.upper)
        q[[k for k, _ in self.table.quaternions]] = 1.0
        for cone in self.cones:
            q[cone.q : cone.q + 4] = neutral_turn(cone)
        return np.clip(followed(self, q), self.lower, self.upper) if self.couplings else q

    @cached_property
    def cones(self) -> tuple[Cone, ...]:
        """The swing and twist limits of ball joints, and the indices of their quaternions in the pose."""
        return tuple(cones_of(self.arcs, self.drives))

    @cached_property
    def table(self) -> CoordinateTable:
        """The table of coordinates: unit, kind, joint, limits, indices in pose and velocity, wrap-around."""
        return coordinate_table(self.arcs, self.drives, self.coupling_rows)

    @cached_property
    def coordinate_index(self) -> Mapping[str, int]:
        """Indices in the pose by coordinate name."""
        return MappingProxyType({name: k for k, name in enumerate(self.coordinates)})

    def pose(self, values: PoseLike | None = None, /, *, base: PoseLike | None = None, **named: Any) -> FloatArray:
        """Return a pose from values by name: joints (``elbow=0.5``), or single coordinates (``{"hip.rx": "30deg"}``).

        Args:
            values: Values by joint or coordinate name, or a whole pose to check. A joint with several values takes a
                sequence; a quaternion takes any form with a defined order (a SciPy ``Rotation``, ``{"wxyz": ...}``).
            base: The pose to change, of shape (..., nq), or the name of a stored one; the neutral pose by default.
            **named: More values by joint name.

        Joints that are coupled to a named joint follow it, unless they are named themselves.

        Example:
            >>> import linkwork as lw
            >>> lw.models.planar([2, 1]).pose(j2="90deg").round(4).tolist()
            [0.0, 1.5708]
        """
        return pose_vectors.pose(self, values, base=base, named=named)

    def _stored(self, name: str, values: PoseLike) -> FloatArray:
        pose = self.pose(values)
        if pose.ndim != 1:
            raise PoseError(f"pose {name!r} of linkage {self.name!r} has shape ({self.nq},), got {pose.shape}.")
        return read_only(pose)

    def follow(self, q: PoseLike) -> FloatArray:
        """Return poses (..., nq) in which coupled joints have the values set by their drivers.

        Example:
            >>> import linkwork as lw
            >>> drive = lw.models.geneva(4)
            >>> drive.follow([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])[:, 1].round(4).tolist()
            [0.7854, 0.0, -0.7854]
        """
        return followed(self, pose_vectors.as_poses(self, q))

    def stored_pose(self, name: str) -> FloatArray:
        """Return a copy of a named pose, shape (nq,); raise `PoseNotFoundError` if there is no pose of that name."""
        try:
            return self.poses[name].copy()
        except (KeyError, TypeError):
            raise PoseNotFoundError(name, f"linkage {self.name!r}", tuple(self.poses)) from None

    def random_pose(self, rng: np.random.Generator | int, size: int | tuple[int, ...] = ()) -> FloatArray:
        """Return random poses within the limits, shape (nq,) or (`size`, nq); `rng` is a generator or a seed."""
        return pose_vectors.random_pose(self, rng, size)

    def clamp(self, q: PoseLike) -> FloatArray:
        """Return poses (..., nq) with every limited value brought within its limits."""
        return pose_vectors.clamped(self, pose_vectors.as_poses(self, q))

    def difference(self, start: PoseLike, end: PoseLike) -> FloatArray:
        """Return the velocity (..., nv) that leads from one pose to another in unit time, by the shorter rotation."""
        return pose_vectors.difference(self, start, end)

    def integrate(self, q: PoseLike, velocity: ArrayLike) -> FloatArray:
        """Return the poses (..., nq) reached from `q` by a velocity (..., nv) kept for unit time."""
        return pose_vectors.integrate(self, q, velocity)

    def interpolate(self, start: PoseLike, end: PoseLike, t: ArrayLike, *, wrap: bool = True) -> FloatArray:
        """Return the poses at fractions `t` between two poses; quaternions take the shorter rotation.

        Args:
            start: The pose at zero, shape (..., nq).
            end: The pose at one.
            t: Fractions of shape (...), which broadcast against the poses' leading axes.
            wrap: Let unlimited angles take the shorter rotation; False keeps whole turns.
        """
        return pose_vectors.interpolate(self, start, end, t, wrap=wrap)

    # Kinematics

    @cached_property
    def evaluator(self) -> Evaluator:
        """The linkage packed for the compiled kernels, made at first use."""
        from .kinematics import Evaluator

        return Evaluator(self)

    @overload
    def forward(self, q: PoseLike, *, frame: None = None) -> FrameMap: ...
    @overload
    def forward(self, q: PoseLike, *, frame: str) -> FloatArray: ...
    def forward(self, q: PoseLike, *, frame: str | None = None) -> FrameMap | FloatArray:
        """Return the world transforms of frames.

        Args:
            q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
            frame: Name of one frame; then only the chain to it is computed.

        Returns:
            A mapping from frame name to world_from_frame of shape (..., 4, 4), or that one array for a single frame.

        Example:
            >>> import linkwork as lw
            >>> lw.models.planar([2, 1]).forward([0, 0], frame="tip")[:3, 3].tolist()
            [3.0, 0.0, 0.0]
        """
        if frame is None:
            return self.evaluator.all_frames(q)
        return self.evaluator.one_frame(q, frame)

    def jacobian(self, q: PoseLike, frame: str, *, axes: Literal["world", "local"] = "world") -> FloatArray:
        """Return the Jacobian (..., 6, nv) of a frame: linear velocity rows over angular ones.

        Args:
            q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
            frame: Name of the frame whose origin and orientation move.
            axes: Express both velocities along the axes of the ``"world"`` or of the frame itself (``"local"``).

        Example:
            >>> import linkwork as lw
            >>> lw.models.planar([2, 1]).jacobian([0, 0], "tip")[:2].tolist()
            [[0.0, 0.0], [3.0, 1.0]]
        """
        return self.evaluator.jacobian(q, frame, axes)

    def jacobian_dot(
        self, q: PoseLike, velocity: ArrayLike, frame: str, *, axes: Literal["world", "local"] = "world"
    ) -> FloatArray:
        """Return the time derivative of the Jacobian of a frame, (..., 6, nv), while the linkage moves.

        The acceleration of the frame is ``jacobian @ acceleration + jacobian_dot @ velocity``.

        Args:
            q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
            velocity: Velocities of shape (..., nv) [rad/s, m/s]; leading axes broadcast against those of `q`.
            frame: Name of the frame, as in `jacobian`.
            axes: Axes of the Jacobian: of the ``"world"`` or of the frame itself (``"local"``).

        Example:
            >>> import linkwork as lw
            >>> lw.models.planar([2, 1]).jacobian_dot([0, 0], [1, 0], "tip")[:2].tolist()
            [[-3.0, -1.0], [0.0, 0.0]]
        """
        from . import kinematics

        return kinematics.jacobian_dot(self, q, velocity, frame, axes)

    def gravity_torques(self, q: PoseLike, *, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> FloatArray:
        """Return the joint torques [N m] and forces [N] that hold a pose still against gravity, shape (..., nv).

        Args:
            q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
            gravity: Acceleration of free fall in the world [m/s²], shape (3,).

        Raises:
            LinkageError: If no link has a mass.

        Example:
            >>> import linkwork as lw
            >>> rod = lw.Inertia(2.0, (0.5, 0, 0))
            >>> arm = lw.Builder("arm").revolute("elbow", "rod", axis="-y", inertia=rod).build()
            >>> arm.gravity_torques([0.0]).round(3).tolist()
            [9.81]
        """
        from . import mass

        return mass.gravity_torques(self, q, gravity)

    def convert(self, points: ArrayLike, q: PoseLike, *, source: str = WORLD, target: str = WORLD) -> FloatArray:
        """Return points (..., 3) given in one frame as coordinates in another.

        Args:
            points: Coordinates in `source`; leading axes broadcast against those of `q`.
            q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
            source: Frame of the points; ``"world"`` is the global one.
            target: Frame of the result.

        Example:
            >>> import linkwork as lw
            >>> lw.models.planar([2, 1]).convert([0, 0, 0], [0, 0], source="tip", target="link2").tolist()
            [1.0, 0.0, 0.0]
        """
        from . import kinematics

        return kinematics.convert(self, points, q, source=source, target=target)

    def traverse(self, q: PoseLike) -> Iterator[Visit]:
        """Traverse the tree depth first as in the chapter, with a stack of matrices and without recursion.

        Each visit has `node` (the link), `joint` (the arc that leads there), `matrix` (world_from_link, inherited by
        children) and `data` (the shapes and their transforms, node transform included).

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.planar([2, 1])
            >>> [(visit.node.name, visit.matrix[0, 3].item()) for visit in arm.traverse([0, 0])]
            [('link0', 0.0), ('link1', 0.0), ('link2', 2.0)]
        """
        from . import kinematics

        return kinematics.traverse(self, pose_vectors.as_poses(self, q))

    # Functions of later packages

    def closed_form(
        self, frame: str, *, orientation: bool = True, free: ArrayLike | str | None = None
    ) -> ClosedForm | NoForm:
        """Return the closed form of the chain that moves a frame, or a `NoForm`, which is false; see `lw.closed_form`.

        Example:
            >>> import linkwork as lw
            >>> print(lw.models.ur5().closed_form("tool0").family)
            three parallel axes
        """
        from ..solvers import closed_form as forms

        return forms.closed_form(self, frame, orientation=orientation, free=free)

    def pack(self, solvers: Wanted | Mapping[str, Wanted] = (), **options: Unpack[PackOptions]) -> PackedLinkage:
        """Return the linkage as plain data for ``linkwork.js``, to pose and solve it in a web page.

        Args:
            solvers: Solvers for the page: the name of a frame, or several; a goal, whose target is ignored; a list of
                goals for a whole body; or a mapping from names to these. None by default: frames and Jacobians need no
                solver.
            **options: As `prepare` takes them, for all solvers: ``tolerance``, ``rotation_tolerance``, ``limits``,
                ``restarts``, ``seed``.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.panda()
            >>> arm.pack({"hand": "tip", "point": lw.Reach("tip", position=(0, 0, 0))})
            <PackedLinkage 'panda': 7 values, solvers hand, point>
        """
        from ..formats import packed

        return packed.pack(self, solvers, **options)

    # Edits: each returns a new linkage

    def replace(self, **changes: Any) -> Linkage:
        """Return a linkage with parts changed; see `linkwork.linkage.edits.replace`.

        Example:
            >>> import linkwork as lw
            >>> lw.models.planar([2, 1]).replace(joints={"j2": {"lower": 0.0, "upper": 2.0}}).upper.tolist()
            [inf, 2.0]
        """
        return edits.replace(self, **changes)

    def add_frame(self, name: str, link: str, placement: TransformLike = IDENTITY) -> Linkage:
        """Return a linkage with another frame on a link or on a frame: a tool's tip, a camera.

        Args:
            name: Name of the new frame.
            link: The link or frame that carries it.
            placement: link_from_frame, 4x4 or a position [m].

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.planar([2, 1]).add_frame("tool", "tip", (0.5, 0, 0))
            >>> arm.forward([0, 0], frame="tool")[:3, 3].tolist()
            [3.5, 0.0, 0.0]
        """
        return edits.add_frame(self, name, link, placement)

    def attach(self, other: Linkage, frame: str, *, prefix: str = "", at: TransformLike = IDENTITY) -> Linkage:
        """Return a linkage with another one attached to a frame: a gripper on a flange, two robots on a table.

        The root arc of the other linkage becomes the joint between the two, so a fixed root is fixed to the frame. Its
        values are inserted into the pose in depth-first order; `pose` takes them by name.

        Args:
            other: What to attach, with its shapes, masses, limits, followers, frames, loops and stored poses.
            frame: The link or frame that carries it.
            prefix: Prefix for every name of the other, to keep names unique: ``"left_"``.
            at: Pose of the other linkage's world in the frame: 4x4 or a position [m].

        Example:
            >>> import linkwork as lw
            >>> arm, finger = lw.models.planar([2, 1]), lw.models.planar([0.3])
            >>> arm.attach(finger, "tip", prefix="finger_").joints
            ('j1', 'j2', 'finger_link0_mount', 'finger_j1')
        """
        check_linkage(other)
        return assembly.attach(self, other, frame, prefix=prefix, at=at)

    def freeze(self, joint: str, *, at: Any) -> Linkage:
        """Return a linkage with a joint fixed at a value, together with the joints that follow only this joint.

        `at` is a value as in `pose`: a number [rad, m], a text such as ``"30deg"``, or one value for each coordinate.
        """
        return edits.freeze(self, joint, at=at)

    def subtree(self, link: str) -> Linkage:
        """Return the subtree of a link, with that link as its root at the origin."""
        return edits.subtree(self, link)

    def split(self) -> Linkage:
        """Return a linkage of one-DOF joints only: other joints become several, joined by zero-length links."""
        return edits.split(self)

    def split_pose(self, q: PoseLike) -> FloatArray:
        """Return the poses of `split()`, shape (..., nq of the split linkage), that correspond to `q`."""
        return edits.split_pose(self, q)

    def as_dh(self, frame: str | None = None, *, convention: dh_table.Convention = "standard") -> dh_table.DHTable:
        """Return the Denavit-Hartenberg table of the chain from the root to a frame (the last frame by default)."""
        return dh_table.as_dh(self, frame, convention=convention)

    # Immutable value

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise LinkageError(f"a Linkage is frozen; use linkage.replace(...) to make one with another {name!r}.")

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Linkage):
            return NotImplemented
        parts = ("name", "nodes", "arcs", "extra_frames", "loops", "couplings", "groups", "disabled_pairs")
        if any(getattr(self, part) != getattr(other, part) for part in parts):
            return False
        same_names = list(self.poses) == list(other.poses)
        return same_names and all(np.array_equal(self.poses[key], other.poses[key]) for key in self.poses)

    def __hash__(self) -> int:
        return hash((self.name, self.links, self.coordinates))

    def __reduce__(self) -> tuple[Any, ...]:
        bare = partial(Linkage, self.nodes, self.arcs[1:], name=self.name, frames=self.extra_frames, root=self.root)
        bare = partial(bare, groups=dict(self.groups), disabled_pairs=dict(self.disabled_pairs), origin=self.origin)
        return partial(bare, poses=dict(self.poses), loops=self.loops, couplings=self.couplings), ()

    def __repr__(self) -> str:
        links, joints = len(self.links), len(self.joints)
        counts = f"{links} link{'s' * (links != 1)}, {joints} joint{'s' * (joints != 1)}"
        return f"<Linkage {self.name!r}: {counts}, nq={self.nq}, nv={self.nv}>"


def check_linkage(linkage: object) -> None:
    """Raise OptionError if a value is not a linkage; the message says what to pass instead."""
    if not isinstance(linkage, Linkage):
        name = linkage if isinstance(linkage, str) else "panda"
        made = f"lw.models.{name}()" if name.isidentifier() else f"lw.load({name!r})"
        raise OptionError(f"expected a Linkage, such as {made}, got {linkage!r}.")
