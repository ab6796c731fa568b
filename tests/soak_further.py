"""Less common calls of the soak test: datasets, forces, synthesis, layers, markers, gradients."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import chains
import fuzz_seeds
import linkwork as lw
import mechanisms
from linkwork.formats.content import Content
from own_forward import places
from soak_judge import Judge, Wrong


class Further(Judge):
    """Calls of the remaining public names."""

    def blocks(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        blocks = [self.targets(linkage, frame, 200) for _ in range(3)]
        for targets, found in zip(blocks, lw.solve_blocks(linkage, frame, blocks), strict=True):
            self.judge(linkage, frame, found.q, found.success, targets)
            found.reason(0)
            repr(found.reshaped((20, 10))[3, 4])

    def all_poses_of_many(self) -> None:
        linkage = lw.models.ur5() if self.rng.random() < 0.5 else self.arm()
        frame = self.tip(linkage)
        targets = self.targets(linkage, frame, 30)
        found = lw.solve_all_batch(linkage, frame, targets, most=8)
        for target, q, mask in zip(targets, found.q, found.mask, strict=True):
            if mask.any():
                self.judge(linkage, frame, q[mask], np.ones(int(mask.sum()), bool), target)

    def counted(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        target = self.targets(linkage, frame, 1)[0]
        lw.count_solutions(linkage, lw.Reach(frame, position=target[:3, 3]), starts=5)
        repr(lw.closed_form(linkage, frame))

    def dataset(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        drawn = lw.sample_goals(linkage, frame, 100, seed=int(self.rng.integers(2**31)))
        self.judge(linkage, frame, drawn.q, drawn.reachable, drawn.targets)
        with tempfile.TemporaryDirectory() as folder:
            goals, answers = Path(folder, "goals.parquet"), Path(folder, "answers")
            lw.save_goals(goals, drawn.targets)
            result = lw.solve_dataset(linkage, frame, goals, answers, engine="local", workers=1, progress=False)
            faults = lw.verify_dataset(answers).faults
            if faults or not result.complete:
                raise Wrong(f"a dataset of {result!r} has faults: {faults}")
            lw.describe_dataset(answers)

    def gradients(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        q = linkage.random_pose(self.rng, 2)
        ik, targets = lw.differentiable(linkage, frame), places(linkage, q, frame)
        found, reached = ik(targets, start=q)
        self.judge(linkage, frame, found, reached, targets)
        if not np.isfinite(ik.derivative(found).matrix).all():
            raise Wrong(f"derivatives of {linkage!r} are not finite at {q.tolist()}")

    def turn_of_the_elbow(self) -> None:
        linkage = lw.models.panda()
        q = linkage.random_pose(self.rng)
        moved = lw.swivel(linkage, q, float(self.rng.uniform(-0.5, 0.5)))
        self.judge(linkage, "tip", moved.q, moved.success, places(linkage, q[None], "tip")[0])

    def forces(self) -> None:
        mechanism = mechanisms.PLANE[str(self.rng.choice(list(mechanisms.PLANE)))](1.0)
        linkage, (joint, values) = mechanism.linkage, next(iter(mechanism.drivers.items()))
        clip = lw.drive(linkage, joint, values)
        q = clip.poses[int(self.rng.integers(len(clip.poses)))]
        rates = lw.loop_rates(linkage, q, dict.fromkeys(mechanism.drivers, 1.0))
        moved = linkage.integrate(q, 1e-6 * rates.velocities)
        for loop in linkage.loops:
            gap = float(np.abs(lw.Close(loop).error(linkage, moved)).max())
            if gap > 1e-8 * max(1.0, linkage.loop_size) * (1.0 + np.abs(rates.velocities).max() ** 2):
                raise Wrong(f"rates of {linkage!r} open {loop.name!r} by {gap} at {q.tolist()}")
        lw.statics(linkage, q, list(mechanism.drivers), loads={linkage.frames[-1]: (0.0, -1.0, 0.0)})
        output = str(self.rng.choice(linkage.joints))
        lw.mechanical_advantage(linkage, q, joint, output)
        lw.transmission_angle(linkage, q, joint, output)

    def assemblies(self) -> None:
        linkage = mechanisms.PLANE[str(self.rng.choice(list(mechanisms.PLANE)))](1.0).linkage
        found = lw.assemble(linkage, most=8, seed=int(self.rng.integers(2**31)))
        self.judge_loops(linkage, found.poses)
        lw.degrees_of_freedom(linkage)

    def singular(self) -> None:
        linkage = lw.models.four_bar(*self.rng.uniform(0.2, 0.5, 4))
        for position in lw.singular_positions(linkage, "crank"):
            self.judge_loops(linkage, position.q[None])
        lw.mobility(linkage)

    def designs(self) -> None:
        match int(self.rng.integers(4)):
            case 0:
                designs = lw.synthesis.crank_rocker(self.rng.uniform(0.3, 1.2), self.rng.uniform(1.0, 1.2))
            case 1:
                designs = lw.synthesis.motion(np.cumsum(self.rng.uniform(0.1, 0.5, (3, 3)), axis=0))
            case 2:
                designs = lw.synthesis.path(np.cumsum(self.rng.uniform(-0.3, 0.5, (6, 2)), axis=0), starts=5)
            case _:
                angles = np.linspace(0.3, 1.2, 3)
                designs = lw.synthesis.function(angles, self.rng.uniform(0.5, 1.5) * angles**2)
        for design in designs:
            self.judge_loops(design.linkage, lw.close(design.linkage, design.linkage.pose("start"))[None])
        lw.synthesis.slider_crank(1.0, self.rng.uniform(1.0, 1.5))
        lw.synthesis.quick_return(1.0, self.rng.uniform(1.1, 2.0))

    def cams(self) -> None:
        lift = float(self.rng.uniform(0.005, 0.02))
        builder = lw.Builder("valve").continuous("cam", "disc")
        builder = builder.prismatic("lift", "stem", parent="base", axis="y", at=(0, 0.05, 0))
        program = [("cycloidal", "120deg", lift), ("dwell", "60deg"), ("3-4-5", "180deg", 0.0)]
        linkage = builder.cam("lift", "cam", program).build()
        lw.cam_outline(linkage, "cam", "stem", count=60)
        lw.loop_rates(linkage, linkage.pose(cam=self.rng.uniform(0.0, 6.0)), {"cam": 1.0})

    def editing(self) -> None:
        walk = lw.models.motion("human:floating")
        begin = float(self.rng.uniform(0.0, 0.5))
        clip = walk.slice(begin, begin + 0.5)
        match int(self.rng.integers(8)):
            case 0:
                clip = clip.mirror()
            case 1:
                clip = clip.loop(fade=0.1, cycles=2)
            case 2:
                clip = clip.blend(clip.reverse(), float(self.rng.random()))
            case 3:
                clip = clip.concatenate(clip.mirror(), fade=0.1, align=True)
            case 4:
                clip = clip.offset(position=self.rng.normal(size=3), turn=float(self.rng.normal()))
            case 5:
                clip = clip.in_place().retime(speed=float(self.rng.uniform(0.5, 2.0)))
            case 6:
                clip = clip.plant(clip.contacts()[:2])
            case _:
                clip = lw.layer(clip, clip.mirror(), parts="left_arm", weight=0.5)
        if not np.isfinite(clip.poses).all() or not np.isfinite(clip.jerk).all():
            raise Wrong(f"a motion that is not finite: {clip!r}")
        clip.at(clip.times[[0, -1]])
        repr(clip.named("edited").report())

    def hurried(self) -> None:
        fast = self.clip().retime(velocity=2.0, acceleration=6.0)
        steps = fast.linkage.difference(fast.poses[:-1], fast.poses[1:]) / np.diff(fast.times)[:, None]
        if not np.abs(steps).max(initial=0.0) < 2.0 * 1.02:  # limits hold at grid points; ten frames are coarse
            raise Wrong(f"a motion at {np.abs(steps).max()} that may go at 2")

    def keyed(self) -> None:
        human = lw.models.human()
        pin = lw.Pin(0.1, 0.4, lw.Reach("left_hand", position=self.rng.uniform((0.2, 0.1, 0.8), (0.5, 0.5, 1.4))))
        items: list[Any] = [(0.0, human.neutral()), (0.5, human.pose("wave")), pin]
        clip = lw.Timeline(human, items, fps=10).play()
        if not chains.within(human, clip.poses).all():
            raise Wrong("a timeline leaves limits")

    def marked(self) -> None:
        linkage = lw.models.panda()
        frames = [str(name) for name in self.rng.choice(linkage.frames, 4, replace=False)]
        q = linkage.interpolate(linkage.random_pose(self.rng), linkage.random_pose(self.rng), np.linspace(0.0, 0.1, 4))
        points = np.stack([places(linkage, q, name)[:, :3, 3] for name in frames], axis=1)
        markers = lw.Markers(tuple(frames), np.linspace(0.0, 0.1, 4), points)
        fit = lw.solve_markers(linkage, markers, {name: (name, (0.0, 0.0, 0.0)) for name in frames}, start=q[0])
        if not chains.within(linkage, fit.clip.poses).all():
            raise Wrong("a fit to markers leaves limits")

    def tables(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        again = lw.from_dh(linkage.as_dh(frame))
        q = linkage.random_pose(self.rng, 2)
        moving = q[:, [linkage.coordinate_index[name] for name in again.joints if name in linkage.coordinate_index]]
        if moving.shape[1] == again.nq and not np.allclose(
            again.forward(moving, frame="tip"), places(linkage, q, frame), atol=1e-8 * (1.0 + linkage.length)
        ):
            raise Wrong(f"the table of {linkage!r} puts {frame!r} elsewhere")

    def weights(self) -> None:
        linkage = self.dressed_arm() if self.rng.random() < 0.5 else lw.models.human(root="floating")
        q = linkage.random_pose(self.rng, 2)
        if not lw.mass.total_mass(linkage) > 0.0:
            raise Wrong(f"{linkage!r} weighs nothing")
        lw.mass.center_of_mass(linkage, q[0])
        linkage.gravity_torques(q[0])
        linkage.jacobian_dot(q, self.rng.normal(size=(2, linkage.nv)), linkage.frames[-1])

    def packed(self) -> None:
        linkage = self.any_linkage()
        linkage.pack().to_bytes()
        linkage.split()
        repr(lw.bone(*self.rng.normal(size=(2, 3)), 0.05))
        lw.doctor.examine(Content(linkage))

    def texts(self) -> None:
        clip = fuzz_seeds.waving()
        with tempfile.TemporaryDirectory() as folder:
            lw.save(clip, Path(folder, "clip.bvh"))
            lw.loads_clip(Path(folder, "clip.bvh").read_text(encoding="utf-8"), "bvh")
            lw.loads(Path(folder, "clip.bvh").read_text(encoding="utf-8"), "bvh")
            lw.save_srdf(clip.linkage, Path(folder, "arm.srdf"))
            Path(folder, "scene.yaml").write_text(fuzz_seeds.PLANNING, encoding="utf-8")
            lw.load_world(Path(folder, "scene.yaml"))
            Path(folder, "marks.trc").write_bytes(fuzz_seeds.seeds("trc")[0])
            lw.load_markers(Path(folder, "marks.trc"))

    def library(self) -> None:
        human = lw.models.human(root="floating")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "clips").mkdir()
            lw.save(lw.models.motion("human:floating").slice(0.0, 0.2), Path(folder, "clips", "walk.bvh"))
            result = lw.retarget_library(Path(folder, "clips"), human, Path(folder, "out"), workers=1, progress=False)
            if not result.complete:
                raise Wrong(f"a library is not whole: {result!r}")

    def lessons(self) -> None:
        lesson = lw.learn.all_lessons()[int(self.rng.integers(len(lw.learn.all_lessons())))]
        repr(lesson)
        lw.textbook.FIGURES[str(self.rng.choice(list(lw.textbook.FIGURES)))]
