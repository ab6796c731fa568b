"""From the start of a process to its first answer: wall time and peak memory, compared with other libraries.

Each program runs in a new process, in turns (A B C A B C ...), after one run that does not count, so that bytecode and
files are cached as after an installation. Time ends with the process. Peers solve one goal of a Panda, from the same
URDF file if they read one, and check their answer; a peer that is not installed is left out.

    python benchmarks/start.py [--rounds 9] [--json] [--no-write]
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from results import arguments, publish, say

SECTION = "start"
MEGABYTE = 1024.0  # ru_maxrss counts kilobytes on Linux
POSE = [0.0, -0.7, 0.0, -2.3, 0.0, 1.6, 0.8]  # the pose of the goal
NEAR = [0.1, -0.5, 0.1, -2.1, 0.1, 1.8, 0.6]  # start pose of libraries that need one
CLOSE = "1e-4"

# A Panda without shapes, which libraries read differently; MuJoCo needs masses.
MAKE_URDF = """
import re, sys, linkwork as lw
path = sys.argv[1]
lw.save(lw.models.panda(), path)
text = re.sub(r"<visual>.*?</visual>", "", open(path).read(), flags=re.DOTALL)
mass = '<mujoco><compiler fusestatic="false" boundmass="1e-6" boundinertia="1e-9"/></mujoco></robot>'
open(path, "w").write(text.replace("</robot>", mass))
"""


class Program(NamedTuple):
    """A program that a process runs.

    Attributes:
        title: Title in the table.
        words: Command-line arguments of ``python``.
        package: Package that it needs; without it, the program is left out.
        seconds: Bound on the time of linkwork.
        megabytes: Bound on the memory of linkwork.
    """

    title: str
    words: list[str]
    package: str = "linkwork"
    seconds: float | None = None
    megabytes: float | None = None


OURS = f"""
import linkwork as lw
arm = lw.models.panda()
target = arm.forward({POSE}, frame="tip")
assert lw.solve(arm, lw.Reach("tip", pose=target))
"""

OURS_FROM_FILE = f"""
import sys, linkwork as lw
arm = lw.load(sys.argv[1])
target = arm.forward({POSE}, frame="panda_link8")
assert lw.solve(arm, lw.Reach("panda_link8", pose=target))
"""

OUR_BODY = """
import linkwork as lw
body = lw.models.human(root="floating")
hands = [lw.Reach(f"{side}_hand", position=(0.3, y, 1.2)) for side, y in (("left", 0.2), ("right", -0.2))]
feet = [lw.Hold("left_foot"), lw.Hold("right_foot")]
assert lw.solve(body, [*hands, *feet, lw.Balance()], start="stand")
"""

PINOCCHIO = f"""
import sys, numpy as np, pinocchio as pin
model = pin.buildModelFromUrdf(sys.argv[1])
data, frame, q = model.createData(), model.getFrameId("panda_link8"), np.array({NEAR})
pin.framesForwardKinematics(model, data, np.array({POSE}))
target = data.oMf[frame].copy()
for _ in range(100):
    pin.framesForwardKinematics(model, data, q)
    error = pin.log(data.oMf[frame].actInv(target)).vector
    if np.linalg.norm(error) < {CLOSE}:
        break
    J = pin.computeFrameJacobian(model, data, q, frame)
    q = pin.integrate(model, q, J.T @ np.linalg.solve(J @ J.T + 1e-9 * np.eye(6), error))
assert np.linalg.norm(error) < {CLOSE}
"""

TOOLBOX = f"""
import roboticstoolbox as rtb
arm = rtb.models.Panda()
assert arm.ik_LM(arm.fkine({POSE}), q0={NEAR}).success
"""

MINK = f"""
import sys, numpy as np, mink, mujoco
robot = mink.Configuration(mujoco.MjModel.from_xml_path(sys.argv[1]), np.array({POSE}))
task = mink.FrameTask("panda_link8", "body", 1.0, 1.0, lm_damping=1e-6)
task.set_target(robot.get_transform_frame_to_world("panda_link8", "body"))
robot.update(np.array({NEAR}))
for _ in range(100):
    robot.integrate_inplace(mink.solve_ik(robot, [task], 1.0, "daqp", damping=1e-6), 1.0)
    if np.linalg.norm(task.compute_error(robot)) < {CLOSE}:
        break
assert np.linalg.norm(task.compute_error(robot)) < {CLOSE}
"""

PINK = f"""
import sys, numpy as np, pink, pinocchio as pin
from pink.tasks import FrameTask
model = pin.buildModelFromUrdf(sys.argv[1])
there, robot = (pink.Configuration(model, model.createData(), np.array(q)) for q in ({POSE}, {NEAR}))
task = FrameTask("panda_link8", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
task.set_target(there.get_transform_frame_to_world("panda_link8"))
for _ in range(100):
    robot.integrate_inplace(pink.solve_ik(robot, [task], 1.0, solver="daqp", safety_break=False), 1.0)
    if np.linalg.norm(task.compute_error(robot)) < {CLOSE}:
        break
assert np.linalg.norm(task.compute_error(robot)) < {CLOSE}
"""

PLACO = f"""
import sys, placo
robot = placo.RobotWrapper(sys.argv[1], placo.Flags.ignore_collisions)
solver, places = placo.KinematicsSolver(robot), []
for pose in ({POSE}, {NEAR}):
    for k, value in enumerate(pose):
        robot.set_joint(f"panda_joint{{k + 1}}", value)
    robot.update_kinematics()
    places.append(robot.get_T_world_frame("panda_link8"))
solver.mask_fbase(True)
task = solver.add_frame_task("panda_link8", places[0])
task.configure("panda_link8", "soft", 1.0, 1.0)
solver.add_regularization_task(1e-9)
for _ in range(100):
    solver.solve(True)
    robot.update_kinematics()
    if task.position().error_norm() + task.orientation().error_norm() < {CLOSE}:
        break
assert task.position().error_norm() + task.orientation().error_norm() < {CLOSE}
"""

EAIK = f"""
import sys, numpy as np
from eaik.IK_URDF import UrdfRobot
robot = UrdfRobot(sys.argv[1], [(6, {POSE[6]})])
assert robot.IK(robot.fwdKin(np.array({POSE}))).num_solutions()
"""

SSIK = f"""
import numpy as np
from ssik import Manipulator
arm = Manipulator.from_prebuilt("panda")
assert arm.solve(arm.fk(np.array({POSE})))
"""


def programs(urdf: str) -> list[Program]:
    solve = ["-m", "linkwork", "solve", "panda", "--position", "0.5,0,0.4"]
    return [
        Program("`import numpy`, for comparison", ["-c", "import numpy"], "numpy"),
        Program("linkwork: `lw.models.panda()`, `lw.solve`", ["-c", OURS], seconds=0.25, megabytes=80.0),
        Program("linkwork: `lw.load` of a URDF file, `lw.solve`", ["-c", OURS_FROM_FILE, urdf]),
        Program("linkwork: a whole body, five goals", ["-c", OUR_BODY], seconds=0.3),
        Program("`linkwork info panda`", ["-m", "linkwork", "info", "panda"], seconds=0.25),
        Program("`linkwork solve panda --position 0.5,0,0.4`", solve, seconds=0.35),
        Program("Pinocchio: damped steps", ["-c", PINOCCHIO, urdf], "pin"),
        Program("PlaCo", ["-c", PLACO, urdf], "placo"),
        Program("mink", ["-c", MINK, urdf], "mink"),
        Program("pink", ["-c", PINK, urdf], "pin-pink"),
        Program("EAIK, one joint locked", ["-c", EAIK, urdf], "eaik"),
        Program("ssik, its prebuilt arm", ["-c", SSIK], "ssik"),
        Program("Robotics Toolbox, its own Panda", ["-c", TOOLBOX], "roboticstoolbox-python"),
    ]


def release(package: str) -> str | None:
    """Return the version of a package, or None if it is not installed; linkwork may only be on the path."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "as here" if package == "linkwork" else None


def timed(program: Program, environment: dict[str, str]) -> tuple[float, float]:
    """Return the time of a process [s] and its peak memory [MB]."""
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *program.words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        said = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{program.title} failed:\n{said.decode(errors='replace')}")
    return seconds, usage.ru_maxrss / MEGABYTE


def run(*, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        urdf, environment = str(Path(folder, "panda.urdf")), dict(os.environ)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = folder
        subprocess.run([sys.executable, "-c", MAKE_URDF, urdf], env=environment, check=True, stderr=subprocess.DEVNULL)
        there = [one for one in programs(urdf) if release(one.package) is not None]
        missing = sorted({one.package for one in programs(urdf)} - {one.package for one in there})
        for program in there:
            say(f"{program.title}: {timed(program, environment)[0]:.2f} s at first")
        turns = [[timed(program, environment) for program in there] for _ in range(rounds)]
        asked = "from linkwork.kernels.runtime import warm; print(warm().said)"
        kernels = subprocess.run(
            [sys.executable, "-c", asked], env=environment, capture_output=True, text=True, encoding="utf-8"
        ).stdout
    rows = []
    for k, program in enumerate(there):
        seconds, memory = zip(*(turn[k] for turn in turns), strict=True)
        measured = {"best": min(seconds), "median": statistics.median(seconds), "megabytes": max(memory)}
        held = {"seconds": program.seconds, "most_megabytes": program.megabytes}
        rows.append({"title": program.title, "package": program.package, **measured, **held})
    versions = {one.package: release(one.package) for one in there}
    return {"rows": rows, "missing": missing, "rounds": rounds, "versions": versions, "kernels": kernels.strip()}


def verdicts(found: dict[str, Any]) -> list[str]:
    """Return the bounds and whether they are met."""
    lines = []
    for row in found["rows"]:
        if row["seconds"] is not None:
            met = "met" if row["best"] <= row["seconds"] else "MISSED"
            lines.append(f"- {met}: {row['title']} in less than {row['seconds']:g} s; here {row['best']:.3f}")
        if row["most_megabytes"] is not None:
            met = "met" if row["megabytes"] <= row["most_megabytes"] else "MISSED"
            lines.append(
                f"- {met}: {row['title']} in less than {row['most_megabytes']:g} MB; here {row['megabytes']:.0f}"
            )
    return lines


def section(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items() if number != "as here")
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    lines = [
        "## The first answer of a process", "",
        f"{date.today()}, {machine}; {versions}.",
        f"Made by `python benchmarks/start.py`: {found['rounds']} rounds. Kernels of linkwork: {found['kernels']}.", "",
        "From the start of a process to its end, with all files cached: one goal of a Panda, or as stated.", "",
        "| process | best [s] | median [s] | peak memory [MB] |",
        "|---|---:|---:|---:|",
    ]  # fmt: skip
    for row in found["rows"]:
        lines.append(f"| {row['title']} | {row['best']:.3f} | {row['median']:.3f} | {row['megabytes']:.0f} |")
    gone = [f"Not installed, so not measured: {', '.join(found['missing'])}.", ""] if found["missing"] else []
    return "\n".join([*lines, "", *gone, *verdicts(found)])


def main() -> None:
    if not hasattr(os, "wait4"):
        raise SystemExit("this system does not report the memory of a process; use Linux or macOS.")
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="processes per program")
    options = parser.parse_args()
    found = run(rounds=options.rounds)
    publish(SECTION, section(found), found, options)


if __name__ == "__main__":
    main()
