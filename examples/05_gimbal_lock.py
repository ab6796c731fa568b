"""Gimbal lock with Euler angles, none with a quaternion.

Tilt a ball joint to 90 degrees. With Euler angles it loses one direction of rotation; with a quaternion it does not.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    tilt = np.radians(np.linspace(0, 180, 361))
    zero = np.zeros_like(tilt)
    sockets = {
        "Euler angles, x y z": (lw.Ball("XYZ"), np.stack([zero, tilt, zero], axis=-1)),
        "quaternion": (lw.Ball(), np.stack([np.cos(tilt / 2), zero, np.sin(tilt / 2), zero], axis=-1)),
    }
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    curve, sight = figure.subplots(1, 2, width_ratios=[1.5, 1])
    circle = np.linspace(0, 2 * np.pi, 200)
    for (name, (ball, q)), color in zip(sockets.items(), ("tab:red", "tab:blue"), strict=True):
        joint = lw.Builder("socket").joint("ball", "stick", ball).build()
        turning = joint.jacobian(q, "stick")[:, 3:]  # angular velocity of the stick for each rate of the joint
        weakest = np.linalg.svd(turning, compute_uv=False)[:, -1]
        print(f"{name:20} least {weakest.min():.3f}, most {weakest.max():.3f}")
        curve.plot(np.degrees(tilt), weakest, color=color, label=name)
        for k in (0, 60, 120, 180):  # joint rates of norm one, as angular velocities about x and z
            axes, sizes, _ = np.linalg.svd(turning[k][[0, 2]])
            sight.plot(*((axes * sizes) @ [np.cos(circle), np.sin(circle)]), color=color, alpha=0.25 + k / 240)
    curve.set(xlabel="tilt: the middle angle [deg]", ylabel="turning left in the hardest direction")
    curve.set(xticks=range(0, 181, 45))
    curve.legend()
    sight.set(xlabel="turning about x", ylabel="turning about z", title="at 0, 30, 60 and 90 deg", aspect="equal")
    figure.savefig(out / "gimbal_lock.png", dpi=110)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
