"""A figure walks across the floor.

The feet follow a plan, the hips move at constant speed, and the law of cosines gives the legs. No foot slides.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

SECONDS, STRIDE, STANCE, HEIGHT = 1.1, 1.1, 0.6, 0.93  # two steps [s, m]; share of stance; hip height / leg length


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    figure = lw.models.human(root="floating")
    stand = figure.forward(figure.stored_pose("stand"))
    hip, knee, ankle, ball = (stand[f"left_{name}"][:3, 3] for name in ("thigh", "shin", "tarsus", "ball"))
    thigh, shin, foot = np.linalg.norm(hip - knee), np.linalg.norm(knee - ankle), ankle - ball

    times = np.arange(round(2 * SECONDS * 24) + 1) / 24
    poses = np.repeat(figure.stored_pose("stand")[None], len(times), axis=0)
    column = figure.coordinate_index
    x = STRIDE * times / SECONDS
    z = HEIGHT * (thigh + shin) + ankle[2] + 0.015 * np.cos(4 * np.pi * (times / SECONDS - 0.3))
    poses[:, column["root.x"]] = x - x.mean()
    poses[:, column["root.z"]] += z - hip[2]
    for side, shift in (("left", 0.0), ("right", 0.5)):
        steps, phase = np.divmod(times / SECONDS + shift, 1.0)
        swing = np.clip((phase - STANCE) / (1 - STANCE), 0, 1)
        carried = swing - np.sin(2 * np.pi * swing) / (2 * np.pi)  # from 0 to 1, at rest at both ends
        ahead = STRIDE * (steps - shift + STANCE / 2 + carried) + ball[0] - hip[0]
        pitch = np.radians(45) * np.interp(phase, [0, 0.3, 0.6, 0.66, 0.95, 1], [0, 0, 0.8, 1, 0, 0])  # the heel rises
        dx = ahead - x + foot[0] * np.cos(pitch) + foot[2] * np.sin(pitch)  # from the hip to the ankle
        dz = 0.06 * np.sin(np.pi * swing) ** 2 - foot[0] * np.sin(pitch) + foot[2] * np.cos(pitch) + ball[2] - z
        far = np.minimum(np.hypot(dx, dz), 0.9995 * (thigh + shin))
        bend = np.pi - np.arccos((thigh**2 + shin**2 - far**2) / (2 * thigh * shin))
        lift = np.arctan2(-dx, -dz) - np.arccos((thigh**2 + far**2 - shin**2) / (2 * thigh * far))
        arm = np.cos(2 * np.pi * (times / SECONDS + shift))
        angles = {"hip.ry": lift, "knee": bend, "ankle.first": pitch - lift - bend, "toes": 0.8 * pitch,
                  "shoulder.ry": 0.05 + 0.4 * arm, "elbow": 0.4 - 0.2 * arm}  # fmt: skip
        for name, values in angles.items():
            poses[:, column[f"{side}_{name}"]] = values
    clip = lw.Clip(figure, times, figure.clamp(poses))

    balls = clip.forward(frame="left_ball")[:, :3, 3]
    planted = times[1:] / SECONDS % 1 - 1 / 24 / SECONDS
    slide = np.linalg.norm(np.diff(balls, axis=0), axis=1)[(planted > 0) & (planted < STANCE - 0.06)].max()
    print(
        f"{np.ptp(x):.2f} m at {STRIDE / SECONDS:.2f} m/s; a planted foot slides at most {1e3 * slide:.3f} mm a frame"
    )
    lw.draw.film(clip, out / "walking.html", trail="crown", title="A walk")
    lw.draw.film(clip, out / "walking.png", frames=4, trail="left_ball", view=(8, -80))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
