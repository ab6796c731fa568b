"""Calls of the soak test that do not solve: linkages, mechanisms, motions, files, pictures."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import chains
import linkwork as lw
import mechanisms
import mechanisms_in_space
import nonsense
from linkages import random_transform
from nonsense import NONSENSE
from own_forward import places
from soak_judge import Judge, Wrong


class Others(Judge):
    """Calls that build, move, edit, save and draw."""

    def kinematics(self) -> None:
        linkage = self.any_linkage()
        q = linkage.random_pose(self.rng, 3)
        frame = str(self.rng.choice(linkage.frames))
        self.judge_place(linkage, q, frame)
        step = 1e-6 * self.rng.normal(size=(3, linkage.nv))
        moved = places(linkage, linkage.integrate(q, step), frame) - places(linkage, linkage.integrate(q, -step), frame)
        told = np.einsum("nij,nj->ni", linkage.jacobian(q, frame)[:, :3], 2.0 * step)
        if not np.allclose(moved[:, :3, 3], told, atol=1e-9 * (1.0 + linkage.length)):
            raise Wrong(f"the Jacobian of {frame!r} of {linkage!r} is another at {q.tolist()}")
        linkage.convert(self.rng.normal(size=(3, 3)), q[0], source=frame, target=linkage.links[0])
        sum(1 for _ in linkage.traverse(q[0]))
        linkage.difference(q[0], q[1])

    def edit(self) -> None:
        linkage = self.any_linkage()
        arcs = [arc for arc in linkage.arcs if arc.mimic is None and not isinstance(arc.articulation, lw.Floating)]
        match int(self.rng.integers(6)):
            case 0 if arcs:
                joint = arcs[self.rng.integers(len(arcs))].name
                values = linkage.drives[linkage.arc_index(joint)].values(linkage.random_pose(self.rng))
                linkage = linkage.freeze(joint, at=float(values[0]) if len(values) == 1 else values)
            case 1:
                linkage = linkage.subtree(str(self.rng.choice(linkage.links)))
            case 2:
                linkage = linkage.add_frame("new", str(self.rng.choice(linkage.links)), random_transform(self.rng))
            case 3:
                other = lw.models.planar([1, 1])
                linkage = linkage.attach(other, str(self.rng.choice(linkage.frames)), prefix="other_")
            case 4:
                linkage = linkage.replace(root=str(self.rng.choice(["fixed", "planar", "floating"])))
            case _:
                linkage = linkage.replace(name="renamed")
        q = linkage.random_pose(self.rng, 2)
        frame = str(self.rng.choice(linkage.frames))
        self.judge_place(linkage, q, frame)
        repr(linkage)

    def motion(self) -> None:
        clip = self.clip()
        if not chains.within(clip.linkage, clip.poses[[0, -1]]).all():
            raise Wrong("keys of a clip are beyond limits")
        clip.resample(fps=7)
        lw.inspect(clip)
        lw.repair(clip)

    def files(self) -> None:
        thing = self.clip() if self.rng.random() < 0.5 else self.any_linkage()
        suffixes = [suffix for suffix, row in lw.formats.FORMATS.items() if row.writes and row.module != "usd"]
        suffix = str(self.rng.choice(suffixes))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"thing{suffix}")
            lw.save(thing, path)
            if isinstance(thing, lw.Clip):
                lw.load_clip(path, linkage=thing.linkage)
            else:
                lw.load(path)

    def loops(self) -> None:
        linkage = mechanisms.PLANE[str(self.rng.choice(list(mechanisms.PLANE)))](1.0).linkage
        q = lw.close(linkage, linkage.random_pose(self.rng))
        self.judge_loops(linkage, q[None])
        lw.mobility(linkage, at=q)

    def drive(self) -> None:
        mechanism = mechanisms.PLANE[str(self.rng.choice(list(mechanisms.PLANE)))](1.0)
        joint, values = next(iter(mechanism.drivers.items()))
        clip = lw.drive(mechanism.linkage, joint, values)
        self.judge_loops(clip.linkage, clip.poses)
        lw.drive_rates(clip, joint)

    def platform(self) -> None:
        linkage = mechanisms_in_space.SPACE[str(self.rng.choice(list(mechanisms_in_space.SPACE)))](1.0).linkage
        self.judge_loops(linkage, lw.close(linkage, None)[None])
        robot = (lw.models.stewart, lw.models.delta)[self.rng.integers(2)]()
        targets = np.repeat(robot.forward(robot.pose("ready"), frame="platform")[None], 100, axis=0)
        targets[:, :3, 3] += self.rng.normal(scale=0.1, size=(100, 3))
        found = lw.solve_batch(robot, "platform", targets, progress=False)
        self.judge(robot, "platform", found.q, found.success, targets)
        self.judge_loops(robot, found.q[found.success])

    def picture(self) -> None:
        lw.draw.strip(self.clip(), frames=[0, 3])
        import matplotlib.pyplot as plt

        plt.close("all")

    def retarget(self) -> None:
        body = lw.models.human(root="floating")
        poses = body.random_pose(self.rng, 2)
        clip = lw.interpolate(body, [(0.0, poses[0]), (0.5, poses[1])], fps=10)
        lw.retarget(clip, lw.models.human(root="floating"))

    def nonsense(self) -> None:
        what = NONSENSE[self.rng.integers(len(NONSENSE))]
        possible = nonsense.calls(lw.models.planar([2, 1]), what)
        possible[self.rng.integers(len(possible))]()
