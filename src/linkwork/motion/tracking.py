"""Solve a series of goals, so that the end effector follows a prescribed path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..errors import GoalError, OptionError
from ..explain.lost_directions import bent_starts, is_singular_for
from ..goals import Avoid, Goal, Reach, as_avoid, with_avoid
from ..goals.avoid import AvoidLike
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from ..solvers import Method, Problem, configure, group_of
from ..solvers.groups import Joints, Weights
from ..solvers.iterate import follow, settled
from ..solvers.options import Settings, SolveOptions, positive, whole
from ..solvers.walking import targets_of, walk_for
from ..transforms import FloatArray
from .between_frames import judged_between
from .clips import Clip
from .following import can_follow, follow_path
from .lookahead import choose, single_reach
from .paths import line
from .splines import steady_signs

Goals = Goal | Sequence[Goal]
BENDS = 4  # number of bent starts to try if no start is given


def track(
    linkage: Linkage,
    goals: Goals | Sequence[Goals] | Callable[[float], Goals],
    *,
    fps: float = 24.0,
    frames: int | None = None,
    method: str | Method = "damped",
    start: PoseLike | None = None,
    steps: int | None = None,
    lookahead: bool = False,
    avoid: AvoidLike = None,
    joints: Joints | None = None,
    weights: Weights | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[SolveOptions],
) -> Clip:
    """Return the motion that follows goals over time, each solved from the pose before.

    `damped` and `robust` follow without a jump: a joint turns by less than 0.5 rad per frame unless the goals are far
    apart. At a dead end, the frames before are moved to another motion that continues, if there is one `Reach` per
    frame. If there is no such motion, `damped` comes as near as it can and `robust` jumps to another solution, if there
    is one; see ``clip.residuals`` and ``clip.jumps``. With other methods each frame is solved from the pose before.

    Args:
        linkage: The linkage.
        goals: A goal or list of goals per frame; a function of the time [s]; or one `Reach`, approached in a line.
        fps: Frames per second.
        frames: Number of frames, for a function or a single goal (21 by default).
        method: A method's name.
        start: Pose before the first frame, or its name; by default the neutral pose, with a joint bent if that helps.
        steps: Solver steps per frame (one in the chapter), with the start as frame 0; None solves every frame fully.
        lookahead: Choose among the branches of all frames and the motion found without it, by dynamic programming:
            fewest missed goals, then jumps (0.5 rad or m per frame), then least motion. One `Reach` per frame only.
        avoid: An `Avoid` or `World` to keep clear of, in and between frames; its errors are the last of the residuals.
        joints: Names of the joints that may move, or of a group of them; the others keep the values of the start.
        weights: Cost of moving each joint, as in `solve`.
        progress: Called with the number of frames done and in total.
        **options: As in `solve`.

    Returns:
        The clip; its `residuals` are the errors of each goal, shape (frames, blocks).

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> clip = lw.track(arm, lw.Reach("tip", position=(-20, 5)), start=[0.39, 0.79, 0.79])
        >>> len(clip), bool(clip.residuals.max() < 1e-3)
        (21, True)
    """
    check_linkage(linkage)
    q, apart = start_pose(linkage, start), as_avoid(avoid)
    series = _clear(_series(linkage, goals, q, fps, frames), apart)
    chosen, settings = configure(method, options, linkage)
    problem = Problem(linkage, series[0], q, group_of(linkage, joints, weights))
    series = _single_goals(series, steps, apart) if lookahead else series
    way = _stepped(chosen, settings, problem, series, q, steps, progress)
    way = way or _followed(chosen, settings, problem, series, q, steps, progress)
    if start is None and steps is None and isinstance(goals, Reach):
        way = _from_a_better_start(chosen, settings, problem, goals, way, apart)
    return _clip(linkage, _chosen(problem, settings, way) if lookahead else way, fps, chosen, apart)


class Way(NamedTuple):
    """A start, the goals of all frames, the poses (n, nq) that follow them, and the errors of the goals."""

    start: FloatArray
    series: Sequence[Any]
    poses: FloatArray
    residuals: Sequence[FloatArray] | FloatArray

    def missed(self, problem: Problem, settings: Settings) -> int:
        """Return the number of frames that miss their goals."""
        return int((np.asarray(self.residuals) > settings.tolerances(problem)).any(axis=-1).sum())


def _followed(
    method: Method,
    settings: Settings,
    problem: Problem,
    series: Sequence[Any],
    q: FloatArray,
    steps: int | None,
    progress: Callable[[int, int], None] | None,
) -> Way:
    """Return the motion through the goals from a start."""
    if steps is None and can_follow(method, problem, settings):
        return Way(q, series, *follow_path(method, problem, series, q, settings, progress))
    poses, residuals = [], []
    for pose, errors in _frames(method, settings, problem, series, q, steps):
        poses.append(pose)
        residuals.append(errors)
        if progress is not None:
            progress(len(poses), len(series))
    return Way(q, series, np.stack(poses), residuals)


def _from_a_better_start(
    method: Method, settings: Settings, problem: Problem, goal: Reach, way: Way, avoid: Avoid | None
) -> Way:
    """Return the straight path to a goal from a start with one joint bent, if the start is singular and this is better.

    This applies only to default starts. A stretched arm could leave such a start only by a jump.
    """
    missed = way.missed(problem, settings)
    if not missed or not is_singular_for(problem, way.start):
        return way
    for bent in bent_starts(problem, way.start, keep_limits=settings.keeps_limits)[:BENDS]:
        series = _clear(line(problem.linkage, goal, start=bent.q, frames=len(way.series)), avoid)
        other = _followed(method, settings, problem, series, bent.q, None, None)
        less = other.missed(problem, settings)
        if less < missed:
            way, missed = other, less
        if not missed:
            break
    return way


def _chosen(problem: Problem, settings: Settings, way: Way) -> Way:
    """Return the best motion found by looking ahead; see `lookahead`."""
    poses, aimed = choose(problem, way.series, way.start, way.poses, settings), map(problem.aimed, way.series)
    errors = [one.residuals(one.error(pose)) for one, pose in zip(aimed, poses, strict=True)]
    return way._replace(poses=poses, residuals=errors)


def _clear(series: Sequence[Any], avoid: Avoid | None) -> Sequence[Any]:
    """Return the goals of all frames, with what to avoid added."""
    return series if avoid is None else [with_avoid(goals, avoid) for goals in series]


def _single_goals(series: Sequence[Any], steps: int | None, avoid: Avoid | None) -> list[Any]:
    """Return the single goal of each frame, which looking ahead requires; raise OptionError for unsupported options."""
    if avoid is not None:
        raise OptionError(
            "lookahead chooses among all solutions of one Reach a frame, and ignores obstacles; give either lookahead= "
            "or avoid=."
        )
    if steps is not None:
        raise OptionError("steps solves frames one by one and lookahead all at once; give one of them.")
    return [single_reach(goals) for goals in series]


def _clip(linkage: Linkage, way: Way, fps: float, method: Method, avoid: Avoid | None) -> Clip:
    if not isinstance(way.residuals, np.ndarray) and len({len(row) for row in way.residuals}) != 1:
        raise GoalError("every frame of a track needs goals of the same kinds, so that their errors can be compared.")
    times, poses = np.arange(len(way.poses)) / fps, steady_signs(linkage, way.poses)
    residuals = np.asarray(way.residuals)
    if avoid is not None:
        residuals = judged_between(linkage, poses, avoid, residuals)
    return Clip(linkage, times, poses, residuals, source=f"track, {method.name}")


def _frames(
    method: Method,
    settings: Settings,
    problem: Problem,
    series: Sequence[Any],
    q: FloatArray,
    steps: int | None,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the pose of every frame and the errors of its goals."""
    if steps is not None:
        whole("steps", steps, least=1)
    memory: dict[str, Any] = {}
    complete = settled(settings, method)
    for k, wanted in enumerate(series):
        problem = problem.aimed(wanted)
        if steps is None:
            q = method.solve(problem, q, settings).q
        elif k:
            q = follow(method, problem, q, complete, steps, memory)
        yield q, problem.residuals(problem.error(q))


def _stepped(
    method: Method,
    settings: Settings,
    problem: Problem,
    series: Sequence[Any],
    q: FloatArray,
    steps: int | None,
    progress: Callable[[int, int], None] | None,
) -> Way | None:
    """Return the motion with a number of steps per frame, by the compiled loop; None if it does not support that."""
    walk = None if steps is None else walk_for(method, problem, settled(settings, method))
    if walk is None or steps is None:
        method.accept(problem)
        return None
    whole("steps", steps, least=1)
    make = [goal.signature for goal in walk.goals]
    frames = [(goals,) if isinstance(goals, Goal) else tuple(goals) for goals in series]
    if [goal.signature for goals in frames for goal in goals] != make * len(frames):
        return None
    found = walk.frames(targets_of(frames), q, steps)
    if found is None:
        return None
    if progress is not None:
        for k in range(len(series)):
            progress(k + 1, len(series))
    return Way(q, series, *found)


def _series(linkage: Linkage, goals: Any, q: Any, fps: float, frames: int | None) -> list[Any]:
    """Return one goal, or list of goals, for every frame."""
    positive("fps", fps, finite=True)
    if frames is not None:
        whole("frames", frames, least=1)
    if isinstance(goals, Goal):
        if not isinstance(goals, Reach):
            raise GoalError("a single goal is approached in a straight line only if it is a Reach.")
        return list(line(linkage, goals, start=q, frames=21 if frames is None else frames))
    if callable(goals):
        if frames is None:
            raise GoalError("a path given as a function of time needs frames=, the number of frames.")
        return [goals(k / fps) for k in range(frames)]
    if not isinstance(goals, Iterable):
        raise GoalError(f"a track follows a goal, a list of goals or a function of the time, got {goals!r}.")
    series = list(goals)
    if not series:
        raise GoalError("the path is empty; give at least one goal.")
    return series if frames is None else series[:frames]
