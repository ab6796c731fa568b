"""Read and write glTF 2.0 and GLB files: the nodes of a scene as a linkage, its animations as clips.

`gltf_data` reads the file, `gltf_nodes` the tree, `gltf_motion` the animations, `gltf_extras` linkwork's additions.
glTF uses metres, y up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from ..errors import listed
from ..linkage.joints import Articulation, Ball, Fixed, Floating
from ..linkage.linkage import Link, Linkage
from ..linkage.origin import Origin
from ..motion.clips import BLOCK, Clip
from ..motion.contacts import FOOT
from ..motion.frame_files import Frames
from ..transforms import FloatArray, transform
from . import gltf_extras
from .atomic_files import located
from .bvh_scale import HEAD, some_frames
from .content import Content, Remarks, UniqueNames, counted, file_errors
from .gltf_append import write_into
from .gltf_data import COMPRESSED, GltfSource
from .gltf_draco import EXTENSION as DRACO
from .gltf_motion import Tracks, frame_times, moved, read_tracks
from .gltf_nodes import NodeTree, Placement, Step
from .gltf_vrm import roles_of
from .gltf_writer import write
from .options import DEFAULTS, UP, FilePath, Options
from .skeletons import linkage_at_rest, move_link

__all__ = ["read", "write", "write_into"]

STILL = 1e-6  # motions below this fraction of the size of the skeleton are ignored
LARGE = 50.0  # larger skeletons are probably not in metres [m]
NOTABLE = 1e-4  # smallest change of scale with a remark
STANDS = 0.9  # component of the direction from feet to head above which a body stands along an axis
READ = (*COMPRESSED, DRACO)  # required extensions that are supported
MAX_VALUES = 12_000_000  # numbers in the poses of all clips together


@dataclass(frozen=True, eq=False)
class Motion:
    """An animation and the times of its frames."""

    name: str
    times: FloatArray
    tracks: Tracks


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the linkage and the motions in a glTF or GLB file.

    Every node of the scene becomes a link. Its joint is a ball joint if an animation rotates the node or the node is a
    joint of a skin, floating if its offset changes, and fixed otherwise. The rest pose of the file is the neutral pose.

    Args:
        path: The file.
        options: `units` (metres per unit), `up` and `folders` (locations of buffers) are used.

    Raises:
        FormatError: If the file cannot be read.
    """
    source, remarks = GltfSource(path, options), Remarks()
    with file_errors(path), np.errstate(all="ignore"):
        skeleton = NodeTree(source)
        own = gltf_extras.read(source, skeleton, remarks)
        return own or _GltfReader(source, skeleton, remarks).content()


class _GltfReader:
    """Converts a file to a linkage."""

    def __init__(self, source: GltfSource, skeleton: NodeTree, remarks: Remarks) -> None:
        self.source, self.skeleton = source, skeleton
        self.options = source.options
        self.unit = self.options.units or 1.0
        self.remarks = remarks
        self.place = {index: k for k, index in enumerate(skeleton.order)}
        self.extent = skeleton.extent
        self.turning = {self.place[j] for skin in source.document.skins for j in skin.joints if j in self.place}
        self.roles = roles_of(source, dict(zip(skeleton.order, skeleton.names, strict=True)))
        bones = set(self.roles.values())
        self.turning |= {k for k, name in enumerate(skeleton.names) if name in bones}
        self.left_out: Counter[str] = Counter()
        self.sliding: dict[int, float] = {}
        self.stretching: dict[int, float] = {}

    def content(self) -> Content:
        motions = self._motions()
        linkage = self._linkage()
        clips = {motion.name: self._clip(linkage, motion) for motion in motions}
        self._say()
        self._say_lying(motions)
        return Content(linkage, clips, tuple(self.remarks))

    # Animations

    def _motions(self) -> list[Motion]:
        animations = self.source.document.animations
        names = UniqueNames(animation.name or "" for animation in animations)
        read = []
        for i, animation in enumerate(animations):
            name = names.take(animation.name or "", f"animation{i}")
            tracks, odd = read_tracks(self.source, animation, f"animation {name!r}", self.place, self.left_out)
            self.remarks += odd
            if tracks:
                read.append((name, tracks))
            self.turning |= {self.place[node] for node, path in tracks if path == "rotation"}
        animated = {node for _, tracks in read for node, _ in tracks}
        width = 7 * len(animated | {self.skeleton.order[k] for k in self.turning})
        left = MAX_VALUES
        motions = []
        for name, tracks in read:
            motions.append(self._motion(name, tracks, max(left // width, 0)))
            left -= width * len(motions[-1].times)
        return motions

    def _motion(self, name: str, tracks: Tracks, most: int) -> Motion:
        scaled = [self.place[node] for (node, path), track in tracks.items() if path == "scale" and track.varies(STILL)]
        scales = any(self.skeleton.below[k] for k in scaled)
        if scales:
            most = min(most, MAX_VALUES // (9 * len(self.skeleton.order)))
        if most < 2:
            self.source.refuse(f"has animations of more than {MAX_VALUES} numbers in total, the limit.")
        times, wanted = frame_times(tracks, scales, most)
        if wanted > most:
            self.remarks.add("thinned", f"animation {name!r} needs {wanted} frames; only {len(times)} are read.", name)
        for begin in range(0, len(times), BLOCK):
            for k, step in self._steps(tracks, times[begin : begin + BLOCK]).items():
                self._note(k, step)
        return Motion(name, times, tracks)

    def _steps(self, tracks: Tracks, times: FloatArray) -> dict[int, Step]:
        """Return the moving links at given times, by position in the skeleton."""
        nodes = sorted({self.place[node] for node, _ in tracks})
        return self.skeleton.moved({k: self._placed(k, tracks, times) for k in nodes})

    def _placed(self, k: int, tracks: Tracks, times: FloatArray) -> Placement:
        node, rest = self.skeleton.order[k], self.skeleton.rest[k]
        rotation, translation = moved(tracks, node, times, rest.rotation, rest.translation)
        stretch, scale = rest.stretch, tracks.get((node, "scale"))
        if scale is not None:
            same = not scale.varies(STILL) and np.abs(scale.values[:1] - np.diagonal(rest.stretch)).max() <= STILL
            stretch = rest.stretch if same else scale.at(times)[:, :, None] * np.eye(3)
        return Placement(translation, rotation, stretch)

    def _note(self, k: int, step: Step) -> None:
        """Record which links translate relative to their parents, and the relative change of the stretch of nodes."""
        rest = self.skeleton.steps[k]
        slide = float(np.abs(step.offset - rest.offset).max())
        if not np.isfinite(slide):
            self.source.refuse(f"an animation moves {self.skeleton.names[k]!r} to a position that is not finite.")
        if slide > STILL * self.extent:
            self.sliding[k] = max(slide, self.sliding.get(k, 0.0))
        if step.stretch.ndim > 2:
            change = float(np.abs(step.stretch - rest.stretch).max() / max(np.abs(rest.stretch).max(), 1e-300))
            self.stretching[k] = max(change, self.stretching.get(k, 0.0))

    # The linkage

    def _linkage(self) -> Linkage:
        skeleton = self.skeleton
        kinds: list[Articulation] = [
            Floating() if k in self.sliding else Ball() if k in self.turning else Fixed()
            for k in range(len(skeleton.order))
        ]
        linkage = linkage_at_rest(
            PurePath(self.source.path).stem or "linkage",
            [Link(name) for name in skeleton.names],
            skeleton.parents,
            [transform(step.offset * self.unit, step.rotation) for step in skeleton.steps],
            kinds,
            transform(rotation=UP[self.options.up or "y"]),
            origin=self._origin(),
        )
        if len(linkage.links) > len(skeleton.order):
            roots, base = skeleton.parents.count(-1), linkage.links[0]
            self.remarks.add("base", f"the scene has {roots} roots; they are attached to an added link {base!r}.")
        return linkage

    def _origin(self) -> Origin | None:
        """Return the file, if it contains more than a skeleton."""
        meshes = bool(self.source.document.meshes)
        if not meshes and not self.roles:
            return None
        up, folders = self.options.up or "y", self.options.folders
        return Origin(located(self.source.path), self.unit, up, folders, roles=self.roles, has_meshes=meshes)

    def _clip(self, linkage: Linkage, motion: Motion) -> Clip:
        """Return a motion as poses relative to the rest placements."""
        frames, before = Frames(linkage.nq), None
        for begin in range(0, len(motion.times), BLOCK):
            times = motion.times[begin : begin + BLOCK]
            poses = np.tile(linkage.neutral(), (len(times), 1))
            for k, step in self._steps(motion.tracks, times).items():
                rest = self.skeleton.steps[k]
                shift = (step.offset - rest.offset) @ rest.rotation * self.unit
                move_link(linkage, poses, self.skeleton.names[k], shift, rest.rotation.T @ step.rotation, before)
            frames.add(poses)
            before = poses[-1]
        return Clip(linkage, motion.times, frames.array() if linkage.nq else np.zeros((len(motion.times), 0)))

    # Remarks

    def _say(self) -> None:
        skeleton, source = self.skeleton, self.source
        told = "as given" if self.options.up or self.options.units else "as in glTF"
        said = f"{self.options.up or 'y'} points up, {self.unit:g} m per unit ({told})"
        self.remarks.add("up-axis", f"{said}; quaternions are x, y, z, w.")
        if self.options.units is None and self.extent > LARGE:
            text = f"it is {self.extent:.4g} m long from its root to its end; if the unit is centimetres, give"
            self.remarks.add("units", f"{text} units=0.01 (--units cm).")
        unread = [name[:60] for name in source.document.extensions_required if name not in READ]
        if unread:
            self.remarks.add("extensions", f"it requires {listed(unread)}, which linkwork does not read.")
        counts = [
            (skeleton.unnamed, "node", "names", "without a name, named by number"),
            (skeleton.renamed, "node", "names", "with a repeated name, given a number"),
            (len(source.document.nodes) - len(skeleton.order), "node", "scene", "in no scene"),
            (
                len(source.document.meshes),
                "mesh",
                "meshes",
                "not in the linkage, but kept when it is saved in this format",
            ),
        ]
        for path, count in self.left_out.items():
            counts.append((count, "channel", "dropped", f"of {path!r} not read: a linkage cannot store them"))
        for count, what, kind, text in counts:
            if count:
                self.remarks.add(kind, f"{counted(count, what)} {text}.")
        if source.spare:
            self.remarks.add("length", f"{source.spare} bytes after the length stated in the header are not read.")
        self._say_scales()

    def _say_lying(self, motions: Sequence[Motion]) -> None:
        """Add a remark if a body lies throughout its first motion, as in files written with another up axis."""
        names = list(enumerate(self.skeleton.names))
        heads, feet = ([k for k, name in names if part.search(name)] for part in (HEAD, FOOT))
        if self.options.up is not None or not heads or not feet:
            return
        known: dict[int, tuple[FloatArray, FloatArray]] = {}
        first = motions[0] if motions else None
        steps = {} if first is None else self._steps(first.tracks, first.times[some_frames(len(first.times))])
        places = [[self._followed(k, steps, known)[1] for k in own] for own in (heads, feet)]
        ends = [np.mean(np.broadcast_arrays(*own), axis=0) for own in places]  # some move, others do not
        way = np.atleast_2d(ends[0] - ends[1])
        way = (way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)).mean(axis=0)
        axis = "xyz"[int(way.argmax())]
        if axis != "y" and way.max() > STANDS:
            text = f"the head is above the feet along {axis}, not along y, which points up in glTF"
            self.remarks.add("up-axis", f"{text}; if the body should stand, up={axis!r} (--up {axis}) reads it so.")

    def _followed(
        self, k: int, steps: Mapping[int, Step], known: dict[int, tuple[FloatArray, FloatArray]]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the rotation and position of a node in the scene, with some ancestors moved."""
        if k not in known:
            step, parent = steps.get(k, self.skeleton.steps[k]), self.skeleton.parents[k]
            turn, offset = step.rotation, step.offset
            if parent >= 0:
                above, place = self._followed(parent, steps, known)
                turn, offset = above @ turn, place + (above @ offset[..., None])[..., 0]
            known[k] = turn, offset
        return known[k]

    def _say_scales(self) -> None:
        skeleton, uneven = self.skeleton, dict[int, float]()
        for k, step in enumerate(skeleton.steps):
            if not step.plain and skeleton.below[k]:
                sizes = np.linalg.norm(step.stretch, axis=0)
                uneven[k] = float(np.ptp(sizes) / max(sizes.max(), 1e-300))
        below = [j for j in self.sliding if skeleton.parents[j] in self.stretching]
        fate = f"so {counted(len(below), 'joint')} below float" if below else "so it is lost"
        right = "joints below are correct at rest and in the clips, but not in other poses"
        for changes, what, then in (
            (uneven, "with uneven scale on those below", right),
            (self.stretching, "whose scale changes", f"links have no scale, {fate}"),
        ):
            k = max(changes, key=lambda k: changes[k], default=-1)
            if k >= 0 and changes[k] > NOTABLE:
                text = f"{counted(len(changes), 'node')} {what} (by up to {changes[k]:.2%}); {then}."
                self.remarks.add("scale", text, skeleton.names[k])
