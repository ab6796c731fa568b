"""Read SRDF, MoveIt's companion to URDF: groups of joints, named poses and pairs of links that may touch.

Entries that do not fit the robot are left out with a remark that names the file and the line.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from ..errors import FormatError, Remark, listed
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..linkage.tree import fresh
from . import xml
from .content import Content, Remarks
from .options import FilePath, Options
from .texts import TextFile
from .xml import XmlElement

LARGEST = 1_000_000  # joints of all groups together, including subgroups
DEEPEST = 64
UNREAD = ("end_effector", "rotor_params", "link_sphere_approximation", "joint_property", "gripper", "specified_params")


def added(content: Content, path: FilePath, options: Options) -> Content:
    """Return the content of a URDF file with the content of its SRDF file added.

    The SRDF file is `options.srdf`, or the file of the same name beside the URDF file. If the latter is damaged or for
    another robot, a remark is added instead.
    """
    if options.srdf is not None:
        return _Reader(content.linkage, options.srdf, options).content(content)
    if isinstance(path, TextFile):
        return content
    beside = Path(path).with_name(f"{Path(path).name.removesuffix('.xacro').removesuffix('.urdf')}.srdf")
    if not beside.is_file():
        return content
    try:
        reader = _Reader(content.linkage, beside, options)
        if reader.root.attributes.get("name") != content.linkage.name:
            text = f"{beside.name} beside it is for another robot and is not read; srdf=... (--srdf) reads it."
            return replace(content, remarks=(*content.remarks, Remark("srdf", text)))
        return reader.content(content)
    except FormatError as error:
        if options.strict:
            raise
        return replace(content, remarks=(*content.remarks, Remark("srdf", f"the SRDF file is left out: {error}")))


class _Reader:
    """Reads an SRDF file into a linkage."""

    def __init__(self, linkage: Linkage, path: FilePath, options: Options) -> None:
        self.linkage, self.path, self.strict = linkage, path, options.strict
        self.root = xml.read(path).root
        if self.root.tag != "robot":
            raise FormatError(path, f"the root element is <{self.root.tag}>, not <robot> as in SRDF.", line=1)
        self.remarks = Remarks()
        self.groups: dict[str, XmlElement] = {}
        self.members: dict[str, dict[str, None]] = {}
        joints = {arc.name for arc in linkage.arcs}
        self.known: dict[str, Collection[str]] = {"joint": joints, "link": set(linkage.links), "group": self.groups}
        self.unknown: dict[str, dict[str, XmlElement]] = {}
        self.virtual = {element.attributes.get("name", "") for element in self.root.all("virtual_joint")}

    def content(self, content: Content) -> Content:
        for element in self.root.all("group"):
            self.groups.setdefault(self._name(element), element)
        groups = self._all_groups()
        poses, pairs = self._poses(), self._pairs()
        if not (groups or poses or pairs):
            self._remark("srdf", "contains no groups, poses or pairs of links.", self.root)
        self._say_unknown()
        self._others()
        count = f"{len(groups)} groups, {len(poses)} poses and {len(pairs)} pairs of links"
        self.remarks.insert(0, Remark("srdf", f"{Path(self.path).name} is read with it: {count}."))
        stored = dict(self.linkage.poses) | poses
        linkage = self.linkage.replace(groups=groups, disabled_pairs=pairs, poses=stored)
        return replace(content, linkage=linkage, remarks=(*content.remarks, *self.remarks))

    # Remarks and errors

    def _remark(self, kind: str, text: str, element: XmlElement, where: str = "") -> None:
        self.remarks.add(kind, f"{Path(self.path).name}:{element.line}: {text}", where)

    def _fail(self, element: XmlElement, text: str) -> NoReturn:
        raise FormatError(self.path, text, line=element.line)

    def _forgive(self, text: str, element: XmlElement, where: str = "") -> None:
        if self.strict:
            self._fail(element, text)
        self._remark("bad-srdf", text, element, where)

    def _name(self, element: XmlElement, key: str = "name") -> str:
        name = element.attributes.get(key, "")
        if not name:
            self._fail(element, f"<{element.tag}> needs the attribute {key}.")
        return name

    # Groups

    def _all_groups(self) -> dict[str, list[str]]:
        for name, element in self.groups.items():
            self._resolve(name, element, [])
            if sum(map(len, self.members.values())) > LARGEST:
                self._fail(element, f"groups have more than {LARGEST:,} joints.")
        return {name: list(self.members[name]) for name in self.groups}

    def _resolve(self, group: str, element: XmlElement, inside: list[str]) -> dict[str, None]:
        """Return the joints of a group and of its subgroups; `inside` lists the groups that contain it."""
        if group in inside:
            self._forgive(f"group {group!r} contains itself; this entry is left out.", element, group)
            return {}
        if len(inside) > DEEPEST:
            self._fail(element, f"groups are nested deeper than {DEEPEST} levels.")
        if group not in self.members:
            self.members[group] = dict.fromkeys(self._parts(element, [*inside, group]))
        return self.members[group]

    def _parts(self, element: XmlElement, inside: list[str]) -> Iterator[str]:
        for part in element.children:
            name = part.attributes.get("name", "")
            if part.tag == "joint" and self._knows("joint", name, part):
                yield name
            elif part.tag == "link" and self._knows("link", name, part):
                yield self.linkage.arcs[self.linkage.link_index(name)].name
            elif part.tag == "chain":
                yield from self._chain(part)
            elif part.tag == "group" and self._knows("group", name, part):
                yield from self._resolve(name, self.groups[name], inside)

    def _chain(self, part: XmlElement) -> Iterator[str]:
        """Yield the joints between two links."""
        ends = [part.attributes.get(key, "") for key in ("base_link", "tip_link")]
        known = [self._knows("link", end, part) for end in ends]
        if all(known):
            base, tip = (self.linkage.path_to(end)[0] for end in ends)
            shared = set(base) & set(tip)
            yield from (self.linkage.arcs[k].name for k in (*base, *tip) if k not in shared)

    def _knows(self, kind: str, name: str, element: XmlElement) -> bool:
        """Return whether a joint, link or group of this name exists; unknown names are recorded."""
        if name in self.known[kind]:
            return True
        if name not in self.virtual:
            if self.strict:
                self._fail(element, f"the robot has no {kind} {name!r}.")
            self.unknown.setdefault(kind, {}).setdefault(name, element)
        return False

    def _say_unknown(self) -> None:
        for kind, names in self.unknown.items():
            what = f"{kind}{'s' * (len(names) > 1)} {listed([repr(name) for name in names])}"
            text = f"the robot has no {what}; entries with {'them' if len(names) > 1 else 'it'} are left out."
            self._remark("bad-srdf", text, next(iter(names.values())))

    # Poses and pairs

    def _poses(self) -> dict[str, Any]:
        """Return states as poses of all joints; joints that a state does not name are at zero, or the nearest limit."""
        rest = rest_pose(self.linkage)
        states = list(self.root.all("group_state"))
        names = [self._name(state) for state in states]
        count = Counter(names)
        poses: dict[str, Any] = {}
        for name, state in zip(names, states, strict=True):
            own = name if count[name] == 1 else f"{self._name(state, 'group')}/{name}"
            values = dict(filter(None, (self._value(joint, name) for joint in state.all("joint"))))
            poses[fresh(own, poses)] = self.linkage.pose(values, base=rest)
        return poses

    def _value(self, element: XmlElement, state: str) -> tuple[str, Any] | None:
        """Return a joint and its values in a state; None if it is unknown, a mimic joint or fixed."""
        name = self._name(element)
        if not self._knows("joint", name, element):
            return None
        joint = self.linkage.joint(name)
        try:
            values = [float(word) for word in element.attributes.get("value", "").split()]
        except ValueError:
            values = []
        if joint.mimic is not None or (joint.articulation.nq == 0 and values):
            return None  # a mimic joint, or a fixed one
        if len(values) != joint.articulation.nq or not all(map(math.isfinite, values)):
            self._fail(element, f"pose {state!r} needs {joint.articulation.nq} finite numbers for joint {name!r}.")
        if joint.articulation.kind == "floating":
            return name, {"x": values[0], "y": values[1], "z": values[2], "xyzw": values[3:]}
        return name, values if len(values) > 1 else values[0]

    def _pairs(self) -> dict[tuple[str, str], str]:
        pairs: dict[tuple[str, str], str] = {}
        for element in self.root.all("disable_collisions"):
            first, second = self._name(element, "link1"), self._name(element, "link2")
            known = [self._knows("link", end, element) for end in (first, second)]
            if all(known) and first != second:
                pairs[first, second] = element.attributes.get("reason", "")
        return pairs

    def _others(self) -> None:
        """Add remarks on virtual and passive joints, and on elements that are not kept."""
        for element in self.root.all("virtual_joint"):
            kind, child = element.attributes.get("type", "fixed"), element.attributes.get("child_link", "")
            if kind != "fixed" and kind != self.linkage.root.articulation.kind:
                text = f"its virtual joint is {kind}, with child {child!r}; root={kind!r} makes it the root joint."
                self._remark("srdf-root", text, element)
        passive = [self._name(element) for element in self.root.all("passive_joint")]
        if passive:
            text = f"joints {listed(passive)} are passive: no motor moves them. Solves move them like any other joint."
            self._remark("passive", text, next(self.root.all("passive_joint")))
        for tag in UNREAD:
            if (first := self.root.first(tag)) is not None:
                self._remark("dropped", f"<{tag}> is left out: a linkage cannot store it.", first)
