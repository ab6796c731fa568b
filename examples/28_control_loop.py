"""An arm in a control loop, simulated.

MuJoCo simulates an arm with motors for ten seconds. A hundred times per second, `ik.step` returns the next joint values
and a status. The target moves along a closed curve that leads out of reach and back.
"""

import sys
from collections import Counter
from pathlib import Path

import mujoco
import numpy as np

import linkwork as lw

LINKS = [("turn", "z", 0.0, 170), ("lift", "y", 0.3, 100), ("bend", "y", 0.4, 140), ("roll", "x", 0.15, 170)]
LINKS += [("tilt", "y", 0.2, 110), ("spin", "x", 0.1, 170)]
DT, AXES = 0.01, {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}


def model() -> str:
    """Return the arm as a MuJoCo model: six joints, each with a motor that holds a position."""
    body, motors = '<geom size="0.02" mass="0.2"/><site name="tool" pos="0.1 0 0"/>', ""
    for name, axis, at, limit in reversed(LINKS):
        shape = f'<geom type="capsule" fromto="0 0 0 {max(at, 0.1):.2f} 0 0" size="0.03" mass="1"/>'
        joint = f'<joint name="{name}" axis="{AXES[axis]}" range="{-limit} {limit}" damping="8" armature="0.1"/>'
        where = "0 0 0.3" if name == "turn" else f"{at} 0 0"
        body = f'<body name="{name}_link" pos="{where}">{joint}{shape}{body}</body>'
        motors = f'<position joint="{name}" kp="900" ctrllimited="false"/>' + motors
    flags = '<option timestep="0.002"><flag contact="disable"/></option><compiler angle="degree" autolimits="true"/>'
    return f'<mujoco model="arm">{flags}<worldbody>{body}</worldbody><actuator>{motors}</actuator></mujoco>'


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    text = model()
    arm, plant = lw.loads(text, "mjcf"), mujoco.MjModel.from_xml_string(text)
    robot, ik, start = mujoco.MjData(plant), lw.prepare(arm, "tool"), np.radians([0.0, -40.0, 80.0, 0.0, 40.0, 0.0])
    robot.qpos[:] = start
    here, said, poses, off = arm.forward(start, frame="tool"), Counter[str](), [], []
    step = ik.step(here, start, DT)
    for cycle in range(1000):
        phase = 2.0 * np.pi * cycle * DT / 5.0
        target = here.copy()
        target[:2, 3] += [0.25 * np.sin(phase), 0.25 * np.sin(2.0 * phase)]
        step = ik.step(target, step, DT, velocity=3.0)
        robot.ctrl[:] = step
        mujoco.mj_step(plant, robot, 5)
        said[step.status] += 1
        poses.append(robot.qpos.copy())
        off.append(float(np.linalg.norm(arm.forward(poses[-1], frame="tool")[:3, 3] - target[:3, 3])))
    clip = lw.Clip(arm, np.arange(0.0, 10.0, DT), np.array(poses))
    print(f"{dict(said)}; the tool is {1e3 * np.median(off):.1f} mm off (median) while the motors follow")
    lw.draw.film(clip.resample(fps=20), out / "control_loop.html", trail="tool", title="An arm in a control loop")
    lw.draw.film(clip, out / "control_loop.png", frames=4, trail="tool", view=(20, -60))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
