"""Retargeting: transfer a motion of one skeleton to another body or to a robot arm."""

from __future__ import annotations

from ..motion.contacts import Contact, Thresholds, find_contacts
from ..motion.frame_goals import GoalTrack
from .anatomy import Sight
from .arm import HandPlan
from .body import Plan
from .clearance import Capsule, Clearance
from .contact_files import read_contacts, write_contacts
from .feet import FootPlan
from .gaits import GaitPlan, Paw
from .likeness import LimbError
from .maps import read_map, write_map
from .names import FINGERS, ROLES
from .parts import PARTS, joints_of, layer
from .pipeline import Outcome, RetargetOptions, retarget, retarget_file, retarget_with_report
from .quadrupeds import QUADRUPED_ROLES, Quadruped, find_quadruped
from .recognition import recognise
from .report import Report
from .skeletons import Point, Skeleton
from .soles import Sole

__all__ = [
    "FINGERS",
    "PARTS",
    "QUADRUPED_ROLES",
    "ROLES",
    "Capsule",
    "Clearance",
    "Contact",
    "FootPlan",
    "GaitPlan",
    "GoalTrack",
    "HandPlan",
    "LimbError",
    "Outcome",
    "Paw",
    "Plan",
    "Point",
    "Quadruped",
    "Report",
    "RetargetOptions",
    "Sight",
    "Skeleton",
    "Sole",
    "Thresholds",
    "find_contacts",
    "find_quadruped",
    "joints_of",
    "layer",
    "read_contacts",
    "read_map",
    "recognise",
    "retarget",
    "retarget_file",
    "retarget_with_report",
    "write_contacts",
    "write_map",
]
