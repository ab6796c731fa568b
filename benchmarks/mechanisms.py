"""Planar mechanisms driven through a turn, compared with pylinkage: errors against closed forms, and frames per second.

Both get the same bars and the same turn of the crank. pylinkage places points as intersections of circles, one group of
bars after another; linkwork closes any loops by Newton's method. A separate table has what only linkwork supports:
other mechanisms, also spatial ones, parallel robots and assembly modes. The results are written to results.md.

    python benchmarks/mechanisms.py [--frames 720] [--json] [--no-write]
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from results import arguments, publish, say

import linkwork as lw
from linkwork.models.closed import HOLY_NUMBERS, jansen_points

SECTION = "mechanisms"
BARS = 0.4, 0.15, 0.35, 0.3  # ground, crank, coupler, rocker [m]
CRANK, ROD = 0.045, 0.15  # slider-crank [m]
SPEED = 10.0  # crank speed [rad/s]
ROUNDS, NARROW, COARSE = 5, 100, 72
GOALS = 50_000  # for platforms

Floats = NDArray[np.float64]
Points = NDArray[np.complexfloating[Any, Any]]


# Closed forms: position and velocity of a point as complex numbers, for crank angles


def four_bar(angles: Floats, bars: tuple[float, ...] = BARS) -> tuple[Points, Points]:
    """Return the pin between coupler and rocker of the open four-bar."""
    g, a, b, c = bars
    pin = a * np.exp(1j * angles)
    way = g - pin
    along = (np.abs(way) ** 2 + b**2 - c**2) / (2.0 * np.abs(way))
    place = pin + (along + 1j * np.sqrt(b**2 - along**2)) * way / np.abs(way)
    t3, t4 = np.angle(place - pin), np.angle(place - g)
    return place, 1j * (place - g) * SPEED * a * np.sin(angles - t3) / (c * np.sin(t4 - t3))


def slider_crank(angles: Floats) -> tuple[Points, Points]:
    """Return the pin of the slider."""
    s, c, root = np.sin(angles), np.cos(angles), np.sqrt(ROD**2 - (CRANK * np.sin(angles)) ** 2)
    return CRANK * c + root + 0j, -SPEED * (CRANK * s + CRANK**2 * s * c / root) + 0j


def jansen(angles: Floats) -> tuple[Points, None]:
    """Return the foot of Jansen's leg."""
    lengths = {name: value / 100.0 for name, value in HOLY_NUMBERS.items()}
    return np.array([complex(*jansen_points(float(angle), lengths)["foot"]) for angle in angles]), None


FORMS: dict[str, tuple[Callable[..., Any], str, str]] = {
    "four-bar": (four_bar, "rocker_end", "start"),
    "slider-crank": (slider_crank, "pin", "start"),
    "Jansen's leg": (jansen, "foot", "start"),
}


# Ours


def slider() -> lw.Linkage:
    b = lw.Builder("slider_crank", base="block")
    b.continuous("crank", "crank")
    b.continuous("rod", "rod", at=(CRANK, 0, 0)).frame("rod_end", at=(ROD, 0, 0))
    b.prismatic("slide", "slider", axis="x", parent="block").frame("pin")
    return b.loop("guide", "rod_end", "pin").pose("start", slide=CRANK + ROD).build()


def ours(name: str, count: int) -> dict[str, Any]:
    """Return the results of one turn of a mechanism in linkwork."""
    linkage = {"four-bar": lambda: lw.models.four_bar(*BARS), "slider-crank": slider}.get(name, lw.models.jansen_leg)()
    form, frame, start = FORMS[name]
    begin = float(linkage.stored_pose(start)[0])
    angles = np.linspace(begin, begin + 2.0 * np.pi, count)
    clip = lw.drive(linkage, "crank", angles, start=start)
    place, velocity = form(angles)
    path = clip.forward(frame=frame)[:, :2, 3] @ [1.0, 1j]
    speeds = lw.drive_rates(clip, "crank", speed=SPEED).velocity(frame)[:, :2] @ [1.0, 1j]
    return {
        "error": float(np.abs(path - place).max()),
        "velocity error": None if velocity is None else float(np.abs(speeds - velocity).max()),
        "frames a second": count / fastest(lambda: lw.drive(linkage, "crank", angles, start=start)),
        "with rates": count / fastest(lambda: with_rates(linkage, angles, start)),
    }


def with_rates(linkage: lw.Linkage, angles: Floats, start: str) -> lw.LoopRates:
    return lw.drive_rates(lw.drive(linkage, "crank", angles, start=start), "crank", speed=SPEED)


# pylinkage


def peer(name: str, count: int, bars: tuple[float, ...] = BARS, begin: float | None = None) -> tuple[Any, Any, Any]:
    """Return a pylinkage mechanism, its crank and the component whose path is compared."""
    from pylinkage.actuators import Crank
    from pylinkage.components import Ground
    from pylinkage.dyads import FixedDyad, RRPDyad, RRRDyad
    from pylinkage.simulation import Linkage

    step, base = 2.0 * np.pi / (count - 1), Ground(0.0, 0.0)
    if name == "four-bar":
        g, a, b, c = bars
        first = 1.0 if begin is None else begin
        place = complex(four_bar(np.array([first]), bars)[0][0])
        crank, far = Crank(base, a, step, first), Ground(g, 0.0)
        pin = RRRDyad(crank.output, far, b, c, x=place.real, y=place.imag)
        return Linkage([base, far, crank, pin]), crank, pin
    if name == "slider-crank":
        crank, ends = Crank(base, CRANK, step, 0.0), [Ground(0.0, 0.0), Ground(1.0, 0.0)]
        pin = RRPDyad(crank.output, *ends, ROD, x=CRANK + ROD, y=0.0)
        return Linkage([base, *ends, crank, pin]), crank, pin
    n = {key: value / 100.0 for key, value in HOLY_NUMBERS.items()}
    at = {key: complex(*point) for key, point in jansen_points(0.0, n).items()}
    crank, pivot = Crank(base, n["m"], step, 0.0), Ground(at["pivot"].real, at["pivot"].imag)

    def meet(one: Any, other: Any, far: str, near: str, point: str) -> Any:
        return RRRDyad(one, other, n[far], n[near], x=at[point].real, y=at[point].imag)

    def carried(one: Any, other: Any, first: str, second: str, point: str) -> Any:
        arm, line = at[point] - at[first], at[second] - at[first]
        return FixedDyad(one, other, float(abs(arm)), float(np.angle(arm / line)))

    top, low = meet(crank.output, pivot, "j", "b", "top"), meet(crank.output, pivot, "k", "c", "low")
    back = carried(pivot, top, "pivot", "top", "back")
    knee = meet(back, low, "f", "g", "knee")
    foot = carried(low, knee, "low", "knee", "foot")
    return Linkage([base, pivot, crank, top, low, back, knee, foot]), crank, foot


def theirs(name: str, count: int) -> dict[str, Any]:
    """Return the results of one turn of a mechanism in pylinkage."""
    linkage, crank, point = peer(name, count)
    linkage.set_input_velocity(crank, SPEED)
    places = [linkage.components.index(one) for one in (crank, point)]
    path, speeds, _ = (array[:, places] @ [1.0, 1j] for array in linkage.step_fast_with_kinematics(count))
    place, velocity = FORMS[name][0](np.angle(path[:, 0]))

    def timed(run: Callable[[Any], Any]) -> float:
        return count / fastest(lambda: run(linkage))

    return {
        "error": float(np.abs(path[:, 1] - place).max()),
        "velocity error": None if velocity is None else float(np.abs(speeds[:, 1] - velocity).max()),
        "frames a second": timed(lambda one: one.step_fast(count)),
        "with rates": timed(lambda one: one.step_fast_with_kinematics(count)),
        "in Python": timed(lambda one: list(one.step(count))),
    }


# Circuits: four-bars near a change point, in coarse steps


def narrow() -> dict[str, int]:
    """Return the number of four-bars near a change point that stay on their circuit for a turn in coarse steps."""
    kept = {"linkwork": 0, "pylinkage": 0}
    for spare in 10.0 ** np.random.default_rng(0).uniform(-6.0, -3.0, NARROW):
        bars = 0.4, 0.2, 0.4, 0.2 + float(spare)
        angles = np.linspace(1.0, 1.0 + 2.0 * np.pi, COARSE)
        linkage = lw.models.four_bar(*bars)
        start = lw.close(linkage, linkage.pose({"crank": 1.0}, base="start"), keep="crank")
        path = lw.drive(linkage, "crank", angles, start=start).forward(frame="rocker_end")[:, :2, 3] @ [1.0, 1j]
        kept["linkwork"] += bool(np.abs(path - four_bar(angles, bars)[0]).max() < 1e-6)
        if find_spec("pylinkage"):
            other, crank, pin = peer("four-bar", COARSE, bars, 1.0)
            both = other.step_fast(COARSE)[:, [other.components.index(one) for one in (crank, pin)]] @ [1.0, 1j]
            kept["pylinkage"] += bool(np.abs(both[:, 1] - four_bar(np.angle(both[:, 0]), bars)[0]).max() < 1e-6)
    return kept


# Not supported by pylinkage: other mechanisms; parallel robots; assembly modes


def rssr() -> lw.Linkage:
    """Return two cranks on skew axes, connected by a rod with two ball joints."""
    b = lw.Builder("rssr", base="ground")
    b.continuous("crank", "crank", parent="ground", axis="z").frame("pin", at=(0.15, 0, 0))
    b.ball("ball", "rod", at=(0.15, 0, 0)).frame("rod_end", at=(0, 0, 0.6))
    b.continuous("rocker", "rocker", parent="ground", axis="y", at=(0.1, 0, 0.5)).frame("end", at=(0.35, 0, 0))
    return b.loop("joint", "rod_end", "end").build()


def others(count: int) -> dict[str, dict[str, float]]:
    """Return speeds of other mechanisms, and the largest gaps of their loops."""
    made = {
        "Klann's leg": (lw.models.klann(), "crank", "start", 2.0 * np.pi),
        "Peaucellier's inversor": (lw.models.peaucellier(), "crank", "start", 0.5),
        "scissors of ten stages": (lw.models.scissor(10), "slide", "start", -0.05),
        "Bennett's ring": (lw.models.bennett(), "first", "start", 2.0 * np.pi),
        "RSSR": (rssr(), "crank", None, 2.0 * np.pi),
    }
    found = {}
    for name, (linkage, driver, stored, way) in made.items():
        first = driver if driver in linkage.coordinates else linkage.coordinates[0]
        pose = (
            linkage.stored_pose(stored)
            if stored is not None and stored in linkage.poses
            else lw.assemble(linkage, most=1)[0]
        )
        begin = float(pose[linkage.coordinates.index(first)])
        values = np.linspace(begin, begin + way, count)
        clip = lw.drive(linkage, first, values, start=pose)
        seconds = fastest(partial(lw.drive, linkage, first, values, start=pose))
        found[name] = {"gap": float(clip.residuals.max()), "frames a second": count / seconds}
    return found


def robots() -> dict[str, dict[str, float]]:
    """Return platform positions solved per second on one thread, and the largest gaps of loops."""
    rng, found = np.random.default_rng(0), {}
    for name, linkage, frame, spread in (
        ("Delta", lw.models.delta(), "platform", (0.12, 0.12, 0.08)),
        ("five-bar", lw.models.five_bar(), "tip", (0.06, 0.06, 0.0)),
        ("Stewart platform", lw.models.stewart(), "platform", (0.08, 0.08, 0.08)),
    ):
        home = linkage.forward(linkage.stored_pose("aside" if "aside" in linkage.poses else "ready"), frame=frame)
        targets = np.repeat(home[None], GOALS, axis=0)
        targets[:, :3, 3] += rng.uniform(-1.0, 1.0, (GOALS, 3)) * spread
        turns = name == "Stewart platform"
        given = targets if turns else np.ascontiguousarray(targets[:, :3, 3])

        def solve(robot: lw.Linkage = linkage, to: str = frame, at: Floats = given, turned: bool = turns) -> lw.Batch:
            return lw.solve_batch(robot, to, at, orientation=turned, start="ready", threads=1)

        batch = solve()
        gaps = [np.abs(lw.Close(loop).error(linkage, batch.q[batch.success])).max() for loop in linkage.loops]
        found[name] = {"gap": float(max(gaps)), "reached": float(batch.success.mean()), "goals": GOALS / fastest(solve)}
    return found


# The report


def fastest(call: Callable[[], Any]) -> float:
    """Return the shortest CPU time of a call [s], over many calls if one is too short for the clock."""
    call()
    times = []
    for _ in range(ROUNDS):
        begin, calls = process_time(), 0
        while process_time() - begin < 0.02:
            call()
            calls += 1
        times.append((process_time() - begin) / calls)
    return min(times)


def section(found: dict[str, Any], count: int) -> str:
    """Return the section of results.md."""
    titles = ("error", "velocity error", "frames a second", "with rates")
    lines = [
        "## Planar mechanisms",
        "",
        f"{date.today()}, {platform.machine()}, one core; linkwork {lw.__version__}, {found['peer']}. "
        f"Made by `python benchmarks/mechanisms.py`: one turn of {count} frames, best of {ROUNDS}.",
        "",
        "| | largest error [m] | of velocities [m/s] | frames per second | with velocities and accelerations |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, rows in found["turns"].items():
        for tool, row in rows.items():
            errors = ["" if row[title] is None else f"{row[title]:.1e}" for title in titles[:2]]
            rates = [f"{row[title]:,.0f}" for title in titles[2:]]
            lines.append(f"| {name}, {tool} | {' | '.join([*errors, *rates])} |")
    python = [f"{row['pylinkage']['in Python']:,.0f}" for row in found["turns"].values() if "pylinkage" in row]
    if python:
        lines += [
            "",
            f"pylinkage's plain Python loop, `step`: {', '.join(python)} frames per second. Compiled by Numba, it is "
            "faster on what it supports: planar bars that circles place one after another. linkwork supports loops of "
            "any kind, also spatial ones, and checks in every step that no singular pose is crossed.",
        ]
    lines += [
        "",
        "Not supported by pylinkage, linkwork only:",
        "",
        "| | largest gap [m] | frames per second |",
        "|---|---:|---:|",
    ]
    lines += [f"| {name} | {row['gap']:.1e} | {row['frames a second']:,.0f} |" for name, row in found["others"].items()]
    lines += ["", f"Positions of parallel robots, {GOALS:,} in a batch, one thread:", ""]
    lines += ["| | largest gap [m] | reached | per second |", "|---|---:|---:|---:|"]
    lines += [
        f"| {name} | {row['gap']:.1e} | {row['reached']:.1%} | {row['goals']:,.0f} |"
        for name, row in found["robots"].items()
    ]
    kept = ", ".join(f"{tool} {count}" for tool, count in found["kept"].items())
    spare = f"Of {NARROW} four-bars that are 0.001 to 1 mm from a change point, turned once in {COARSE} frames"
    return "\n".join([*lines, "", f"{spare}, this many stay on their circuit: {kept}."])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--frames", type=int, default=720, help="frames per turn")
    options = parser.parse_args()
    there = find_spec("pylinkage") is not None
    turns: dict[str, dict[str, Any]] = {}
    for name in FORMS:
        say(name)
        turns[name] = {"linkwork": ours(name, options.frames)}
        if there:
            turns[name]["pylinkage"] = theirs(name, options.frames)
    kept = {tool: count for tool, count in narrow().items() if there or tool == "linkwork"}
    label = f"pylinkage {version('pylinkage')} with Numba" if there else "pylinkage is not installed"
    found = {"turns": turns, "kept": kept, "peer": label, "others": others(options.frames), "robots": robots()}
    publish(SECTION, section(found, options.frames), found, options)


if __name__ == "__main__":
    main()
