"""Build a linkage step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from ..errors import JointNotFoundError, LinkageError, MimicError
from ..transforms import IDENTITY, as_angle, as_number, as_pair, as_transform, reraised_as, transform
from . import gearing, joints
from .couplings import Coupling
from .curves import Geneva, as_curve
from .geometry import Inertia
from .linkage import Frame, Link, Linkage, Loop
from .tree import CLOSED, check_link, check_name


class Builder:
    """Builds a `Linkage` from links and joints.

    Every joint adds its child link, and is attached to the link added last unless `parent` is given. Methods for one
    kind of joint, such as `revolute`, also take the options of `joint`: parent, at, rotation, shape, mimic and so on. A
    call that fails changes nothing. Errors that concern the whole linkage, such as a mimic joint without a leader, are
    raised by `build`.

    Args:
        name: Name of the linkage.
        base: Name of the root link.
        root: Root arc, as in `Linkage`.
        shape: Shapes or visuals of the root link.
        node: Node transform of the root link, for drawing only.
        inertia: Mass properties of the root link.

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
        self._couplings: list[Coupling] = []
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
            parent: Its parent link; the one added last by default.
            at: Position of the joint in its parent [m], or a complete 4x4 placement.
            rotation: Orientation of the child in its parent at zero: anything `transforms.as_rotation` takes.
            shape: Shapes or visuals of the new link.
            node: Node transform of the new link, for drawing only.
            inertia: Mass properties of the new link.
            mimic: Another joint to follow, by name or with multiplier and offset.
            velocity: Velocity limit, as in `Joint`.
            acceleration: Acceleration limit, as in `Joint`.
            effort: Largest torque or force, as in `Joint`.
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
        """Add a link with a fixed joint; options as in `joint`."""
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
        """Add a screw joint that advances by `lead` metres per turn."""
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
        """Add a ball joint: a quaternion, with optional swing and twist limits, or Euler angles such as ``"XYZ"``."""
        return self.joint(name, child, joints.Ball(euler, lower, upper, swing, twist, axis), **options)

    def floating(self, name: str, child: str, *, euler: str | None = None, **options: Any) -> Builder:
        """Add a floating joint; its rotation is a quaternion, or Euler angles in an order: ``"ZXY"``."""
        return self.joint(name, child, joints.Floating(euler), **options)

    def frame(self, name: str, *, link: str | None = None, at: Any = (0.0, 0.0, 0.0), rotation: Any = None) -> Builder:
        """Add a named frame to a link, the one added last by default."""
        placement = _placement(at, rotation, f"frame {name!r}")
        self._frames.append(Frame(name, self._last if link is None else link, placement))
        return self

    def loop(self, name: str, first: str, second: str, *, kind: str = "point", tolerance: float = CLOSED) -> Builder:
        """Require two frames to coincide within a tolerance, as in `Loop`: origins, origins and z axes, or all."""
        self._loops.append(Loop(name, first, second, kind, tolerance))
        return self

    def couple(
        self,
        follower: str,
        drivers: str | Mapping[str, float],
        *,
        curve: Any = None,
        phase: Any = 0.0,
        offset: Any = 0.0,
        name: str | None = None,
        tolerance: float = CLOSED,
    ) -> Builder:
        """Let a joint follow others, as in `Coupling`; with one driver and no curve it becomes a `Mimic`.

        Args:
            follower: The joint that follows, already added.
            drivers: The joint that it follows, or ratios by joint, as for a differential.
            curve: The follower's value as a function of the driver's, as in `cam`; a straight line by default.
            phase: Added to the drivers' values [rad, or a text such as ``"30deg"``].
            offset: Added to the follower's value.
            name: Name of the coupling; the follower's by default.
            tolerance: Largest error of a coupling that holds [rad or m].
        """
        with reraised_as(LinkageError):
            before, after = as_angle(phase), as_angle(offset)
        terms = {drivers: 1.0} if isinstance(drivers, str) else dict(drivers)
        if curve is not None:
            given = tuple(terms.items()), as_curve(curve), before, after, tolerance
            self._couplings.append(Coupling(name or follower, follower, *given))
            return self
        return self._follow(follower, terms, before + after, name, tolerance)

    def _follow(
        self, follower: str, terms: Mapping[str, float], offset: float, name: str | None, tolerance: float = CLOSED
    ) -> Builder:
        """Let a joint follow a sum of others: as a mimic joint if one leader is enough, else by a coupling."""
        joint = self._joints.get(follower)
        if joint is not None and joint.mimic is not None:
            raise MimicError(f"joint {follower!r} of linkage {self.name!r} follows {joint.mimic.joint!r} already.")
        found, added = gearing.leaders(self._joints, dict(terms))
        leader, ratio = next(iter(found.items()), (next(iter(terms), ""), 0.0))
        if len(found) <= 1 and joint is not None and leader in self._joints:
            self._joints[follower] = replace(joint, mimic=joints.Mimic(leader, ratio, offset + added))
        else:
            drivers = tuple(found.items()) or ((leader, ratio),)
            self._couplings.append(Coupling(name or follower, follower, drivers, None, 0.0, offset + added, tolerance))
        return self

    def gear(
        self,
        follower: str,
        driver: str,
        *,
        ratio: float | None = None,
        teeth: tuple[float, float] | None = None,
        internal: bool = False,
        phase: Any = 0.0,
        carrier: str | None = None,
    ) -> Builder:
        """Let one gear turn another: ``follower = ratio * driver + phase``.

        Args:
            follower: The driven joint, already added.
            driver: The driving joint. With a carrier it may also be a link, such as the ground that a ring gear is
                fixed to.
            ratio: Turns of the follower for one turn of the driver, negative if they turn in opposite directions.
            teeth: Instead of the ratio, the numbers of teeth of follower and driver.
            internal: Whether one of the two is an internal gear; then both turn in the same direction.
            phase: The follower's value where the driver's is zero [rad, or a text].
            carrier: The link that carries both axles, if it turns, as in a planetary gear. The ratio is then relative
                to it, by Willis' equation.

        Example:
            >>> b = Builder("train").continuous("pinion", "small")
            >>> b = b.continuous("wheel", "large", parent="base", at=(1, 0, 0))
            >>> b.gear("wheel", "pinion", teeth=(60, 20)).build().joint("wheel").mimic.multiplier
            -0.3333333333333333
        """
        what = f"gear {follower!r}"
        with reraised_as(LinkageError):
            shift = as_angle(phase)
        amount = gearing.ratio_of(ratio, teeth, reversed_=not internal, what=what)
        if follower not in self._joints:
            raise JointNotFoundError(follower, f"linkage {self.name!r}", self._joints)
        return self._follow(follower, gearing.meshed(self._joints, follower, driver, amount, carrier), shift, None)

    def belt(
        self,
        follower: str,
        driver: str,
        *,
        ratio: float | None = None,
        radii: tuple[float, float] | None = None,
        crossed: bool = False,
        phase: Any = 0.0,
        carrier: str | None = None,
    ) -> Builder:
        """Let a belt or a chain turn one pulley by another, without slip; as in `gear`, but in the same direction.

        Args:
            follower: The driven joint.
            driver: The driving joint.
            ratio: Turns of the follower for one turn of the driver.
            radii: Instead of the ratio, the radii of the follower's and the driver's pulley, or the teeth of sprockets.
            crossed: Whether the belt is crossed, so that they turn in opposite directions.
            phase: The follower's value where the driver's is zero.
            carrier: The link that carries both axles, if it turns: a belt inside an arm.
        """
        amount = gearing.ratio_of(ratio, radii, reversed_=crossed, what=f"belt of {follower!r}")
        return self.gear(follower, driver, ratio=amount, phase=phase, carrier=carrier)

    def rack(self, follower: str, driver: str, *, radius: float, offset: float = 0.0) -> Builder:
        """Let a pinion push a rack, or a rack turn a pinion: ``slide = radius * angle + offset``.

        Args:
            follower: The joint that follows: the rack's, which is prismatic, or the pinion's.
            driver: The other one.
            radius: Radius of the pinion's pitch circle [m]; negative if the rack moves in the opposite direction.
            offset: The follower's value where the driver's is zero.
        """
        for joint in (follower, driver):
            if joint not in self._joints:
                raise JointNotFoundError(joint, f"linkage {self.name!r}", self._joints)
        kinds = [self._joints[joint].articulation.units for joint in (follower, driver)]
        if sorted(kinds) != [("m",), ("rad",)]:
            raise LinkageError(f"a rack is a prismatic joint and a revolute one, got {follower!r} and {driver!r}.")
        with reraised_as(LinkageError):
            size = as_number(radius, f"radius of the pinion of {follower!r}")
            shift = as_number(offset, "offset of a rack")
        if not size:
            raise LinkageError(f"the radius of the pinion of {follower!r} is not zero.")
        return self._follow(follower, {driver: size if kinds[0] == ("m",) else 1.0 / size}, shift, None)

    def cam(
        self, follower: str, driver: str, curve: Any, *, phase: Any = 0.0, offset: float = 0.0, name: str | None = None
    ) -> Builder:
        """Let a joint, prismatic or revolute, follow a cam on another: ``follower = curve(driver + phase) + offset``.

        Args:
            follower: The joint that follows.
            driver: The joint that turns the cam.
            curve: The lift: points ``(angle, lift)``, lifts alone at equal steps over a turn, parts of a `CamProgram`,
                a Python function, or a curve such as `CamTable`.
            phase: Added to the cam's angle [rad, or a text such as ``"30deg"``].
            offset: Added to the lift.
            name: Name of the coupling; the follower's by default.

        Example:
            >>> b = Builder("valve").continuous("cam", "disc").prismatic("lift", "stem", parent="base")
            >>> b = b.cam("lift", "cam", [("cycloidal", "180deg", 0.01), ("cycloidal", "180deg", 0.0)])
            >>> b.build().pose(cam="90deg").round(4).tolist()
            [1.5708, 0.005]
        """
        return self.couple(follower, driver, curve=as_curve(curve), phase=phase, offset=offset, name=name)

    def geneva(
        self, wheel: str, crank: str, *, slots: int, pins: int = 1, internal: bool = False, phase: Any = 0.0,
        offset: Any = 0.0,
    ) -> Builder:  # fmt: skip
        """Let a crank turn a Geneva wheel step by step, as in `Geneva`: a pin is deepest at ``crank + phase = 0``."""
        return self.couple(wheel, crank, curve=Geneva(slots, pins, internal), phase=phase, offset=offset)

    def pose(self, name: str, values: Mapping[str, Any] | ArrayLike | None = None, **named: Any) -> Builder:
        """Add a named pose, by joint values.

        Joints that are not named are neutral, as in `Linkage.pose`: in the middle of their limits if they have any, not
        at zero. If the rest pose is zero, as for most bodies, name every joint or give the whole pose.
        """
        check_name("pose", name, self._poses, f"linkage {self.name!r}")
        self._poses[name] = (values, named)
        return self

    def build(self) -> Linkage:
        """Return the linkage, after all checks."""
        tree = self._links.values(), self._joints.values()
        more: dict[str, Any] = {"frames": self._frames, "loops": self._loops, "couplings": self._couplings}
        bare = Linkage(*tree, name=self.name, root=self._root, **more)
        poses = {name: bare.pose(values, **named) for name, (values, named) in self._poses.items()}
        return bare.replace(poses=poses) if poses else bare


def _placement(at: Any, rotation: Any, what: str) -> Any:
    if rotation is None:
        return at  # checked by the joint or frame
    return as_transform(at, f"placement of {what}") @ transform(rotation=rotation, what=what)
