"""mink with its collision limit on the same problems: same spheres, obstacles and pairs, with MuJoCo's distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any
from xml.etree import ElementTree

import numpy as np
from ik_peers import Array

import linkwork as lw
from free_judge import Judge
from free_problems import placed

POSITION, ROTATION = 1e-4, 1e-3  # largest errors of a reached goal [m, rad]
ROOM = 0.9  # fraction of these at which mink stops
APART, SEEN = 1e-3, 0.05  # distance to keep, and distance at which the limit acts [m]
DAMPING, LIGHT = 1e-4, 1e-6  # damping of its task and of its quadratic programs
STARTS, STEPS = 20, 60  # first the problem's own start, then free random poses


def shapes_alone(urdf: str) -> str:
    """Return a URDF without meshes, masses and couplings for MuJoCo."""
    robot = ElementTree.fromstring(urdf)  # already read by linkwork
    for part in robot:
        for child in [one for one in part if one.tag in ("visual", "inertial", "mimic")]:
            part.remove(child)
    compiler = '<mujoco><compiler fusestatic="false" boundmass="1e-6" boundinertia="1e-9" strippath="false"/></mujoco>'
    return ElementTree.tostring(robot, encoding="unicode").replace("</robot>", f"{compiler}</robot>")


class Mink:
    """mink for one problem: a frame task, joint limits, and a limit that keeps pairs of geometries apart."""

    name = "mink"

    def __init__(self, arm: lw.Linkage, urdf: str, problem: dict[str, Any], tip: str, judge: Judge) -> None:
        import mink
        import mujoco

        self.library, self.tip, self.version = mink, tip, version("mink")
        spec = mujoco.MjSpec.from_string(shapes_alone(urdf))
        for one in problem["obstacles"]:
            pose, sizes = placed(one), one["dimensions"]
            geometry = spec.worldbody.add_geom(pos=pose[:3, 3], quat=one["wxyz"], name=f"obstacle {one['id']}")
            box = one["kind"] == "box"
            geometry.type = mujoco.mjtGeom.mjGEOM_BOX if box else mujoco.mjtGeom.mjGEOM_CYLINDER
            geometry.size = np.array(sizes) / 2.0 if box else [sizes[1], sizes[0] / 2.0, 0.0]
        model = spec.compile()
        self.robot = mink.Configuration(model)
        self.task = mink.FrameTask(tip, "body", 1.0, 1.0, lm_damping=DAMPING)
        of_link = {model.body(k).name: list(_geoms(model, k)) for k in range(model.nbody)}
        obstacles = [model.geom(f"obstacle {one['id']}").id for one in problem["obstacles"]]
        own = [geom for name, geoms in of_link.items() if name not in ("world", arm.links[0]) for geom in geoms]
        pairs = [(own, obstacles), *((of_link[a], of_link[b]) for a, b in sorted(judge.pairs))]
        clear = mink.CollisionAvoidanceLimit(
            model, pairs, minimum_distance_from_collisions=APART, collision_detection_distance=SEEN
        )
        self.limits = [mink.ConfigurationLimit(model, gain=1.0), clear]
        self.places = [int(model.joint(name).qposadr[0]) for name in _moving(arm)]
        self.nq = model.nq

    def solve(self, target: Array, starts: Sequence[Array]) -> Array:
        """Return a pose for a target from the first start that reaches it, or else from the last start."""
        self.task.set_target(self.library.SE3.from_matrix(target))
        for start in starts:
            own = np.zeros(self.nq)
            own[self.places] = start
            self.robot.update(own)
            for _ in range(STEPS):
                try:
                    velocity = self.library.solve_ik(
                        self.robot, [self.task], 1.0, solver="daqp", damping=LIGHT, limits=self.limits
                    )
                except self.library.NoSolutionFound:
                    break
                self.robot.integrate_inplace(velocity, 1.0)
                error = self.task.compute_error(self.robot)
                if np.linalg.norm(error[:3]) < ROOM * POSITION and np.linalg.norm(error[3:]) < ROOM * ROTATION:
                    return np.array(self.robot.q[self.places])
        return np.array(self.robot.q[self.places])


def _geoms(model: Any, body: int) -> range:
    first = int(model.body_geomadr[body])
    return range(first, first + int(model.body_geomnum[body])) if first >= 0 else range(0)


def _moving(arm: lw.Linkage) -> list[str]:
    return [joint.name for joint in arm.arcs if joint.articulation.nv]


def free_starts(arm: lw.Linkage, problem: dict[str, Any], is_free: Callable[[Array], bool]) -> list[Array]:
    """Return the problem's own start, and collision-free random poses."""
    poses = (pose for pose in arm.random_pose(1, 40 * STARTS) if is_free(pose))
    return [arm.pose(problem["start"]), *(pose for pose, _ in zip(poses, range(STARTS - 1), strict=False))]
