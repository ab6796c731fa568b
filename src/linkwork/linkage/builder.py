"""The readable way to write a linkage by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from ..transforms import IDENTITY, as_pair, as_transform, transform
from . import joints
from .geometry import Inertia
from .linkage import Frame, Link, Linkage, Loop
from .tree import CLOSED, check_link, check_name


class Builder:
    """Collects links and joints and makes a `Linkage` of them.

    Every joint brings its child link with it and hangs on the link added last, unless `parent` says otherwise. A call
    that is refused changes nothing; what only the whole can show, such as a mimic without a leader, `build` refuses.

    Args:
        name: Name of the linkage.
        base: Name of the root link.
        root: Root arc, as in `Linkage`.
        shape: What the root link looks like.
        node: Node transform of the root link, for drawing only.
        inertia: How heavy the root link is.

    Example:
        >>> b = Builder("leg", base="pelvis")
        >>> _ = b.ball("hip", "thigh")
        >>> _ = b.revolute("knee", "shin", at=(0, 0, -0.45), axis="y", limits=("0deg", "140deg"))
        >>> _ = b.frame("foot", at=(0, 0, -0.43))
        >>> b.build()
        <Linkage 'leg': 3 links, 2 joints, nq=5, nv=4>
    """

    def __init__(
        self,
        name: str,
        *,
        base: str = "base",
        root: Any = None,
        shape: Any = (),
        node: Any = None,
        inertia: Inertia | None = None,
    ) -> None:
        self.name, self._root, self._last = name, root, base
        self._links: dict[str, Link] = {}
        self._joints: dict[str, joints.Joint] = {}
        self._frames: list[Frame] = []
        self._poses: dict[str, Any] = {}
        self._loops: list[Loop] = []
        self._links[base] = self._link(base, shape, node, inertia)

    def _link(self, name: str, shape: Any, node: Any, inertia: Inertia | None) -> Link:
        check_name("link", name, self._links, f"linkage {self.name!r}")
        return Link(name, shape, IDENTITY if node is None else node, inertia)

    def joint(
        self,
        name: str,
        child: str,
        articulation: joints.Articulation,
        *,
        parent: str | None = None,
        at: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Any = None,
        shape: Any = (),
        node: Any = None,
        inertia: Inertia | None = None,
        mimic: joints.Mimic | str | None = None,
        velocity: joints.MotionLimit = None,
        acceleration: joints.MotionLimit = None,
        effort: joints.MotionLimit = None,
    ) -> Builder:
        """Add a joint and the link below it.

        Args:
            name: Name of the joint.
            child: Name of the new link.
            articulation: How it moves.
            parent: The link it hangs on; the one added last by default.
            at: Where the joint sits in its parent [m], or a whole 4x4 placement.
            rotation: Orientation of the child in its parent at zero: anything `transforms.as_rotation` takes.
            shape: Shapes or visuals of the new link.
            node: Node transform of the new link, for drawing only.
            inertia: How heavy the new link is.
            mimic: Another joint to follow, by name or with multiplier and offset.
            velocity: How fast it may move, as in `Joint`.
            acceleration: How quickly its velocities may change.
            effort: How hard it may be driven.
        """
        where = f"linkage {self.name!r}"
        parent = self._last if parent is None else parent
        check_link(parent, self._links, where)
        check_name("joint", name, self._joints, where)
        placement = _placement(at, rotation, f"joint {name!r}")
        follows = joints.Mimic(mimic) if isinstance(mimic, str) else mimic
        link = self._link(child, shape, node, inertia)
        limits = {"velocity": velocity, "acceleration": acceleration, "effort": effort}
        joint = joints.Joint(name, parent, child, articulation, placement, follows, **limits)
        self._joints[name], self._links[child], self._last = joint, link, child
        return self

    def fixed(self, name: str, child: str, **options: Any) -> Builder:
        """Add a welded link; options as in `joint`."""
        return self.joint(name, child, joints.Fixed(), **options)

    def revolute(self, name: str, child: str, *, axis: Any = "z", limits: Any = None, **options: Any) -> Builder:
        """Add a revolute joint; limits are (lower, upper) [rad], or texts such as ``"45deg"``."""
        return self.joint(name, child, joints.Revolute(axis, *as_pair(limits, f"joint {name!r}")), **options)

    def continuous(self, name: str, child: str, *, axis: Any = "z", **options: Any) -> Builder:
        """Add a revolute joint without limits: a wheel."""
        return self.joint(name, child, joints.Continuous(axis), **options)

    def prismatic(self, name: str, child: str, *, axis: Any = "z", limits: Any = None, **options: Any) -> Builder:
        """Add a prismatic joint; limits are (lower, upper) [m]."""
        return self.joint(name, child, joints.Prismatic(axis, *as_pair(limits, f"joint {name!r}")), **options)

    def screw(
        self, name: str, child: str, *, lead: float, axis: Any = "z", limits: Any = None, **options: Any
    ) -> Builder:
        """Add a screw that advances `lead` metres a turn."""
        return self.joint(name, child, joints.Screw(axis, *as_pair(limits, f"joint {name!r}"), lead), **options)

    def universal(
        self,
        name: str,
        child: str,
        *,
        axis: Any = "x",
        second: Any = "y",
        lower: Any = None,
        upper: Any = None,
        **options: Any,
    ) -> Builder:
        """Add a universal joint; two lower and two upper limits, if any [rad]."""
        return self.joint(name, child, joints.Universal(axis, second, lower, upper), **options)

    def planar(
        self, name: str, child: str, *, axis: Any = "z", lower: Any = None, upper: Any = None, **options: Any
    ) -> Builder:
        """Add a joint that slides in a plane and turns about its normal; three limits each way, if any [m, m, rad]."""
        return self.joint(name, child, joints.Planar(axis, lower, upper), **options)

    def ball(
        self,
        name: str,
        child: str,
        *,
        euler: str | None = None,
        lower: Any = None,
        upper: Any = None,
        swing: Any = None,
        twist: Any = None,
        axis: Any = "z",
        **options: Any,
    ) -> Builder:
        """Add a ball joint: a quaternion, which swing and twist may hold, or Euler angles in an order: ``"XYZ"``."""
        return self.joint(name, child, joints.Ball(euler, lower, upper, swing, twist, axis), **options)

    def floating(self, name: str, child: str, *, euler: str | None = None, **options: Any) -> Builder:
        """Add a link that is free in space; its rotation is a quaternion, or Euler angles in an order: ``"ZXY"``."""
        return self.joint(name, child, joints.Floating(euler), **options)

    def frame(self, name: str, *, link: str | None = None, at: Any = (0.0, 0.0, 0.0), rotation: Any = None) -> Builder:
        """Add a named frame to a link, the one added last by default."""
        placement = _placement(at, rotation, f"frame {name!r}")
        self._frames.append(Frame(name, self._last if link is None else link, placement))
        return self

    def loop(self, name: str, first: str, second: str, *, kind: str = "point", tolerance: float = CLOSED) -> Builder:
        """Say that two frames coincide, as in `Loop`: by their origins, z axes too, or wholly; and how nearly."""
        self._loops.append(Loop(name, first, second, kind, tolerance))
        return self

    def pose(self, name: str, values: Mapping[str, Any] | ArrayLike | None = None, **named: Any) -> Builder:
        """Add a named pose, by joint values.

        What is not named is neutral, as in `Linkage.pose`: in the middle of its limits where it has them, not at zero.
        If zero is how the linkage rests, as with most bodies, name every joint or give the pose as a whole.
        """
        check_name("pose", name, self._poses, f"linkage {self.name!r}")
        self._poses[name] = (values, named)
        return self

    def build(self) -> Linkage:
        """Return the linkage, checked."""
        tree = self._links.values(), self._joints.values()
        bare = Linkage(*tree, name=self.name, frames=self._frames, root=self._root, loops=self._loops)
        poses = {name: bare.pose(values, **named) for name, (values, named) in self._poses.items()}
        return bare.replace(poses=poses) if poses else bare


def _placement(at: Any, rotation: Any, what: str) -> Any:
    if rotation is None:
        return at  # the joint or frame checks it
    return as_transform(at, f"placement of {what}") @ transform(rotation=rotation, what=what)
