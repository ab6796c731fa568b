"""A human figure, posed by name.

Twenty-five joints with an adult's range of motion: values by joint name, joint limits and stored poses.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    figure = lw.models.human()
    print(figure, "stored poses:", ", ".join(figure.poses))

    bow = figure.pose(
        {"waist.ry": "30deg", "spine.ry": "20deg", "chest.ry": "15deg", "neck.ry": "20deg"},
        base="stand",
        right_shoulder=("-15deg", "-60deg", 0.0),
        right_elbow="100deg",
    )
    crown = figure.forward(bow, frame="crown")[:3, 3]
    print(f"bowing brings the crown down to {crown[2]:.2f} m, {crown[0]:.2f} m ahead of the hips")

    # A knee does not bend that way. The pose is accepted, and clamp brings it within the limits.
    broken = figure.pose(base="stand", left_knee="-40deg")
    mended = figure.clamp(broken)
    knee = figure.coordinate_index["left_knee"]
    print(f"left knee asked {np.degrees(broken[knee]):.0f} deg, allowed {np.degrees(mended[knee]):.0f} deg")

    poses = [figure.stored_pose(name) for name in ("stand", "t-pose", "wave", "reach")] + [bow]
    lw.draw.strip(poses, linkage=figure, view=(12, -55), path=out / "human_figure.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
