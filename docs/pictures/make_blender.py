"""The picture of the page on Blender, rendered by Blender: python docs/pictures/make_blender.py (it needs bpy).

A motion read by the add-on, and the same motion retargeted onto a smaller armature. Bones are drawn as Blender draws
them, made into meshes: armatures themselves are not rendered.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
from made import recorded
from mathutils import Matrix, Vector

import linkwork as lw

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "extras/blender"))
import linkwork_blender as addon  # noqa: E402

FRAME = 8


def bones(armature: Any, color: tuple[float, float, float], at: Vector) -> None:
    """Put an octahedron into the scene for every bone, where it is now."""
    material = bpy.data.materials.new("bones")
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value, shader.inputs["Roughness"].default_value = (*color, 1.0), 0.5
    for bone in armature.pose.bones:
        width, waist = 0.1 * bone.length, 0.15 * bone.length
        ring = [(width, waist, 0), (0, waist, width), (-width, waist, 0), (0, waist, -width)]
        corners = [(0, 0, 0), *ring, (0, bone.length, 0)]
        faces = [(0, 1 + k, 1 + (k + 1) % 4) for k in range(4)] + [(5, 1 + (k + 1) % 4, 1 + k) for k in range(4)]
        mesh = bpy.data.meshes.new(bone.name)
        mesh.from_pydata(corners, [], faces)
        mesh.materials.append(material)
        thing = bpy.data.objects.new(bone.name, mesh)
        bpy.context.collection.objects.link(thing)
        thing.matrix_world = Matrix.Translation(at) @ armature.matrix_world @ bone.matrix


def look_at(thing: Any, place: tuple[float, float, float], point: tuple[float, float, float]) -> None:
    """Put a camera or a light into the scene, turned to a point."""
    bpy.context.collection.objects.link(thing)
    thing.location = place
    thing.rotation_euler = (Vector(point) - Vector(place)).to_track_quat("-Z", "Y").to_euler()


def main() -> None:
    """Render the picture."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    with tempfile.TemporaryDirectory() as folder:
        walk = Path(folder, "human.bvh")
        lw.models.motion("human:floating").save(walk)
        large, _ = addon.import_clip(str(walk))
        child = lw.models.human(height=1.2, root="floating")
        small, _ = addon.new_armature(child, addon.rest_links(child))
        addon.retarget(str(walk), small)
    scene.frame_set(FRAME)
    bones(large, (0.8, 0.35, 0.1), Vector((0, 0.6, 0)))
    bones(small, (0.1, 0.3, 0.7), Vector((0, -0.6, 0)))
    bpy.ops.mesh.primitive_plane_add(size=20)
    scene.camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    look_at(scene.camera, (4.6, -3.4, 1.5), (0, 0, 0.82))
    scene.camera.data.lens = 66
    light = bpy.data.lights.new("sun", "SUN")
    light.energy, light.angle = 1.6, 0.3
    look_at(bpy.data.objects.new("sun", light), (3, -3, 5), (0, 0, 0))
    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.35, 0.38, 0.42, 1.0)
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 32, False
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = 720, 480
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(HERE / "blender.png")
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    with recorded(__file__):
        main()
