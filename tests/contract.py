"""The contract of a robot file: all that linkwork computes from it is compared with another library.

`tests/sixty/` runs it on a table of robots, `benchmarks/robots.py` on any folder. As a script, it reads file names from
stdin, one per line, and answers each with a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork import formats
from linkwork.errors import LinkageError, LinkworkError, LoopError
from peers import Peer, peer_model, peer_name, peer_of

POSES = 3  # poses at which placements, Jacobians and centres of mass are compared
GOALS = 200  # goals per chain
FRAMES = 100  # frames of the path
POSITION, ROTATION = 1e-4, 1e-3  # largest errors of a reached goal [m, rad]
SWING = 2.0  # largest amplitude of a joint on the path [rad or m]
OWN_JOINTS = 3  # least number of joints of a second chain that are not in the first


@dataclass
class Chain:
    """One frame: goals made from poses, which the peer confirms, and a path that is smooth in joint space.

    Args:
        frame: The frame.
        joints: Number of velocities that move it.
        goals: Number of goals.
        reached: Number of goals that are reached within limits, according to the peer.
        false: Number of goals that are reported as reached but are not.
        step: Largest change of a joint between two frames of the tracked path [rad or m].
        asked: Largest change of a joint on the path that the goals were made from.
        missed: Number of frames of the path that were not reached.
    """

    frame: str
    joints: int
    goals: int = 0
    reached: int = 0
    false: int = 0
    step: float = 0.0
    asked: float = 0.0
    missed: int = 0


@dataclass
class Report:
    """Result for a file; errors are the largest of all poses.

    Args:
        file: The file.
        refused: Why linkwork does not read it; empty if it does.
        peer: Name of the other library.
        peer_refused: Why the peer does not read it; empty if it does.
        places: Error of link placements [m, or entries of a rotation].
        jacobian: Error of the Jacobians of the chains [m/rad or rad/rad].
        mass: Error of the total mass [kg]; None if linkwork reports it as unknown.
        peer_mass: Total mass according to the peer [kg].
        peer_whole: Whether the peer found all files.
        mass_unknown: Whether linkwork reports the mass as unknown.
        center: Error of the centre of mass [m]; None if the mass is unknown.
        gap: Largest gap of loops, closed from the model's own pose [m or rad]; None without loops.
        chains: The chains.
        remarks: Number of remarks of each kind.
        trouble: Further errors.
    """

    file: str
    refused: str = ""
    peer: str = ""
    peer_refused: str = ""
    links: int = 0
    joints: int = 0
    places: float | None = None
    jacobian: float | None = None
    mass: float | None = None
    peer_mass: float | None = None
    peer_whole: bool = True
    mass_unknown: bool = False
    center: float | None = None
    gap: float | None = None
    chains: list[Chain] = field(default_factory=list)
    remarks: dict[str, int] = field(default_factory=dict)
    trouble: str = ""


def judged(path: Path, *, goals: int = GOALS, frames: int = FRAMES, folders: Sequence[Path] = ()) -> Report:
    """Return the result for a file; its meshes and further files may be in some folders."""
    report = Report(str(path))
    try:
        content = formats.read(path, formats.Options(folders=tuple(folders)))
    except LinkworkError as error:
        report.refused = _one_line(error)
    report.peer = peer_name(path)
    try:
        model = peer_model(path)
    except Exception as error:  # any error is a result
        report.peer_refused = _one_line(error)
    if report.refused:
        return report
    linkage = content.linkage
    report.remarks = dict(Counter(remark.kind for remark in content.remarks))
    report.links, report.joints = len(linkage.links), linkage.nv
    if linkage.loops:
        _close(report, linkage)
    if not report.peer_refused:
        peer = peer_of(model, linkage)
        compare(report, linkage, peer)
        for frame in chain_frames(linkage, peer.links) if goals else ():
            report.chains.append(chain(linkage, peer, frame, goals=goals, frames=frames))
    return report


def compare(report: Report, linkage: lw.Linkage, peer: Peer) -> None:
    """Compare placements, Jacobians and masses at random poses."""
    poses = linkage.random_pose(5, POSES)
    index = [linkage.links.index(name) for name in peer.links]
    tips = chain_frames(linkage, peer.links)
    report.places = max((_off(linkage.forward(q).array[index], peer.places(q)) for q in poses if index), default=0.0)
    slopes = [_off(linkage.jacobian(q, tip), peer.jacobian(q, tip)) for q in poses for tip in tips]
    report.jacobian = max(slopes, default=0.0)
    report.peer_mass, report.peer_whole = peer.mass, peer.whole
    report.mass_unknown = any(link.inertia is not None and not link.inertia.known for link in linkage.nodes)
    if report.mass_unknown:
        return
    try:
        weights = lw.mass.masses(linkage)
    except LinkageError:  # no link has a mass
        report.mass = peer.mass
        return
    if weights.by_volume:  # a model without masses: the peer has none
        report.mass = peer.mass
        return
    report.mass = abs(weights.total - peer.mass)
    report.center = max(_off(weights.center(q), peer.center(q)) for q in poses)


def _off(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max(initial=0.0))


def _close(report: Report, linkage: lw.Linkage) -> None:
    """Close the loops from a pose near the model's own."""
    start = linkage.poses["qpos0"] if "qpos0" in linkage.poses else linkage.neutral()
    nudge = np.random.default_rng(2).normal(0.0, 0.01, linkage.nv)
    try:
        q = lw.close(linkage, linkage.clamp(linkage.integrate(start, nudge)))
    except LoopError as error:
        report.gap = error.gap
        return
    report.gap = max(float(np.abs(lw.Close(loop).error(linkage, q)).max()) for loop in linkage.loops)


# Chains


def chain_frames(linkage: lw.Linkage, names: Iterable[str]) -> list[str]:
    """Return the last link of the chain with the most joints, and that of another limb with enough own joints."""
    inner = {joint.parent for joint in linkage.arcs}
    movers: dict[str, frozenset[int]] = {}
    known = set(names)
    for i, arc in enumerate(linkage.arcs):
        drive = linkage.drives[i]
        own = frozenset(range(drive.v, drive.v + arc.articulation.nv))
        movers[arc.child] = own | movers.get(str(arc.parent), frozenset())
    leaves = [name for name in linkage.links if name in known and name not in inner and movers[name]]
    if not leaves:
        leaves = [name for name in linkage.links if name in known and movers[name]]
    if not leaves:
        return []
    first = max(leaves, key=lambda name: len(movers[name]))
    other = max(leaves, key=lambda name: len(movers[name] - movers[first]))
    return [first, other] if len(movers[other] - movers[first]) >= OWN_JOINTS else [first]


def chain(linkage: lw.Linkage, peer: Peer, frame: str, *, goals: int = GOALS, frames: int = FRAMES) -> Chain:
    """Solve goals of a frame and track a path with it; loops stay open, as in the peer's forward kinematics."""
    tree = linkage.replace(loops=()) if linkage.loops else linkage
    moving = np.abs(tree.jacobian(tree.random_pose(1, 3), frame)).sum(axis=(0, 1)) > 0.0
    result = Chain(frame, int(moving.sum()), goals)
    targets = np.array([peer.place(q, frame) for q in tree.random_pose(3, goals)])
    batch = lw.solve_batch(tree, frame, targets, progress=False)
    for q, claimed, target in zip(batch.q, batch.success, targets, strict=True):
        good = reaches(peer, q, frame, target)
        result.reached += bool(claimed and good)
        result.false += bool(claimed and not good)
    _track(tree, peer, result, frames)
    return result


def reaches(peer: Peer, q: np.ndarray, frame: str, target: np.ndarray) -> bool:
    """Return whether a frame is at its target and the pose is within limits, according to the peer."""
    place = peer.place(q, frame)
    turn = place[:3, :3].T @ target[:3, :3]
    sine = np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2.0
    angle = np.arctan2(sine, (np.trace(turn) - 1.0) / 2.0)
    away = np.linalg.norm(place[:3, 3] - target[:3, 3])
    return bool(away <= POSITION and angle <= ROTATION and peer.keeps_limits(q))


def smooth_path(linkage: lw.Linkage, frames: int, seed: int = 7) -> np.ndarray:
    """Return poses (frames, nq) along which every value swings once; quaternions are constant."""
    rng = np.random.default_rng(seed)
    low, high = linkage.random_pose(rng, 2)  # for values without limits
    low = np.where(np.isfinite(linkage.lower), linkage.lower, np.minimum(low, high))
    high = np.where(np.isfinite(linkage.upper), linkage.upper, np.maximum(low, high))
    swing = np.minimum(0.45 * (high - low), SWING)
    phase = np.linspace(0.0, 2.0 * np.pi, frames)[:, None] + rng.uniform(0.0, 2.0 * np.pi, linkage.nq)
    poses = (low + high) / 2.0 + swing * np.sin(phase)
    start = linkage.random_pose(rng)
    for k, _ in linkage.table.quaternions:
        poses[:, k : k + 4] = start[k : k + 4]
    return poses


def _track(linkage: lw.Linkage, peer: Peer, result: Chain, frames: int) -> None:
    """Track a path from its first pose."""
    poses = smooth_path(linkage, frames)
    result.asked = float(np.abs(np.diff(poses, axis=0)).max(initial=0.0))
    targets = [peer.place(pose, result.frame) for pose in poses]
    clip = lw.track(linkage, [lw.Reach(result.frame, pose=target) for target in targets], start=poses[0])
    result.step = max(_largest_step(linkage, *pair) for pair in pairwise(clip.poses))
    found = [reaches(peer, q, result.frame, target) for q, target in zip(clip.poses, targets, strict=True)]
    result.missed = found.count(False)


def _largest_step(linkage: lw.Linkage, before: np.ndarray, after: np.ndarray) -> float:
    """Return the largest change of a value (whole turns count), or of a rotation."""
    plain, _, _ = linkage.table.plain
    turns = [np.linalg.norm(linkage.difference(before, after)[v : v + 3]) for _, v in linkage.table.quaternions]
    return float(max([*np.abs(after - before)[plain].tolist(), *turns], default=0.0))


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]


def main() -> None:
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goals", type=int, default=GOALS, help="goals of each chain; none leaves chains out")
    parser.add_argument("--frames", type=int, default=FRAMES, help="frames of the path of each chain")
    parser.add_argument("--folder", type=Path, action="append", default=[], help="where further files may lie")
    options = parser.parse_args()
    for line in sys.stdin:
        try:
            file = Path(line.strip())
            report = judged(file, goals=options.goals, frames=options.frames, folders=options.folder)
        except Exception as error:  # the contract: nothing else is raised
            report = Report(line.strip(), trouble=_one_line(error))
        print(json.dumps(asdict(report)), flush=True)


if __name__ == "__main__":
    main()
