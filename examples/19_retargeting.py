"""A motion transferred to other bodies.

The motion of an adult is written as BVH, read like motion capture, and retargeted to a child and to a robot arm.
"""

import sys
from pathlib import Path

import linkwork as lw
from linkwork.retargeting import retarget_with_report


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    lw.models.motion("human:floating").save(out / "grown_up.bvh")
    captured = lw.load_clip(out / "grown_up.bvh")
    print(captured)

    outcome = retarget_with_report(captured, lw.models.human(height=1.2))
    for role, link, found_by in outcome.source.table()[:4]:
        print(f"{role} of the source is {link}, by its {found_by}")
    clip = outcome.clip
    clip.save(out / "child.glb")

    arm = lw.retarget(captured, lw.models.panda(), role="right_hand")
    print(f"the arm follows the right hand for {arm.times[-1]:.1f} s")

    frames = [0, 11, 22, 33, 44]
    lw.draw.strip(captured, frames=frames, view=(12, -55), path=out / "grown_up.png")
    lw.draw.strip(clip, frames=frames, view=(12, -55), path=out / "child.png")
    lw.draw.strip(arm, frames=frames, view=(20, -55), trail="tip", path=out / "arm.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
