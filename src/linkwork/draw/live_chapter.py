"""The live figure and its options, or the linkage to drag, for each figure of the chapter."""

from __future__ import annotations

from collections.abc import Callable

from ..linkage.linkage import Linkage
from ..models.textbook.linkages import FAR, NEAR, human_arm, two_joints

Options = dict[str, object]

LIVE: dict[str, tuple[str, Options]] = {
    "5.4": ("gimbal", {}),
    "5.5": ("tree-walk", {}),
    "5.6": ("tree-walk", {}),
    "5.7": ("frames", {}),
    "5.8": ("tree-walk", {}),
    "5.9": ("frames", {}),
    "5.10": ("tree-walk", {}),
    "5.11": ("tree-walk", {}),
    "5.12": ("tree-walk", {}),
    "5.13": ("tree-walk", {}),
    "5.14": ("two-links", {"lengths": (15, 10), "goal": (15, 11)}),
    "5.15": ("two-links", {"lengths": (15, 10), "goal": (15, 11)}),
    "5.16": ("jacobian-columns", {}),
    "5.17": ("euler-steps", {}),
    "5.18": ("jacobian-columns", {}),
    "5.19": ("singularities", {}),
    "5.20": ("follow", {"method": "pseudoinverse", "goal": NEAR}),
    "5.21": ("follow", {"method": "damped", "damping": 5, "goal": FAR}),
    "5.22": ("follow", {"method": "control", "gains": (0.1, 0.5, 0.1), "goal": NEAR}),
    "5.23": ("transpose-step", {"goal": NEAR}),
    "5.24": ("follow", {"method": "transpose", "goal": NEAR}),
    "5.25": ("follow", {"method": "ccd", "goal": NEAR}),
}

# A page with sliders for the joints, on which the named frames can be dragged.
PAGES: dict[str, tuple[Callable[[], Linkage], list[str]]] = {
    "5.1": (human_arm, []),
    "5.2": (human_arm, ["right_hand"]),
    "5.3": (two_joints, []),
}
