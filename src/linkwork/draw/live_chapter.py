"""Which live figure stands for which figure of the chapter, and with which options."""

from __future__ import annotations

from ..models.textbook.linkages import FAR, NEAR

Options = dict[str, object]

LIVE: dict[str, tuple[str, Options]] = {
    "5.1": ("keys", {}),
    "5.2": ("body-goals", {}),
    "5.3": ("frames", {}),
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
    "5.17": ("jacobian-columns", {}),
    "5.18": ("jacobian-columns", {}),
    "5.19": ("singularities", {}),
    "5.20": ("follow", {"method": "pseudoinverse", "goal": NEAR}),
    "5.21": ("follow", {"method": "damped", "damping": 5, "goal": FAR}),
    "5.22": ("follow", {"method": "control", "gains": (0.1, 0.5, 0.1), "goal": NEAR}),
    "5.23": ("follow", {"method": "pseudoinverse", "goal": NEAR}),
    "5.24": ("follow", {"method": "transpose", "goal": NEAR}),
    "5.25": ("follow", {"method": "ccd", "goal": NEAR}),
}
