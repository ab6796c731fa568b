"""The tree of a linkage: its links, joints and frames by name, their indices, and the paths between them."""

from __future__ import annotations

import math
from functools import cached_property

from ..errors import FrameNotFoundError, JointNotFoundError, LinkNotFoundError, NotFoundError
from ..transforms import IDENTITY, FloatArray
from .couplings import Coupling, CouplingRow
from .joints import Fixed, Joint
from .showing import Shown
from .tree import Drive, Frame, Link, Loop


class Structure(Shown):
    """The parts of a linkage. `Linkage` sets them once, after checking them.

    Attributes:
        name: Name for messages and files.
        arcs: The joints, the root arc first, each leading to the link at its position.
        nodes: The links, depth first.
        parents: The index of each link's parent; -1 for the root.
        drives: The source of each joint's values.
        extra_frames: The frames in addition to those of links.
        loops: The loops of the mechanism.
        couplings: The joints that follow others by a curve, or several others at once.
        coupling_rows: The couplings with indices; each comes after those that set its drivers.
    """

    name: str
    arcs: tuple[Joint, ...]
    nodes: tuple[Link, ...]
    parents: tuple[int, ...]
    drives: tuple[Drive, ...]
    extra_frames: tuple[Frame, ...]
    loops: tuple[Loop, ...]
    couplings: tuple[Coupling, ...]
    coupling_rows: tuple[CouplingRow, ...]

    @property
    def constrained(self) -> bool:
        """Whether the linkage has loops or couplings."""
        return bool(self.loops or self.couplings)

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Names of the links, depth first, children in the order given."""
        return tuple(link.name for link in self.nodes)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, depth first. The root arc is among them when it moves."""
        return tuple(joint.name for joint in self.arcs[1 if isinstance(self.root.articulation, Fixed) else 0 :])

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Names of all frames: one for each link, then the additional ones."""
        return self.links + tuple(frame.name for frame in self.extra_frames)

    @property
    def root(self) -> Joint:
        """The root arc, which places the root link in the world."""
        return self.arcs[0]

    @cached_property
    def _index(self) -> dict[type[NotFoundError], dict[str, int]]:
        """Indices by name of links, joints and frames, by the error class that an unknown name raises."""
        arcs = [joint.name for joint in self.arcs]
        names = {LinkNotFoundError: self.links, JointNotFoundError: arcs, FrameNotFoundError: self.frames}
        return {error: {name: i for i, name in enumerate(kind)} for error, kind in names.items()}

    def _place(self, name: str, error: type[NotFoundError], known: tuple[str, ...]) -> int:
        try:
            return self._index[error][name]
        except (KeyError, TypeError):
            raise error(name, f"linkage {self.name!r}", known) from None

    def link(self, name: str) -> Link:
        """Return a link by name."""
        return self.nodes[self.link_index(name)]

    def joint(self, name: str) -> Joint:
        """Return a joint by name; ``"root"`` is the root arc, unless it has another name."""
        return self.arcs[self.arc_index(name)]

    def drive(self, name: str) -> Drive:
        """Return the indices of a joint's values in the pose and in the velocity."""
        return self.drives[self.arc_index(name)]

    def link_index(self, name: str) -> int:
        """Return the position of a link in `links`; its joint has the same position in `arcs`."""
        return self._place(name, LinkNotFoundError, self.links)

    def arc_index(self, name: str) -> int:
        """Return the position of a joint in `arcs`, where the root arc comes first."""
        return self._place(name, JointNotFoundError, self.joints)

    def frame_index(self, name: str) -> int:
        """Return the position of a frame in `frames`."""
        return self._place(name, FrameNotFoundError, self.frames)

    def path_to(self, frame: str) -> tuple[list[int], FloatArray]:
        """Return the positions in `arcs` of the joints from the root to a frame, and link_from_frame at the end."""
        index, placement = self.frame_index(frame), IDENTITY
        if index >= len(self.links):
            extra = self.extra_frames[index - len(self.links)]
            index, placement = self.link_index(extra.link), extra.placement
        path = []
        while index >= 0:
            path.append(index)
            index = self.parents[index]
        return path[::-1], placement

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the child links of each link."""
        below: list[list[int]] = [[] for _ in self.nodes]
        for child, parent in enumerate(self.parents[1:], start=1):
            below[parent].append(child)
        return tuple(map(tuple, below))

    @cached_property
    def length(self) -> float:
        """Sum of the lengths of all placements of joints and frames [m]: a rough size of the linkage."""
        placements = [arc.placement for arc in self.arcs[1:]] + [frame.placement for frame in self.extra_frames]
        return sum(math.hypot(*placement[:3, 3]) for placement in placements)

    @cached_property
    def loop_size(self) -> float:
        """Size of the longest loop, the sum of its link lengths [m]; the scale for gaps."""
        sizes = [0.0]
        for loop in self.loops:
            (first, one), (second, two) = self.path_to(loop.first), self.path_to(loop.second)
            below = set(first) ^ set(second)  # drop the links that both paths share
            placements = [self.arcs[arc].placement for arc in below] + [one, two]
            sizes.append(sum(math.hypot(*placement[:3, 3]) for placement in placements))
        return max(sizes) or self.length or 1.0
