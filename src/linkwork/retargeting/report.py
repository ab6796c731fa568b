"""The report of a retargeted motion: numbers that say how good it is, and words for what is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .likeness import LimbError

OFF = np.radians(12.0)  # a limb that is off by more on average is wrong
INSIDE = 0.1  # of the frames: hands that are in the body in that many more than the source's are wrong
SHAKEN = 1.5  # times the source's jerk: 76 of 84 captured motions have at most 1.44, and 7 of the other 8 flip
ENOUGH = 24  # frames from which on jerk is judged: a few third differences say nothing
MISSED, SLID, DEEP = 0.02, 0.005, 0.005  # [m]: hands, planted feet and soles that are off by more are wrong


@dataclass(frozen=True)
class Report:
    """Numbers that say how well a motion was retargeted; printed, they are a few lines.

    Args:
        frames: Number of frames.
        scale: What lengths were multiplied by.
        limbs: How far the direction of each limb is from the source's, by limb.
        missing: Limbs that the source or the target does not have, or whose roles were not found.
        contacts: How many times a foot was planted.
        slide: Farthest that a planted point of a foot is, along the floor, from where it was planted [m].
        toe_slide: The same of toes alone.
        heel_slide: The same of heels alone.
        penetration: Share of frames in which a foot is more than 5 mm below the ground.
        depth: How far below the ground a foot is at worst [m].
        hands: Farthest that a hand, or a paw of four, is from its scaled place [m].
        hands_mean: The same on average.
        hands_in_body: Share of frames in which a hand is inside the trunk.
        hands_in_body_before: The same of the source.
        jerk: Root mean square jerk of hips, head, hands and ankles over the source's, scaled.
        outside: How many values are outside their limits.
        flips: How many frames a joint flips in.
        shaped: Whether feet have shapes; without them nothing tells how deep they are.
    """

    frames: int
    scale: float
    limbs: Mapping[str, LimbError]
    missing: tuple[str, ...]
    contacts: int
    slide: float
    toe_slide: float
    heel_slide: float
    penetration: float
    depth: float
    hands: float
    hands_mean: float
    hands_in_body: float
    hands_in_body_before: float
    jerk: float
    outside: int
    flips: int
    shaped: bool = True

    @property
    def direction(self) -> float:
        """How far limbs are off on average [rad]."""
        return float(np.mean([limb.mean for limb in self.limbs.values()])) if self.limbs else 0.0

    def wrong(self) -> list[str]:
        """Return what is too bad in the motion to be called good, in words; nothing if it is good."""
        words = [
            f"the {limb.replace('_', ' ')} is {np.degrees(error.mean):.0f} degrees off on average,"
            f" {np.degrees(error.worst):.0f} in frame {error.frame}"
            for limb, error in self.limbs.items()
            if error.mean > OFF
        ]
        if self.hands > MISSED:
            words.append(f"hands are off their scaled paths by {100.0 * self.hands:.2g} cm at worst")
        if self.slide > SLID:
            words.append(f"planted feet slide by {1000.0 * self.slide:.2g} mm")
        if self.depth > DEEP:
            words.append(
                f"feet are up to {1000.0 * self.depth:.2g} mm below the ground, {self.penetration:.0%} of the time"
            )
        if self.hands_in_body > self.hands_in_body_before + INSIDE:
            here, before = self.hands_in_body, self.hands_in_body_before
            words.append(f"hands are in the body {here:.0%} of the time, those of the source {before:.0%}")
        if self.jerk > SHAKEN and self.frames >= ENOUGH:
            words.append(f"it has {self.jerk:.2g} times the source's jerk")
        if self.flips:
            words.append(f"joints flip in {self.flips} frames" if self.flips > 1 else "a joint flips in 1 frame")
        if self.outside:
            words.append(f"{self.outside} values are outside their limits")
        return words

    def summary(self) -> str:
        """Return what was measured in a few lines."""
        rows = [f"{self.frames} frames, scaled by {self.scale:.3g}"]
        if self.limbs:
            name, worst = max(self.limbs.items(), key=lambda item: item[1].mean)
            rows.append(
                f"limbs {np.degrees(self.direction):.1f} degrees off on average; worst the {name.replace('_', ' ')},"
                f" {np.degrees(worst.mean):.1f} ({np.degrees(worst.worst):.0f} in frame {worst.frame})"
            )
        if self.contacts:
            deep = (
                f"feet at most {1000.0 * self.depth:.2g} mm below the ground" if self.shaped else "feet have no shapes"
            )
            rows.append(
                f"{self.contacts} footsteps that slide {1000.0 * self.slide:.2g} mm at most (toes"
                f" {1000.0 * self.toe_slide:.2g}, heels {1000.0 * self.heel_slide:.2g}); {deep}"
            )
        rows.append(
            f"hands within {100.0 * self.hands:.2g} cm, in the body {self.hands_in_body:.0%} of the time (source"
            f" {self.hands_in_body_before:.0%})"
        )
        kept = "limits kept" if not self.outside else f"{self.outside} values outside their limits"
        flips = f"{self.flips} flips" if self.flips else "no flips"
        rows.append(f"jerk {self.jerk:.2g} times the source's; {kept}; {flips}")
        if self.missing:
            rows.append(f"not compared, since one of the two lacks them: {', '.join(self.missing)}")
        return "\n".join(rows)

    def __str__(self) -> str:
        return "\n".join([self.summary(), *(f"poor: {words}" for words in self.wrong())])
