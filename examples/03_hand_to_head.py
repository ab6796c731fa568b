"""From hand to head.

A point in the frame of one hand is converted to the frames of the eyes, the other hand and the world.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    figure = lw.models.human()
    q = figure.stored_pose("reach")
    pencil = [0.0, 0.0, -0.12]  # tip of a pencil in the right hand, in the frame of that hand
    for target in ("right_hand", "eyes", "left_hand", "world"):
        x, y, z = figure.convert(pencil, q, source="right_hand", target=target)
        print(f"in the frame of {target:10}  ({x:6.3f}, {y:6.3f}, {z:6.3f})")

    # By hand: adjacent names of transforms cancel.
    world_from_hand = figure.forward(q, frame="right_hand")
    world_from_eyes = figure.forward(q, frame="eyes")
    eyes_from_hand = np.linalg.inv(world_from_eyes) @ world_from_hand
    seen = eyes_from_hand @ [*pencil, 1.0]
    print("by hand, in the frame of eyes:", seen[:3].round(3).tolist())

    lw.draw.pose(figure, q, frames=["right_hand", "eyes", "left_hand"], path=out / "hand_to_head.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
