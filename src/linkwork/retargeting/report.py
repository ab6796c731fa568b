"""The report on a retargeted motion: quality figures, and sentences on what is poor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .likeness import LimbError

OFF = np.radians(12.0)  # largest mean error of a limb's direction that is not reported
INSIDE = 0.1  # largest increase of the share of frames with hands in the body that is not reported
SHAKEN = 1.5  # times the source's jerk: 76 of 84 captured motions have at most 1.44, and 7 of the other 8 flip
ENOUGH = 24  # least number of frames to judge jerk: a few third differences are meaningless
MISSED, SLID, DEEP = 0.02, 0.005, 0.005  # [m]: largest errors of hands, planted feet and soles that are not reported


@dataclass(frozen=True)
class Report:
    """Quality figures of a retargeted motion; printed, they are a few lines.

    Args:
        frames: Number of frames.
        scale: Scale factor of lengths.
        limbs: Angle between the direction of each limb and the source's, by limb.
        missing: Limbs that the source or the target does not have, or whose roles were not found.
        contacts: Number of ground contacts of feet.
        slide: Largest distance along the floor of a planted point of a foot from the middle of its contact [m].
        toe_slide: The same for toes only.
        heel_slide: The same for heels only.
        penetration: Fraction of frames in which a foot is more than 5 mm below the ground.
        depth: Largest depth of a foot below the ground [m].
        hands: Largest distance of a hand, or of a quadruped's paw, from its scaled position [m].
        hands_mean: Mean of these distances [m].
        hands_in_body: Fraction of frames in which a hand is inside the trunk.
        hands_in_body_before: The same for the source.
        jerk: Root mean square jerk of hips, head, hands and ankles over the source's, scaled.
        outside: Number of values outside their limits.
        flips: Number of frames in which a joint flips.
        shaped: Whether feet have shapes; without them, their depth is unknown.
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
        """Mean error of the directions of limbs [rad]."""
        return float(np.mean([limb.mean for limb in self.limbs.values()])) if self.limbs else 0.0

    def wrong(self) -> list[str]:
        """Return phrases on what is poor in the motion; none if it is good."""
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
        """Return the figures in a few lines."""
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
