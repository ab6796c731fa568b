"""Output of commands: linkages, poses, solutions, motions, races and figures, as plain data and as text.

Angles are printed in radians and in degrees.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import LoopError
from .console import print_columns, say

if TYPE_CHECKING:
    from pathlib import Path

    from ..explain.mobility import Mobility
    from ..explain.races import RaceResult
    from ..goals import Reach
    from ..linkage.joints import Joint
    from ..linkage.linkage import Linkage
    from ..models.textbook import Figure
    from ..motion.clips import Clip
    from ..solvers import Solution
    from ..transforms import FloatArray

LAP_TITLES = ("method", "success", "error", "iterations", "time [ms]", "largest step", "beyond limits", "why not")


# Linkages and their frames


def freedom_of(linkage: Linkage) -> str:
    """Return the degrees of freedom of a linkage, in words."""
    found = _mobility(linkage)
    if isinstance(found, str):
        return found
    over = f", overconstrained by {found.overconstrained}" if found.overconstrained > 0 else ""
    return f"{found.degrees} DOF{over}{' (shaky)' if found.shaky else ''}"


def _mobility(linkage: Linkage) -> Mobility | str:
    """Return the mobility of a linkage, or a text if its loops cannot be closed."""
    from ..explain.mobility import mobility

    try:
        return mobility(linkage)
    except LoopError as error:
        return f"loops that cannot be closed (gap {error.gap:.3g} m)"


def description(linkage: Linkage) -> dict[str, Any]:
    """Return a linkage as plain data: angles in radians, lengths in metres, null for no limit."""
    from ..linkage.couplings import coupling_text

    found = _mobility(linkage)
    return {
        "name": linkage.name,
        "dof": None if isinstance(found, str) else found.degrees,
        "gruebler": None if isinstance(found, str) else found.count,
        "nq": linkage.nq,
        "nv": linkage.nv,
        "coordinates": list(linkage.coordinates),
        "links": [
            {"name": node.name, "parent": arc.parent, "joint": arc.name, "shapes": len(node.visuals)}
            for node, arc in zip(linkage.nodes, linkage.arcs, strict=True)
        ],
        "joints": [joint_description(linkage.joint(name)) for name in linkage.joints],
        "frames": [{"name": frame.name, "link": frame.link} for frame in linkage.extra_frames],
        "loops": [asdict(loop) for loop in linkage.loops],
        "couplings": [
            {"name": one.name, "follower": one.follower, "drivers": dict(one.drivers), "text": coupling_text(one)}
            for one in linkage.couplings
        ],
        "groups": {name: list(joints) for name, joints in linkage.groups.items()},
        "poses": {name: by_coordinate(linkage, q) for name, q in linkage.poses.items()},
    }


def joint_description(joint: Joint) -> dict[str, Any]:
    """Return a joint as plain data: common fields, and those of its kind, such as the axis."""
    bounds = [_plain_limits(bound.tolist()) for bound in joint.articulation.limits]
    return {
        "name": joint.name,
        "kind": joint.articulation.kind,
        "parent": joint.parent,
        "child": joint.child,
        **asdict(joint.articulation),
        "lower": bounds[0],
        "upper": bounds[1],
        "velocity": _plain_limits(joint.velocity),
        "acceleration": _plain_limits(joint.acceleration),
        "effort": _plain_limits(joint.effort),
        "coordinates": [] if joint.mimic else list(joint.coordinates),
        "mimic": asdict(joint.mimic) if joint.mimic else None,
    }


def _plain_limits(limits: Sequence[float] | None) -> list[float | None] | None:
    """Return limits with None for infinite ones; None if there are no limits at all."""
    return None if limits is None else [x if math.isfinite(x) else None for x in limits]


def by_coordinate(linkage: Linkage, q: FloatArray) -> dict[str, float]:
    """Return a pose as a mapping from coordinate name to value."""
    return dict(zip(linkage.coordinates, q.tolist(), strict=True))


def placements(linkage: Linkage, poses: FloatArray, names: Iterable[str], *, matrix: bool) -> Iterator[dict[str, Any]]:
    """Yield, for each pose of (n, nq), its values and the transforms of the named frames."""
    from ..linkage import swing_twist as cones
    from ..transforms import matrix_quaternion

    world = {name: linkage.forward(poses, frame=name) for name in names}
    outside = (poses < linkage.lower) | (poses > linkage.upper)
    for cone in linkage.cones:
        outside[:, cone.q] = cones.beyond([cone], poses)
    for k, q in enumerate(poses):
        frames: dict[str, Any] = {}
        for name, matrices in world.items():
            m = matrices[k]
            place = {"position": m[:3, 3].tolist(), "quaternion_wxyz": matrix_quaternion(m[:3, :3]).tolist()}
            frames[name] = {"matrix": m.tolist()} if matrix else place
        beyond = [name for name, out in zip(linkage.coordinates, outside[k], strict=True) if out]
        yield {"pose": by_coordinate(linkage, q), "outside_limits": beyond, "frames": frames}


def add_torques(linkage: Linkage, poses: FloatArray, results: Sequence[dict[str, Any]]) -> None:
    """Add to the results of poses (n, nq) the torques that hold them, and the joints whose motors are too weak."""
    names, held = linkage.table.velocity_names, linkage.gravity_torques(poses)
    for result, torques in zip(results, held, strict=True):
        result["torques"] = dict(zip(names, torques.tolist(), strict=True))
        result["too_heavy"] = [names[k] for k in range(linkage.nv) if abs(torques[k]) > linkage.effort[k]]


def print_placement(result: dict[str, Any], title: str) -> None:
    """Print the transforms of frames: a table, or one matrix below another."""

    def number(x: float) -> str:
        return f"{round(x, 6) + 0.0: .6f}"  # space for a sign, and no minus before zero

    rows = [("frame", " x [m]", " y [m]", " z [m]", " qw", " qx", " qy", " qz")]
    print(end=title)
    for name, place in result["frames"].items():
        if "matrix" in place:
            print("\n".join([name, *("  ".join(map(number, row)) for row in place["matrix"])]))
        else:
            rows.append((name, *map(number, (*place["position"], *place["quaternion_wxyz"]))))
    if len(rows) > 1:
        print_columns(rows)
    if "torques" in result:
        print_columns([("joint", " holds [N m, N]"), *((name, number(x)) for name, x in result["torques"].items())])


# Poses


def print_pose(linkage: Linkage, pose: dict[str, float]) -> None:
    """Print a pose: one row for each value, angles also in degrees."""
    rows = [("joint", " value", "", " degrees")]
    for (name, value), unit in zip(pose.items(), linkage.table.units, strict=True):
        degrees = f"{math.degrees(value): .4f}" if unit == "rad" else ""
        rows.append((name, f"{round(value, 6) + 0.0: .6f}", unit, degrees))
    print_columns(rows)


# Solutions


def solution_data(solution: Solution, *, explain: bool) -> dict[str, Any]:
    """Return one solution as plain data, with an explanation on request."""
    from ..goals import Avoid, Reach

    linkage = solution.linkage
    goals = [goal for goal in solution.goals if isinstance(goal, Reach)]
    place = next(placements(linkage, solution.q[None], dict.fromkeys(goal.frame for goal in goals), matrix=False))
    blocks = [(goal, block.unit) for goal in solution.goals for block in goal.blocks]
    found = None
    if explain:
        from ..explain.diagnosis import diagnose

        found = diagnose(solution)
    return {
        "success": solution.success,
        "reason": solution.reason,
        **({} if found is None else {"cause": found.cause, "explanation": found.paragraph}),
        "method": solution.method,
        "iterations": solution.iterations,
        "residuals": [
            {"frame": getattr(goal, "frame", type(goal).__name__), "error": error, "unit": unit}
            for (goal, unit), error in zip(blocks, solution.residuals.tolist(), strict=True)
            if not isinstance(goal, Avoid)
        ],
        **_nearest(solution),
        "freedom": solution.freedom,
        "pose": place["pose"],
        "degrees": {row.name: math.degrees(solution.q[row.q]) for row in linkage.table if row.unit == "rad"},
        "outside_limits": place["outside_limits"],
        "frames": place["frames"],
    }


def _nearest(solution: Solution) -> dict[str, Any]:
    """Return the distance of the nearest pair, if a solution avoids anything."""
    from ..collision.clearance import clearance
    from ..goals import Avoid

    avoid = next((goal for goal in solution.goals if isinstance(goal, Avoid)), None)
    if avoid is None:
        return {}
    near = clearance(solution.linkage, solution.q, avoid.world, self=avoid.self)
    if near.pair is None:
        return {"clearance": None}
    return {"clearance": {"pair": list(near.pair), "distance": near.distance, "margin": avoid.margin}}


def print_solution(linkage: Linkage, data: dict[str, Any], title: str) -> None:
    """Print one solution: its result, the pose, and the error of each goal."""
    print(f"{title}{data.get('explanation', data['reason'])}")
    print_pose(linkage, data["pose"])
    for residual in data["residuals"]:
        what = "position" if residual["unit"] == "m" else "rotation"
        print(f"{what} error of {residual['frame']}: {residual['error']:.3g} {residual['unit']}")
    if (near := data.get("clearance")) is not None:
        print(f"nearest: {near['pair'][0]} and {near['pair'][1]}, {1000.0 * near['distance']:.4g} mm")
    print(f"method {data['method']}, iterations {data['iterations']}")


def solution_rows(linkage: Linkage, results: Sequence[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield the rows of a table of solutions, titles first."""
    yield ["goal", "success", "iterations", "position_error", "rotation_error", *linkage.coordinates]
    for k, data in enumerate(results):
        errors = [
            max((one["error"] for one in data["residuals"] if one["unit"] == unit), default="") for unit in ("m", "rad")
        ]
        yield [k, str(data["success"]).lower(), data["iterations"], *errors, *data["pose"].values()]


# Motions


def motion_data(clip: Clip, frame: str, tolerances: FloatArray) -> dict[str, Any]:
    """Return a solved motion as plain data; frames with errors above `tolerances` are listed as missed."""
    from ..models.textbook import largest_step

    residuals = clip.residuals
    missed = [] if residuals is None else [k for k, row in enumerate(residuals) if (row > tolerances).any()]
    return {
        "linkage": clip.linkage.name,
        "frame": frame,
        "coordinates": list(clip.linkage.coordinates),
        "times": clip.times.tolist(),
        "poses": clip.poses.tolist(),
        "effector": clip.forward(frame=frame)[:, :3, 3].tolist(),
        "residuals": None if residuals is None else residuals.tolist(),
        "missed": missed,
        "largest_step": largest_step(clip) if len(clip) > 1 else 0.0,
    }


def print_motion(clip: Clip, data: dict[str, Any]) -> None:
    """Print a summary of a motion, and its last pose."""
    missed = len(data["missed"])
    print(f"frames: {len(clip)} in {clip.times[-1]:.3g} s, {missed or 'none'} beyond the tolerance")
    print(f"largest error: {max(map(max, data['residuals'])):.3g}")
    print(f"largest change of a value from frame to frame: {data['largest_step']:.4g}")
    print("the last pose:")
    print_pose(clip.linkage, by_coordinate(clip.linkage, clip.poses[-1]))


def write_motion(clip: Clip, data: dict[str, Any], goal: Reach | None, path: Path) -> None:
    """Write a motion in the format of its file name: all numbers (.json), a film, pictures or a motion format."""
    from .. import draw, formats
    from ..formats.atomic_files import write_text

    suffix = formats.suffix_of(path)
    if suffix == ".json":
        write_text(path, json.dumps(data, allow_nan=False) + "\n")
    elif suffix in formats.suffixes("clips", "writes"):
        save_clip(clip, path)
    elif suffix in draw.IMAGES:
        draw.strip(clip, trail=data["frame"], goal=goal, path=path)
    else:
        draw.film(clip, path, trail=data["frame"])


def save_clip(clip: Clip, path: Path) -> None:
    """Write a motion in a motion format, and report what such a file cannot hold."""
    from .. import formats
    from ..retargeting.recognition import bones_for

    content = formats.Content(clip.linkage, {clip.name or formats.CLIP: clip}, roles=bones_for(clip.linkage, path))
    for remark in formats.write(content, path):
        if remark.kind == "dropped":
            say(remark.text)


# Races and figures


def print_laps(laps: Sequence[RaceResult]) -> None:
    """Print the results of methods, one row each."""
    rows = [LAP_TITLES]
    for lap in laps:
        found = lap.solution
        if found is None:
            rows.append((lap.method, "refused", "", "", "", "", "", lap.refusal))
            continue
        ended = ("yes", "") if found.success else ("no", str(found.reason))
        numbers = (f"{found.residual:.2g}", str(found.iterations), f"{1e3 * lap.seconds:.2f}")
        rows.append((lap.method, ended[0], *numbers, f"{lap.largest_step:.3g}", str(lap.violations), ended[1]))
    print_columns(rows)


def print_figure(figure: Figure) -> None:
    """Print the caption of a figure, and the end of each of its rows."""
    from ..models.textbook import largest_step

    print(f"Figure {figure.number}: {figure.caption}")
    if not figure.panels:
        return
    rows = [("row", "method", "goal", "the last frame's effector", "largest step")]
    for panel in figure.panels:
        goal = "" if panel.goal is None else ", ".join(f"{x:.4g}" for x in panel.goal)
        end = ", ".join(f"{round(x, 4) + 0.0:.4f}" for x in panel.path[-1].tolist())
        rows.append((panel.title, panel.method, goal, end, f"{largest_step(panel.clip):.4f}"))
    print_columns(rows)
