"""What the names of joints and links say about a skeleton: left or right, and which part of the body.

Motion capture, animation programs and robots use different words; here they become roles. A word with two meanings
("LeftShoulder" is a collar bone in some files, the upper arm in others) is resolved later, along the limb.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SIDES = ("left", "right")
ARM = ("clavicle", "shoulder", "elbow", "hand")
LEG = ("hip", "knee", "ankle", "toe")
TRUNK = ("hips", "spine", "chest", "neck", "head")
ROLES = (*TRUNK, *(f"{side}_{part}" for side in SIDES for part in (*ARM, *LEG)))
LIMBS = {"arm": ARM, "leg": LEG}

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_DIGITS = frozenset(("thumb", "index", "mid", "middle", "ring", "pinky", "finger", "fingers", "little", "metacarpal"))
_ASIDE = frozenset(("eye", "eyes", "jaw", "ear", "hair", "tongue", "camera", "sonar", "twist", "nub"))

# Words of each part, the surest first: where a limb has several, the surest decides.
WORDS: dict[str, tuple[str, ...]] = {
    "clavicle": ("clavicle", "collar", "scapula"),
    "shoulder": ("upperarm", "uparm", "shldr", "humerus", "bicep", "shoulder"),
    "elbow": ("elbow", "forearm", "lowerarm", "lowarm", "radius"),
    "hand": ("wrist", "hand", "palm"),
    "hip": ("thigh", "upleg", "upperleg", "femur", "hip"),
    "knee": ("knee", "shin", "calf", "lowerleg", "lowleg", "tibia"),
    "ankle": ("ankle", "foot", "tarsus"),
    "toe": ("toes", "toe"),
    "hips": ("pelvis", "hips"),
    "spine": ("spine", "abdomen", "waist", "back", "lumbar"),
    "chest": ("chest", "thorax", "torso", "ribs"),
    "neck": ("neck",),
    "head": ("head", "skull"),
}
_KNOWN = {word: part for part, words in WORDS.items() for word in words}
FINGER = "finger"


@dataclass(frozen=True)
class Meaning:
    """What one name says.

    Args:
        side: ``"left"``, ``"right"`` or nothing.
        part: A part of `WORDS`; ``"finger"``; ``"arm"`` or ``"leg"`` where the name says no more; or nothing.
        word: The word that said so.
    """

    side: str = ""
    part: str = ""
    word: str = ""

    @property
    def limb(self) -> str:
        """``"arm"``, ``"leg"`` or nothing."""
        if self.part in ("arm", FINGER) or self.part in ARM:
            return "arm"
        return "leg" if self.part == "leg" or self.part in LEG else ""


def meaning(name: str) -> Meaning:
    """Return what a name says.

    Example:
        >>> meaning("mixamorig:LeftForeArm")
        Meaning(side='left', part='elbow', word='forearm')
        >>> meaning("RLEG_HIP_P").side, meaning("thigh.L").part, meaning("rThumb2").part
        ('right', 'hip', 'finger')
    """
    parts = [part.lower() for part in _PARTS.findall(name.rpartition(":")[2])]
    side, words = _side(parts)
    if _ASIDE & set(words):
        return Meaning(side)
    if _DIGITS & set(words):
        return Meaning(side, FINGER, next(word for word in words if word in _DIGITS))
    text = "".join(word for word in words if not word.isdigit())
    found = [word for word in _KNOWN if word in text]
    if found:
        word = max(found, key=len)
        return Meaning(side, "hips" if word == "hip" and not side else _KNOWN[word], word)
    limb = next((limb for limb in LIMBS if limb in words), "")
    return Meaning(side, limb, limb)


def meaning_of_both(joint: str, link: str) -> Meaning:
    """Return what a joint's name says, or where it says nothing of the body, that of its link."""
    first, second = meaning(joint), meaning(link)
    better = first if first.part and (first.part not in LIMBS or second.part in ("", *LIMBS)) else second
    return Meaning(better.side or first.side or second.side, better.part, better.word)


def _side(parts: list[str]) -> tuple[str, list[str]]:
    """Return the side that the parts of a name say, and the parts without it."""
    for k, part in enumerate(parts):
        if part in SIDES:
            return part, parts[:k] + parts[k + 1 :]
    for k, part in enumerate(parts):
        for side in SIDES:
            if part == side[0]:
                return side, parts[:k] + parts[k + 1 :]
            if part[0] == side[0] and part[1:] in (*LIMBS, *_KNOWN) and part not in _KNOWN:
                return side, [*parts[:k], part[1:], *parts[k + 1 :]]
            if part.startswith(side) and len(part) > len(side):
                return side, [*parts[:k], part[len(side) :], *parts[k + 1 :]]
    return "", parts
