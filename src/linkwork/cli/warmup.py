"""The command that compiles all kernels ahead."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .commands import command
from .console import print_json, progress
from .options import AsJson

if TYPE_CHECKING:
    from ..motion.clips import Clip


def compile_steps() -> None:
    """Compile forward kinematics, Jacobians and all methods that go step by step."""
    from .. import goals, models, solvers

    arm = models.planar([1.0, 1.0])
    goal = goals.Reach("tip", position=(1.0, 1.0))
    for q in (arm.neutral(), [arm.neutral()] * 2):  # one pose and many have kernels of their own
        arm.forward(q)
        arm.forward(q, frame="tip")
        arm.jacobian(q, "tip")
        for method in solvers.METHODS:
            if method != "robust":
                solvers.solve(arm, goal, start=q, method=method, max_iterations=2)


def compile_search() -> None:
    """Compile the search of the robust method and control cycles: for one goal, for many and for whole bodies."""
    from .. import goals, models, solvers
    from ..solvers import batch

    arm = models.planar([1.0, 1.0])
    solvers.solve(arm, goals.Reach("tip", position=(1.0, 1.0)), start=arm.neutral(), method="robust")
    target = arm.forward([[0.5, 1.0]] * 2, frame="tip")
    ik = solvers.prepare(arm, "tip")
    ik(target[0])
    ik.step(target[0], arm.neutral(), 0.01)
    far = target[0].copy()
    far[0, 3] = 9.0
    ik(far, start=arm.neutral())  # out of reach: the closest pose has a kernel of its own
    for precision in ("float64", "float32"):
        batch.solve_batch(arm, "tip", target, dtype=precision)
    several = [goals.Reach("tip", position=(1.0, 1.0)), goals.Rest()]
    solvers.solve(arm, several, start=arm.neutral(), method="robust")
    solvers.prepare(arm, several).step(several, arm.neutral(), 0.01)


def compile_motion() -> None:
    """Compile what a motion of a whole body is solved with."""
    from .. import models, retargeting
    from ..motion.clips import Clip

    body = models.human(root="floating")
    stand = Clip(body, [0.0], body.stored_pose("stand")[None])  # type: ignore[arg-type]
    retargeting.retarget(stand, models.human(root="floating", height=1.2))
    compile_film(Clip(body, [0.0, 0.1], [stand.poses[0], stand.poses[0]]))  # type: ignore[arg-type]


def compile_film(clip: Clip) -> None:
    """Compile what solids are drawn with."""
    from .. import draw

    with tempfile.TemporaryDirectory() as folder:
        draw.film(clip, Path(folder) / "film.gif", size=(0.5, 0.5))


@command("warmup")
def warmup(as_json: AsJson = False) -> None:
    """Compile all kernels now, not at their first use."""
    start = time.perf_counter()
    code = f"from {__name__} import compile_search; compile_search()"
    with (
        progress("compiling") as shown,
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as other,  # on a second core
    ):
        try:
            for k, part in enumerate((compile_steps, compile_motion)):
                shown(k / 3, f"part {k + 1} of 3")
                part()
            shown(2 / 3, "part 3 of 3")
            other.wait()
        except BaseException:
            other.kill()
            raise
        compile_search()  # finds what the other process has kept; compiles it only where nothing could be kept
    seconds = time.perf_counter() - start
    if as_json:
        print_json({"seconds": seconds})
    else:
        print(f"kernels are ready; it took {seconds:.1f} s")
