"""Interpret the names of joints and links: left or right, which part of the body, which finger.

Motion capture, animation programs, games and robots use different words; here they become roles. A word with two
meanings ("LeftShoulder" is a collar bone in some files, the upper arm in others) is resolved later, along the limb.
Names of controls, sockets and helpers are ignored, whatever other words they contain.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

SIDES = ("left", "right")
ARM = ("clavicle", "shoulder", "elbow", "hand")
LEG = ("hip", "knee", "ankle", "toe")
TRUNK = ("hips", "spine", "chest", "neck", "head")
ROLES = (*TRUNK, *(f"{side}_{part}" for side in SIDES for part in (*ARM, *LEG)))
LIMBS = {"arm": ARM, "leg": LEG}

DIGITS = ("thumb", "index", "middle", "ring", "little")
PHALANGES = (0, 1, 2, 3)  # the metacarpal, which few skeletons have, and three joints from the palm outwards
FINGERS = tuple(f"{side}_{digit}_{k}" for side in SIDES for digit in DIGITS for k in PHALANGES if k or digit != "thumb")
FINGER = "finger"

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_VERTEBRA = re.compile(r"[LT]\d+$")  # Xsens: L5, L3, T12, T8

# Words of each part, the most certain first: if a limb has several, the most certain decides.
WORDS: dict[str, tuple[str, ...]] = {
    "clavicle": ("clavicle", "collar", "scapula"),
    "shoulder": ("upperarm", "uparm", "uarm", "shldr", "humerus", "bicep", "shoulder"),
    "elbow": ("elbow", "forearm", "lowerarm", "lowarm", "farm", "radius"),
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
_TRUNK_WORDS = frozenset(word for word, part in _KNOWN.items() if part in TRUNK)

# Words that name no part of a body, or not the part that moves it.
_ASIDE = frozenset(
    (
        *("eye", "eyes", "jaw", "ear", "ears", "hair", "tongue", "teeth", "breast", "camera", "sonar", "sensor", "imu"),
        *("ik", "fk", "ctrl", "ctl", "control", "controller", "pole", "target", "effector", "locator", "handle"),
        *("mch", "org", "tweak", "parent", "nub"),  # Rigify's mechanisms and sources; end bones of 3ds Max
        *("slot", "socket", "weapon", "attach", "attachment", "prop", "holder", "mount"),  # attachment points
        *("twist", "twister", "share", "bulge", "helper", "corrective", "muscle", "volume", "metatarsals"),
    )
)
_STUCK = ("slot", "socket", "twist", "ctrl", "control", "target")  # also at the end of a word: handslot.l
_FINGERS = frozenset(("finger", "fingers", "metacarpal", "carpal", "digit", "phalanx"))
_DIGIT_WORDS = {digit: digit for digit in DIGITS} | {"mid": "middle", "pinky": "little", "pinkie": "little"}
_SHADOW = re.compile(r"(?:^|_)([lr])h_(th|ff|mf|rf|lf)", re.IGNORECASE)  # Shadow's hands: rh_FFJ3
_SHADOW_DIGITS = dict(zip(("th", "ff", "mf", "rf", "lf"), DIGITS, strict=True))

# MikuMikuDance names bones in Japanese; the longer words first, since "foot" is part of "ankle".
_JAPANESE = (
    ("左", " left "), ("右", " right "), ("捩", " twist "), ("キャンセル", " helper "), ("足先EX", " helper "),
    ("足首D", " helper "), ("足D", " helper "), ("ひざD", " helper "), ("肩P", " helper "), ("肩C", " helper "),
    ("親指", " thumb "),
    ("人差指", " index "), ("人指", " index "), ("中指", " middle "), ("薬指", " ring "), ("小指", " little "),
    ("上半身2", " chest "), ("上半身", " spine "), ("下半身", " pelvis "), ("足首", " ankle "), ("手首", " wrist "),
    ("足先", " toe "), ("つま先", " toe "), ("ひざ", " knee "), ("膝", " knee "), ("ひじ", " elbow "),
    ("肘", " elbow "), ("肩", " clavicle "), ("腕", " upperarm "), ("足", " thigh "), ("首", " neck "),
    ("頭", " head "), ("目", " eye "),
)  # fmt: skip

ENDS = ("fore", "hind")  # of a quadruped
_FORE, _HIND = frozenset(("front", "fore", "frnt")), frozenset(("hind", "back", "rear"))
_CODES = {
    code: (end, side)
    for end, side, codes in (
        ("fore", "left", ("fl", "lf")),
        ("fore", "right", ("fr", "rf")),
        ("hind", "left", ("rl", "hl", "lh", "bl")),
        ("hind", "right", ("rr", "hr", "rh", "br")),
    )
    for code in codes
}


@dataclass(frozen=True)
class Meaning:
    """The meaning of a name.

    Args:
        side: ``"left"``, ``"right"`` or nothing.
        part: A part of `WORDS`; ``"finger"``; ``"arm"`` or ``"leg"`` if the name is no more specific; or nothing.
        word: The word that names the part.
        digit: The finger: a word of `DIGITS`, or nothing.
        twist: Whether it is a bone that shares the twist of another.
        aside: Whether it is a control, a socket, a helper or an end, and not a part of the body.
    """

    side: str = ""
    part: str = ""
    word: str = ""
    digit: str = ""
    twist: bool = False
    aside: bool = False

    @property
    def limb(self) -> str:
        """``"arm"``, ``"leg"`` or nothing."""
        if self.part in ("arm", FINGER) or self.part in ARM:
            return "arm"
        return "leg" if self.part == "leg" or self.part in LEG else ""


@lru_cache(maxsize=4096)
def meaning(name: str) -> Meaning:
    """Return the meaning of a name.

    Example:
        >>> said = meaning("mixamorig:LeftForeArm")
        >>> said.side, said.part, said.word
        ('left', 'elbow', 'forearm')
        >>> meaning("RLEG_HIP_P").side, meaning("thigh.L").part, meaning("rThumb2").digit
        ('right', 'hip', 'thumb')
    """
    if _VERTEBRA.match(name):
        return Meaning("", "spine", "spine")
    shadow = _SHADOW.search(name)
    if shadow is not None:
        side, digit = (group.lower() for group in shadow.groups())
        return Meaning("left" if side == "l" else "right", FINGER, digit, _SHADOW_DIGITS[digit])
    side, words = _side(words_of(name))
    text = "".join(word for word in words if not word.isdigit())
    if _aside(words) and not (_twists(words) and "neck" in text):  # Character Creator's neck is a NeckTwist
        return Meaning(side, twist=_twists(words), aside=True)
    finger = _finger(words, text)
    if finger is not None:
        return Meaning(side, FINGER, finger[1], finger[0])
    found = [word for word in _KNOWN if word in text and not (word == "back" and "leg" in words)]  # BackLeg.L
    if found:
        word = max(found, key=len)
        return Meaning(side, _part(word, side), word)
    if side and "ball" in words:  # Unreal's ball_l
        return Meaning(side, "toe", "toe")
    limb = next((limb for limb in LIMBS if limb in words), "")
    return Meaning(side, limb, limb)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, without a prefix that ends in a colon.

    Example:
        >>> words_of("Bip01 L UpperArm"), words_of("左足首")
        (['bip', '01', 'l', 'upper', 'arm'], ['left', 'ankle'])
    """
    text = unicodedata.normalize("NFKC", name.rpartition(":")[2])
    if not text.isascii():
        for word, english in _JAPANESE:
            text = text.replace(word, english)
    parts = [part.lower() for part in _PARTS.findall(text)]
    for k, (one, two) in enumerate(pairwise(parts)):  # OptiTrack: LUArm, LFArm
        if two == "arm" and one in ("lu", "ru", "lf", "rf"):
            return [*parts[:k], one[0], one[1] + two, *parts[k + 2 :]]
    return parts


def leg_of(name: str) -> tuple[str, str] | None:
    """Return which of four legs a name means, as end and side, or None.

    Example:
        >>> leg_of("FL_thigh_joint"), leg_of("BackLeg.R"), leg_of("LeftForeArm")
        (('fore', 'left'), ('hind', 'right'), None)
    """
    words = words_of(name)
    if _aside(words):
        return None
    for word in words:
        if word in _CODES:
            return _CODES[word]
    side, rest = _side(words)
    said = {word for word, after in zip(rest, (*rest[1:], ""), strict=True) if (word, after) != ("fore", "arm")}
    if not side or bool(said & _FORE) == bool(said & _HIND):
        return None
    return ("fore" if said & _FORE else "hind"), side


def meaning_of_both(joint: str, link: str) -> Meaning:
    """Return the meaning of a joint's name or, if it names no part of the body, of its link's name."""
    first, second = meaning(joint), meaning(link)
    better = first if first.part and (first.part not in LIMBS or second.part in ("", *LIMBS)) else second
    side = better.side or first.side or second.side
    twist, aside = first.twist or second.twist, not better.part and (first.aside or second.aside)
    return Meaning(side, better.part, better.word, better.digit, twist, aside)


def _aside(words: list[str]) -> bool:
    return any(word in _ASIDE or word.endswith(_STUCK) for word in words)


def _twists(words: list[str]) -> bool:
    return any(word.endswith(("twist", "twister")) for word in words)


def _part(word: str, side: str) -> str:
    if word == "hip" and not side:
        return "hips"
    if side and word in ("thorax", "chest"):  # the collar bone of SMPL bodies in MuJoCo
        return "clavicle"
    return _KNOWN[word]


def _finger(words: list[str], text: str) -> tuple[str, str] | None:
    """Return the finger that a name means and the word that names it, or None."""
    if any(word in text for word in _TRUNK_WORDS) or "toe" in text or "leg" in words:
        return None
    for word in words:
        digit = word.removesuffix("finger")
        if digit in _DIGIT_WORDS and not (digit == "mid" and any(known in text for known in _KNOWN)):
            return _DIGIT_WORDS[digit], digit
    said = next((word for word in words if word in _FINGERS), None)
    return None if said is None else (_numbered(words, said), said)


def _numbered(words: list[str], word: str) -> str:
    """Return the finger of a number: Biped and 3ds Max count from the thumb as 0, MakeHuman and Rokoko from 1."""
    numbers = words[words.index(word) + 1 :]
    if not numbers or not numbers[0].isdigit():
        return ""
    first = numbers[0]
    from_one = len(numbers) > 1 or word != "finger"  # finger2-1, Finger2Proximal, metacarpal1; but Finger2, Finger21
    k = int(first[0]) - (1 if from_one else 0)
    if from_one and word in ("metacarpal", "carpal"):
        k += 1  # the thumb has none
    return DIGITS[k] if 0 <= k < len(DIGITS) else ""


def _side(parts: list[str]) -> tuple[str, list[str]]:
    """Return the side in the parts of a name, and the parts without it."""
    for k, part in enumerate(parts):
        if part in SIDES:
            return part, parts[:k] + parts[k + 1 :]
    for k, part in enumerate(parts):
        for side in SIDES:
            if part == side[0]:
                return side, parts[:k] + parts[k + 1 :]
            if part[0] == side[0] and _begins(part[1:]) and not _begins(part):
                return side, [*parts[:k], part[1:], *parts[k + 1 :]]
            if part.startswith(side) and len(part) > len(side):
                return side, [*parts[:k], part[len(side) :], *parts[k + 1 :]]
    return "", parts


def _begins(word: str) -> bool:
    """Return whether a word begins with the name of a part."""
    return word.startswith((*LIMBS, *_KNOWN, *_FINGERS, "thumb", "index", "middle"))
