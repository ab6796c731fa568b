"""Linkwork in Blender: import motions as armatures, retarget motions to armatures, and solve inverse kinematics.

Install this file with Edit > Preferences > Add-ons > Install from Disk; linkwork itself must be installed for Blender's
Python. The panel is in the sidebar (N) of the 3D view.

Arrays of transforms are rigid, in metres, and named after their two frames: ``world_from_bone``. A bone points along
its y axis.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from bpy_extras.io_utils import ImportHelper
from mathutils import Matrix

bl_info = {
    "name": "Linkwork",
    "description": "Read motions, retarget them onto armatures, solve inverse kinematics",
    "author": "The linkwork authors",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "3D View > Sidebar > Linkwork",
    "category": "Animation",
}

TAIL = ".tail"  # suffix of frames at the tails of bones
SHORTEST = 1e-3  # shortest bone, as a fraction of the size of the skeleton
SAME = 1e-5  # relative differences of scales, and translations of bones [m], that are ignored
MOTIONS = "*.bvh;*.glb;*.gltf;*.vrm;*.vrma;*.usd*;*.fbx;*.npz"  # files that the dialogs show by default
LINEAR = 1  # Blender's number for linear interpolation


# An armature as a linkage


def unit(armature: bpy.types.Object) -> float:
    """Return the size of one unit inside an armature [m], with its scale."""
    scale = armature.matrix_world.to_scale()
    if max(scale) - min(scale) > SAME * max(scale) or armature.matrix_world.determinant() <= 0.0:
        raise ValueError(f"{armature.name} is scaled by {tuple(round(x, 4) for x in scale)}: apply its scale (Ctrl+A)")
    return scale[0] * bpy.context.scene.unit_settings.scale_length


def world_from(armature: bpy.types.Object, matrix: Matrix) -> np.ndarray:
    """Return a matrix in armature space as a rigid transform in the world."""
    place, turn, _ = (armature.matrix_world @ matrix).decompose()
    result = np.eye(4)
    result[:3, :3] = turn.to_matrix()
    result[:3, 3] = np.array(place) * bpy.context.scene.unit_settings.scale_length
    return result


def bones_of(armature: bpy.types.Object) -> list[bpy.types.Bone]:
    """Return the bones of an armature, parents first; all must inherit the rotation of their parents."""
    bones: list[bpy.types.Bone] = [bone for bone in armature.data.bones if bone.parent is None]
    for bone in bones:  # the list grows in the loop
        bones.extend(bone.children)
    for bone in bones:
        if bone.parent is not None and not bone.use_inherit_rotation:
            raise ValueError(f"bone {bone.name} does not inherit the rotation of its parent: turn that on")
    return bones


def rest_of(armature: bpy.types.Object) -> dict[str, np.ndarray]:
    """Return world_from_bone in the rest pose, by name."""
    return {bone.name: world_from(armature, bone.matrix_local) for bone in bones_of(armature)}


def pose_of(armature: bpy.types.Object) -> dict[str, np.ndarray]:
    """Return world_from_bone in the current pose, by name."""
    bpy.context.view_layer.update()
    return {bone.name: world_from(armature, armature.pose.bones[bone.name].matrix) for bone in bones_of(armature)}


def linkage_of(armature: bpy.types.Object, *, moving: Sequence[str] | None = None) -> Any:
    """Return an armature as a linkage: bones are links, with a frame at every tail, in the same rest pose.

    Bones are ball joints, the root is floating. A bone whose inverse kinematics is locked about two axes is a revolute
    joint, with its limits; about three axes, it is fixed.

    Args:
        armature: The armature.
        moving: The bones that may move; the others keep their current pose. By default all.
    """
    import linkwork as lw

    rest, now = rest_of(armature), pose_of(armature)
    bones = bones_of(armature)
    lone, joints, frames = sum(bone.parent is None for bone in bones) == 1, [], []
    base = next(name for name in ("base", "the base") if name not in rest)
    for bone in bones:
        kept = moving is not None and bone.name not in moving
        places = now if kept else rest
        above = np.eye(4) if bone.parent is None else places[bone.parent.name]
        placement = lw.transforms.inverse(above) @ places[bone.name]
        kind = lw.Fixed() if kept else articulation_of(armature.pose.bones[bone.name])
        parent = bone.parent.name if bone.parent is not None else None if lone else base
        joints.append(lw.Joint(bone.name, parent, bone.name, kind, placement))
        frames.append(lw.Frame(bone.name + TAIL, bone.name, (0.0, bone.length * unit(armature), 0.0)))
    links = [lw.Link(bone.name) for bone in bones]
    if not lone:
        joints.insert(0, lw.Joint("root", None, base, lw.Fixed()))
        links.insert(0, lw.Link(base))
    root, *others = joints
    return lw.Linkage(links, others, name=armature.name, root=root, frames=frames, poses={"rest": {}})


def articulation_of(bone: bpy.types.PoseBone) -> Any:
    """Return the joint of a bone, from the locks of its inverse kinematics."""
    import linkwork as lw

    free = [axis for axis in "xyz" if not getattr(bone, f"lock_ik_{axis}")]
    if bone.parent is None:
        return lw.Floating()
    if len(free) == 1:
        axis = free[0]
        limits = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
        return lw.Revolute(axis, *(limits if getattr(bone, f"use_ik_limit_{axis}") else (-np.inf, np.inf)))
    return lw.Ball() if free else lw.Fixed()


# A linkage as an armature


def new_armature(linkage: Any, rest: Mapping[str, np.ndarray]) -> tuple[bpy.types.Object, dict[str, str]]:
    """Return a new armature with a bone for each link, and the bone name of each link.

    Args:
        linkage: The linkage.
        rest: world_from_link at rest, by link.
    """
    metre = bpy.context.scene.unit_settings.scale_length
    data = bpy.data.armatures.new(linkage.name)
    armature = bpy.data.objects.new(linkage.name, data)
    bpy.context.collection.objects.link(armature)
    select(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    names: dict[str, str] = {}
    for link, (world_from_bone, length) in bone_places(linkage, rest).items():
        bone = data.edit_bones.new(link)
        names[link] = bone.name  # Blender truncates long names
        bone.tail = (0.0, length / metre, 0.0)
        world_from_bone[:3, 3] /= metre
        bone.matrix = Matrix(world_from_bone.tolist())
        parent = linkage.parents[linkage.links.index(link)]
        bone.parent = data.edit_bones[names[linkage.links[parent]]] if parent >= 0 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature, names


def bone_places(linkage: Any, rest: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, float]]:
    """Return world_from_bone and length of the bone of each link; it points to the children of the link."""
    places: dict[str, tuple[np.ndarray, float]] = {}
    heads = np.array([rest[link][:3, 3] for link in linkage.links])
    size = float(np.ptp(heads, axis=0).max()) or 1.0
    for k, link in enumerate(linkage.links):
        ends = [rest[linkage.links[child]][:3, 3] for child in linkage.children[k]]
        ends = ends or [(rest[link] @ f.placement)[:3, 3] for f in linkage.extra_frames if f.link == link]
        far = [end - heads[k] for end in ends if np.linalg.norm(end - heads[k]) > SHORTEST * size]
        along = np.mean(far, axis=0) if far else np.zeros(3)
        length = float(np.linalg.norm(along))
        if length <= SHORTEST * size:  # no children: a short bone in the direction of its parent
            above = places.get(linkage.links[linkage.parents[k]]) if linkage.parents[k] >= 0 else None
            along, length = (rest[link][:3, 2], 0.1 * size) if above is None else (above[0][:3, 1], 0.5 * above[1])
        y = along / np.linalg.norm(along)
        side = rest[link][:3, int(np.argmin(np.abs(rest[link][:3, :3].T @ y)))]  # least aligned axis of the link
        x = side - y * (side @ y)
        x /= np.linalg.norm(x)
        matrix = np.eye(4)
        matrix[:3, :3] = np.stack([x, y, np.cross(x, y)], axis=1)
        matrix[:3, 3] = heads[k]
        places[link] = matrix, length
    return places


# A motion as an action


def set_motion(armature: bpy.types.Object, clip: Any, names: Mapping[str, str], start: float) -> bpy.types.Action:
    """Set the motion of an armature from a clip, as a new action, and return the action.

    Args:
        armature: The armature; its rest pose is that of `rest_links` of the clip's linkage.
        clip: The motion.
        names: Bone name of each link.
        start: First frame in the scene.
    """
    import linkwork as lw

    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    frames = start + (clip.times - clip.times[0]) * rate
    at_rest = rest_links(clip.linkage)
    bones = rest_of(armature)
    links = {bone: link for link, bone in names.items()}
    worlds = clip.forward()
    moved = {
        bone: worlds[links[bone]] @ lw.transforms.inverse(at_rest[links[bone]]) @ rest
        for bone, rest in bones.items()
        if bone in links
    }
    action, new_curve = new_action(armature, clip.name or clip.linkage.name)
    for bone, basis in basis_of(armature, bones, moved).items():
        armature.pose.bones[bone].rotation_mode = "QUATERNION"
        path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].'
        turns = lw.transforms.steady(lw.transforms.matrix_quaternion(basis[:, :3, :3]))
        for k in range(4):
            set_keys(new_curve(path + "rotation_quaternion", k), frames, turns[:, k])
        travel = basis[:, :3, 3] / unit(armature)
        if np.abs(basis[:, :3, 3]).max() > SAME:
            for k in range(3):
                set_keys(new_curve(path + "location", k), frames, travel[:, k])
    scene.frame_end = max(scene.frame_end, int(np.ceil(frames[-1])))
    scene.frame_set(int(start))
    return action


def rest_links(linkage: Any) -> dict[str, np.ndarray]:
    """Return world_from_link in the rest pose of a linkage, by link: its stored pose ``rest``, or else all zero."""
    from linkwork.linkage.poses import rest_pose

    q = linkage.stored_pose("rest") if "rest" in linkage.poses else rest_pose(linkage)
    worlds = linkage.forward(q)
    return {link: np.array(worlds[link]) for link in linkage.links}


def basis_of(
    armature: bpy.types.Object, rest: Mapping[str, np.ndarray], moved: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the motion of each bone relative to rest, rest_from_bone in its own axes: Blender's matrix_basis.

    Args:
        armature: The armature.
        rest: world_from_bone at rest, by bone.
        moved: world_from_bone, shape (..., 4, 4), by bone; other bones stay at rest relative to their parents.
    """
    from linkwork.transforms import inverse

    worlds: dict[str, np.ndarray] = {}
    result = {}
    for bone in bones_of(armature):
        above = bone.parent
        world_from_rest = rest[bone.name]
        if above is not None:
            world_from_rest = worlds[above.name] @ inverse(rest[above.name]) @ rest[bone.name]
        worlds[bone.name] = moved.get(bone.name, world_from_rest)
        if bone.name in moved:
            result[bone.name] = inverse(world_from_rest) @ moved[bone.name]
    return result


def new_action(armature: bpy.types.Object, name: str) -> tuple[bpy.types.Action, Any]:
    """Return a new action of an armature, and a function that adds curves; since Blender 4.4 they are in slots."""
    armature.animation_data_create()
    action = bpy.data.actions.new(name)
    armature.animation_data.action = action
    if not hasattr(action, "slots"):
        return action, lambda path, k: action.fcurves.new(path, index=k)
    slot = action.slots.new(id_type="OBJECT", name=armature.name)
    armature.animation_data.action_slot = slot
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    bag = strip.channelbag(slot, ensure=True)
    return action, lambda path, k: bag.fcurves.new(path, index=k)


def set_keys(curve: bpy.types.FCurve, frames: np.ndarray, values: np.ndarray) -> None:
    """Add one key per frame to a curve."""
    curve.keyframe_points.add(len(frames))
    curve.keyframe_points.foreach_set("co", np.stack([frames, values], axis=1).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(frames), LINEAR, dtype=np.int32))
    curve.update()


# What the operators do


def import_clip(path: str, start: float = 1.0) -> tuple[bpy.types.Object, Any]:
    """Read a motion of any format that linkwork reads; return its new armature and the clip."""
    import linkwork as lw

    clip = lw.load_clip(path)
    armature, names = new_armature(clip.linkage, rest_links(clip.linkage))
    set_motion(armature, clip, names, start)
    return armature, clip


def retarget(path: str, armature: bpy.types.Object, start: float = 1.0) -> Any:
    """Retarget the motion of a file to an armature, and return it as a clip of the armature's linkage."""
    import linkwork as lw

    linkage = linkage_of(armature)
    clip = lw.retarget(lw.load_clip(path), linkage)
    set_motion(armature, clip, {bone.name: bone.name for bone in bones_of(armature)}, start)
    return clip


def solve(armature: bpy.types.Object, bone: str, target: bpy.types.Object, length: int = 0, turn: bool = False) -> Any:
    """Pose a chain of bones so that the tail of the last reaches a target; return linkwork's solution.

    Args:
        armature: The armature.
        bone: The last bone of the chain.
        target: The object that its tail should reach.
        length: Number of bones in the chain; 0 for all up to the bone below the root.
        turn: Whether the orientation of the bone should match that of the target.
    """
    import linkwork as lw

    chain, last = [bone], armature.data.bones[bone]
    while last.parent is not None and (len(chain) < length or length == 0):
        last = last.parent
        chain.append(last.name)
    chain = [name for name in chain if armature.data.bones[name].parent is not None] or chain
    linkage = linkage_of(armature, moving=chain)
    if linkage.nq == 0:
        raise ValueError(f"bone {bone} has no parent, or its chain is locked: no bone can turn")
    world_from_target = np.array(target.matrix_world)
    place = world_from_target[:3, 3] * bpy.context.scene.unit_settings.scale_length
    turned = np.array(target.matrix_world.to_quaternion().to_matrix()) if turn else None
    goal = lw.Reach(bone + TAIL, position=place, orientation=turned)
    solution = lw.solve(linkage, goal, start=start_of(armature, linkage))
    worlds = linkage.forward(solution.q)
    moved = {name: np.array(worlds[name]) for name in linkage.links if name in armature.data.bones}
    for name, basis in basis_of(armature, rest_of(armature), moved).items():
        if name in chain:
            set_turn(armature.pose.bones[name], basis)
    bpy.context.view_layer.update()
    return solution


def start_of(armature: bpy.types.Object, linkage: Any) -> np.ndarray:
    """Return the current pose of an armature as a pose of its linkage."""
    from linkwork.transforms import matrix_quaternion, rotation_vector

    values: dict[str, Any] = {}
    for name, basis in basis_of(armature, rest_of(armature), pose_of(armature)).items():
        kind = linkage.joint(name).articulation
        if kind.kind == "revolute":
            values[name] = float(rotation_vector(basis[:3, :3]) @ kind.axis)
        elif kind.kind == "ball":
            values[name] = {"wxyz": matrix_quaternion(basis[:3, :3])}
        elif kind.kind == "floating":
            values[name] = [*basis[:3, 3], *matrix_quaternion(basis[:3, :3])]
    return linkage.clamp(linkage.pose(values))


def set_turn(bone: bpy.types.PoseBone, basis: np.ndarray) -> None:
    """Set the rotation of a bone from its basis, in its rotation mode."""
    turn = Matrix(basis[:3, :3].tolist())
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = turn.to_quaternion()
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = turn.to_quaternion().to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(bone.rotation_mode, bone.rotation_euler)


def select(thing: bpy.types.Object) -> None:
    """Make an object the active and only selected one."""
    if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in bpy.context.view_layer.objects:
        other.select_set(other == thing)
    bpy.context.view_layer.objects.active = thing


# The panel and its operators


def run(operator: bpy.types.Operator, work: Any) -> set[str]:
    """Run the work of an operator; errors are reported in Blender, and nothing changes."""
    try:
        import linkwork as lw
    except ImportError as error:
        operator.report({"ERROR"}, f"linkwork cannot be imported by Blender's Python: {error}")
        return {"CANCELLED"}
    try:
        kind, text = work()
    except (lw.LinkworkError, ValueError) as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    operator.report({kind}, text)
    return {"FINISHED"}


def is_armature(context: bpy.types.Context) -> bool:
    """Return whether the active object is an armature."""
    return context.object is not None and context.object.type == "ARMATURE"


class LINKWORK_OT_import(bpy.types.Operator, ImportHelper):
    """Read a motion (BVH, glTF, USD, FBX, AMASS, ...) as a new armature with an action"""

    bl_idname, bl_label, bl_options = "linkwork.import_clip", "Import Motion", {"REGISTER", "UNDO"}
    filter_glob: bpy.props.StringProperty(default=MOTIONS, options={"HIDDEN"})
    start: bpy.props.FloatProperty(name="First Frame", default=1.0)

    def execute(self, context: bpy.types.Context) -> set[str]:  # noqa: ARG002 - Blender passes it
        """Import the chosen file."""

        def work() -> tuple[str, str]:
            armature, clip = import_clip(self.filepath, self.start)
            return "INFO", f"{armature.name}: {len(armature.data.bones)} bones, {len(clip)} frames"

        return run(self, work)


class LINKWORK_OT_retarget(bpy.types.Operator, ImportHelper):
    """Retarget the motion of a file to the selected armature, whatever its proportions"""

    bl_idname, bl_label, bl_options = "linkwork.retarget", "Retarget Motion", {"REGISTER", "UNDO"}
    filter_glob: bpy.props.StringProperty(default=MOTIONS, options={"HIDDEN"})
    start: bpy.props.FloatProperty(name="First Frame", default=1.0)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether an armature is active."""
        return is_armature(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Retarget the chosen file."""

        def work() -> tuple[str, str]:
            clip = retarget(self.filepath, context.object, self.start)
            return "INFO", f"{context.object.name}: {len(clip)} frames"

        return run(self, work)


class LINKWORK_OT_solve(bpy.types.Operator):
    """Pose the chain that ends in the active bone so that its tail reaches the target"""

    bl_idname, bl_label, bl_options = "linkwork.solve", "Solve", {"REGISTER", "UNDO"}
    length: bpy.props.IntProperty(name="Chain Length", description="0: all bones below the root", default=0, min=0)
    turn: bpy.props.BoolProperty(name="Rotation", description="Match the rotation of the target", default=False)
    key: bpy.props.BoolProperty(name="Insert Keys", description="Insert keys for the bones of the chain", default=False)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether there are an active pose bone and a target."""
        return is_armature(context) and context.active_pose_bone is not None and target_of(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Solve for the active bone."""

        def work() -> tuple[str, str]:
            bone = context.active_pose_bone
            solution = solve(context.object, bone.name, target_of(context), self.length, self.turn)
            if self.key:
                for one in (bone, *bone.parent_recursive)[: self.length or None]:
                    way = {"QUATERNION": "quaternion", "AXIS_ANGLE": "axis_angle"}.get(one.rotation_mode, "euler")
                    one.keyframe_insert(f"rotation_{way}")
            return ("INFO", "reached") if solution.success else ("WARNING", solution.explain())

        return run(self, work)


def target_of(context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the target: the one set in the panel, or else the other selected object."""
    others = [thing for thing in context.selected_objects if thing != context.object]
    return context.scene.linkwork_target or next(iter(others), None)


class LINKWORK_PT_panel(bpy.types.Panel):
    """Panel of linkwork in the sidebar."""

    bl_idname, bl_label, bl_category = "LINKWORK_PT_panel", "Linkwork", "Linkwork"
    bl_space_type, bl_region_type = "VIEW_3D", "UI"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the buttons."""
        column = self.layout.column()
        column.operator(LINKWORK_OT_import.bl_idname, icon="IMPORT")
        column.operator(LINKWORK_OT_retarget.bl_idname, icon="ARMATURE_DATA")
        column.separator()
        column.label(text="Inverse Kinematics")
        column.prop(context.scene, "linkwork_target", text="Target")
        column.operator(LINKWORK_OT_solve.bl_idname, icon="CON_KINEMATIC")


CLASSES = (LINKWORK_OT_import, LINKWORK_OT_retarget, LINKWORK_OT_solve, LINKWORK_PT_panel)


def register() -> None:
    """Register the panel and its operators."""
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Scene.linkwork_target = bpy.props.PointerProperty(type=bpy.types.Object, name="Target")


def unregister() -> None:
    """Unregister them."""
    del bpy.types.Scene.linkwork_target
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)


if __name__ == "__main__":
    register()
