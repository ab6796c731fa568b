"""Smoke test of an installed wheel. Run it with the Python of an environment, in an empty folder.

    python -I release/smoke.py

It needs only what `pip install linkwork` installs. With matplotlib it draws a picture; without it, the error must say
what to install. The last line lists what was run; a failure is a traceback and a nonzero exit code.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import linkwork as lw


def check(true: bool, what: str) -> None:
    """Raise an error if a statement is false."""
    if not true:
        raise RuntimeError(f"not true: {what}")


def package() -> None:
    """Check that the package is the installed one, with version and types."""
    place = Path(lw.__file__).resolve()
    check(place.is_relative_to(Path(sysconfig.get_path("purelib")).resolve()), f"{place} is installed")
    check(importlib.metadata.version("linkwork") == lw.__version__, "metadata and package have one version")
    check((place.parent / "py.typed").exists(), "types are there")


def solve() -> None:
    """Check that a goal is reached with machine code from the pack, and that a failure is explained."""
    arm = lw.models.panda()
    target = arm.forward("reach", frame="tip")
    solution = lw.solve(arm, lw.Reach("tip", pose=target))
    check(solution.success, "a Panda reaches")
    check(bool(np.allclose(arm.forward(solution.q, frame="tip"), target, atol=1e-5)), "its tip is at the goal")
    check("numba" not in sys.modules, "kernels come from the pack")
    far = lw.solve(arm, lw.Reach("tip", position=(3.0, 0.0, 0.0)))
    check(not far.success and "reach" in far.explain(), "a goal too far away is reported as out of reach")


def batch() -> None:
    """Check a batch of a thousand goals."""
    arm = lw.models.panda()
    tips = arm.forward(arm.random_pose(0, 1000), frame="tip")
    answers = lw.solve_batch(arm, "tip", tips)
    check(bool(answers.success.all()), "a thousand goals are reached")
    check(bool(np.allclose(arm.forward(answers.q, frame="tip"), tips, atol=1e-4)), "all tips are at their goals")


def files() -> None:
    """Check that a linkage and a motion can be written and read."""
    arm = lw.models.panda()
    q = arm.poses["reach"]
    for name in ("panda.yaml", "panda.urdf", "panda.json"):
        lw.save(arm, name)
        tip = lw.load(name).forward(q, frame="tip")
        check(bool(np.allclose(tip, arm.forward(q, frame="tip"), atol=1e-9)), f"{name} is the arm that was written")
    clip = lw.interpolate(arm, [(0.0, "ready"), (1.0, "reach")], fps=24)
    clip.save("reach.glb")
    check(len(lw.load_clip("reach.glb").times) == len(clip.times), "reach.glb has all frames")


def draw() -> None:
    """Check a page with a linkage to drag, and a picture or the error that says what to install."""
    arm = lw.models.human()
    lw.draw.page(arm, "human.html")
    check("linkwork-view" in Path("human.html").read_text(encoding="utf-8"), "the page has a view")
    try:
        lw.draw.pose(arm, path="human.png")
    except ImportError as error:
        check(importlib.util.find_spec("matplotlib") is None, "matplotlib is used if installed")
        check("linkwork[plot]" in str(error), "the error says what to install for pictures")
    else:
        check(Path("human.png").read_bytes().startswith(b"\x89PNG"), "a picture is drawn")


def command() -> None:
    """Check the command, as a script and as a module."""
    script = next(Path(sysconfig.get_path("scripts")).glob("linkwork*"))
    for line in ([str(script)], [sys.executable, "-I", "-m", "linkwork"]):
        said = subprocess.run([*line, "--version"], check=True, capture_output=True, text=True, encoding="utf-8")
        check(lw.__version__ in said.stdout, "the command has the version of the package")
        run = [*line, "solve", "planar:15,10,5", "--position=-20,5", "--json"]
        answer = subprocess.run(run, check=True, capture_output=True, text=True, encoding="utf-8")
        check(json.loads(answer.stdout)["success"] is True, "the command solves")


STEPS = (package, solve, batch, files, draw, command)


def main() -> Iterator[str]:
    """Run all steps in this folder, and yield the name of each that passes."""
    for step in STEPS:
        step()
        yield step.__name__


if __name__ == "__main__":
    print(f"linkwork {lw.__version__}, Python {sys.version.split()[0]}:", *main())
