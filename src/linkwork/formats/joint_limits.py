"""Read MoveIt's joint_limits.yaml: joint limits beside a URDF file that override those in it.

A limit is used if its ``has_..._limits`` is true. Entries that do not fit the robot are left out with a remark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..errors import FormatError, LimitError
from ..linkage.joints import Continuous, Revolute
from ..linkage.linkage import Linkage
from .atomic_files import read_text
from .content import Remarks
from .options import FilePath, Options

KEY = "joint_limits"
AROUND = ("/**", "ros__parameters", "robot_description_planning")  # optional enclosing keys, outermost first
MOTION = {"velocity": "max_velocity", "acceleration": "max_acceleration", "effort": "max_effort"}
UNREAD = ("jerk", "deceleration", "soft")  # kinds of limits that a linkage cannot store
_DEGREES, _RADIANS = re.compile(r"!degrees\s+([-+.\deE]+)"), re.compile(r"!radians\s+")  # tags of ROS's parameters


def with_joint_limits(linkage: Linkage, options: Options, remarks: Remarks) -> Linkage:
    """Return a linkage with the limits in the file `options.joint_limits`, if one is given."""
    if options.joint_limits is None:
        return linkage
    return _Reader(linkage, options.joint_limits, options.strict, remarks).linkage_with_limits()


class _Reader:
    """Reads a file of limits into a linkage."""

    def __init__(self, linkage: Linkage, path: FilePath, strict: bool, remarks: Remarks) -> None:
        self.linkage, self.path, self.strict, self.remarks = linkage, path, strict, remarks
        self.text = _RADIANS.sub("", _DEGREES.sub(r"\1deg", read_text(path)))
        self.place: tuple[str, ...] = ()
        self.counts: Counter[str] = Counter()

    def linkage_with_limits(self) -> Linkage:
        changes = {name: change for name, limits in self._joints().items() if (change := self._change(name, limits))}
        kinds = [f"{kind} of {self.counts[kind]} joints" for kind in ("position", *MOTION) if self.counts[kind]]
        said = f"limits of {', '.join(kinds)}" if kinds else "no active limits"
        self.remarks.add(KEY, f"{Path(self.path).name} is read with it: {said}.")
        result = self.linkage
        for name, change in changes.items():
            try:
                result = result.replace(joints={name: change})
            except LimitError as error:
                self._fail(str(error), name)
        return result

    def _joints(self) -> Mapping[str, Any]:
        """Return the entries of all joints."""
        from . import yaml_json

        data: Any = yaml_json.read(self.text, self.path, "yaml")
        for key in (*AROUND, KEY):
            if isinstance(data, dict) and key in data:
                data, self.place = data[key], (*self.place, key)
        if self.place[-1:] != (KEY,) or not isinstance(data, dict):
            self._fail(f"has no mapping {KEY!r} from joints to limits.")
        return data

    def _change(self, name: str, limits: Any) -> dict[str, Any]:
        """Return the changes to a joint."""
        if not isinstance(limits, dict):
            self._fail(f"the limits of joint {name!r} must be a mapping, got {limits!r}.", name)
        if name not in {arc.name for arc in self.linkage.arcs}:
            self._forgive(f"there is no joint {name!r} in {self.linkage.name!r}.", name)
            return {}
        joint = self.linkage.joint(name)
        if joint.articulation.nv != 1:
            self._forgive(f"joint {name!r} is {joint.articulation.kind}; only joints with one value have limits.", name)
            return {}
        change: dict[str, Any] = {}
        for kind, key in MOTION.items():
            if self._holds(name, limits, kind):
                change[kind] = self._number(name, limits, key)
        if self._holds(name, limits, "position"):
            bounds = {"lower": self._number(name, limits, "min_position")}
            bounds["upper"] = self._number(name, limits, "max_position")
            moves = joint.articulation
            change |= {"articulation": Revolute(moves.axis, **bounds)} if isinstance(moves, Continuous) else bounds
        for kind in UNREAD:
            if self._holds(name, limits, kind):
                self._remark(f"the {kind} limits of joint {name!r} are left out: a linkage cannot store them.", name)
        return change

    def _holds(self, name: str, limits: Mapping[str, Any], kind: str) -> bool:
        """Return whether a kind of limit is active, and count it."""
        key = f"has_{kind}_limits"
        word = limits.get(key, False)
        if not isinstance(word, bool):
            self._fail(f"{key} of joint {name!r} must be true or false, got {word!r}.", name, key)
        self.counts[kind] += word
        return word

    def _number(self, name: str, limits: Mapping[str, Any], key: str) -> Any:
        """Return a number, or an angle such as ``90deg``, which joints accept."""
        value = limits.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            self._fail(f"joint {name!r} needs a number for {key}, got {value!r}.", name, key)
        return value

    # Remarks and errors

    def _line(self, *place: str) -> int | None:
        from . import yaml_json

        return yaml_json.line_of(self.text, (*self.place, *place))

    def _fail(self, text: str, *place: str) -> NoReturn:
        raise FormatError(self.path, text, line=self._line(*place))

    def _remark(self, text: str, name: str) -> None:
        self.remarks.add(KEY, f"{Path(self.path).name}:{self._line(name)}: {text}", name)

    def _forgive(self, text: str, name: str) -> None:
        if self.strict:
            self._fail(text, name)
        self._remark(text, name)
