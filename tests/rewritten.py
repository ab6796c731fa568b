"""Rewrites a motion with one of its frames as the rest pose: the same joint positions, other numbers."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw


def rewritten(clip: lw.Clip, frame: int, turned: bool = False) -> lw.Clip:
    """Return a clip whose rest pose is one of its frames, with new offsets and channels.

    Args:
        clip: The motion.
        frame: The frame that becomes the rest pose.
        turned: Whether the links get other axes too, since these differ between programs.
    """
    linkage = clip.linkage
    world = clip.forward()
    turns = np.stack([world[name][:, :3, :3] for name in linkage.links], axis=1)
    places = np.stack([world[name][:, :3, 3] for name in linkage.links], axis=1)
    own = turns[frame].copy()  # world_from_link in the file, in the frame that becomes the rest pose
    axes = Rotation.random(len(own), random_state=0).as_matrix() if turned else np.broadcast_to(np.eye(3), own.shape)
    turns = np.einsum("tlij,lkj,lkm->tlim", turns, own, axes)  # world_from_link in the new file
    joints, columns = [], []
    for k, (name, parent) in enumerate(zip(linkage.links, linkage.parents, strict=True)):
        above = np.broadcast_to(np.eye(4), (len(clip), 4, 4)).copy()
        if parent >= 0:
            above[:, :3, :3], above[:, :3, 3] = turns[:, parent], places[:, parent]
        way = np.einsum("tji,tj->ti", above[:, :3, :3], places[:, k] - above[:, :3, 3])
        placement = np.eye(4)
        placement[:3, :3], placement[:3, 3] = above[frame, :3, :3].T @ turns[frame, k], way[frame]
        local = np.einsum("ji,tkj,tkl->til", placement[:3, :3], above[:, :3, :3], turns[:, k])
        quaternions = Rotation.from_matrix(local).as_quat(scalar_first=True)
        slides = parent < 0 or bool(np.abs(way - way[frame]).max() > 1e-6)
        joint = lw.Floating() if slides else lw.Ball()
        joints.append(lw.Joint(f"{name} joint", None if parent < 0 else linkage.links[parent], name, joint, placement))
        columns += [(way - way[frame]) @ placement[:3, :3], quaternions] if slides else [quaternions]
    frames = []
    for one in linkage.extra_frames:
        link = linkage.link_index(one.link)
        local = np.eye(4)
        local[:3, 3] = axes[link].T @ own[link] @ one.placement[:3, 3]
        frames.append(lw.Frame(one.name, one.link, local))
    links = [lw.Link(name) for name in linkage.links]
    made = lw.Linkage(links, joints[1:], name=linkage.name, root=joints[0], frames=frames)
    return lw.Clip(made, clip.times, np.hstack(columns))
