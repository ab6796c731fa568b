"""A linkage turned into the arrays that the kernels run over.

Imports `linkage` and the codes of `kernels.rows`. Every joint becomes rows, each a constant transform followed by an
elementary motion about a coordinate axis; an oblique axis is turned onto z by the constants around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import joint_step as rows
from ..transforms import FloatArray, plane_basis
from .elements import Element
from .joints import Joint
from .linkage import Drive, Linkage

MOTIONS = {"revolute": rows.REVOLUTE, "prismatic": rows.PRISMATIC, "screw": rows.SCREW, "ball": rows.BALL}
EYE4 = np.eye(4)


@dataclass
class Rows:
    """Rows under construction; `constant` waits to be part of the next one."""

    codes: list[tuple[int, int, int, int]] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)
    rates: list[int] = field(default_factory=list)
    constant: FloatArray = field(default_factory=lambda: EYE4)

    def place(self, matrix: FloatArray) -> None:
        """Put a constant transform after what is there."""
        self.constant = matrix if self.constant is EYE4 else self.constant @ matrix

    def joint(self, joint: Joint, drive: Drive) -> None:
        """Add a joint: its placement, then its elements."""
        self.place(joint.placement)
        for element in joint.articulation.elements:
            self._element(element, drive)

    def _element(self, element: Element, drive: Drive) -> None:
        multiplier, offset, axis = drive.multiplier, drive.offset, 2
        after = EYE4
        if element.kind != "ball":
            axis = int(np.abs(element.axis).argmax())
            if np.abs(element.axis[axis]) == 1.0 and np.count_nonzero(element.axis) == 1:
                sign = float(element.axis[axis])
                multiplier, offset = sign * multiplier, sign * offset
            else:
                basis, axis = np.eye(4), 2
                basis[:3, :3] = plane_basis(element.axis)
                self.place(basis)
                after = basis.T
        self._row(MOTIONS[element.kind], axis, drive.q + element.value, multiplier, offset, element)
        self.rates += [drive.v + element.rate + k for k in range(3 if element.kind == "ball" else 1)]
        self.constant = after

    def rest(self) -> None:
        """Add what waits as a row without motion."""
        if not np.array_equal(self.constant, EYE4):
            self._row(rows.STAY, 0, 0, 1.0, 0.0, None)
        self.constant = EYE4

    def _row(
        self, motion: int, axis: int, value: int, multiplier: float, offset: float, element: Element | None
    ) -> None:
        rotation, position = self.constant[:3, :3], self.constant[:3, 3]
        turned, moved = not np.array_equal(rotation, EYE4[:3, :3]), bool(position.any())
        constant = rows.GENERAL if turned else rows.SHIFT if moved else rows.IDENTITY
        advance = 1.0 if element is None or element.kind == "prismatic" else element.advance
        self.codes.append((motion, axis, value, constant))
        self.numbers.append([*rotation.T.ravel().tolist(), *position.tolist(), multiplier, offset, advance])

    def arrays(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the codes (4 n,) and numbers (15 n,)."""
        return np.array(self.codes, dtype=np.int64).ravel(), np.array(self.numbers, dtype=np.float64).ravel()


def chain_program(linkage: Linkage, frame: str) -> tuple[Any, ...]:
    """Return codes, numbers and rates of the chain from the world to a frame, constants folded together."""
    path, end = linkage.path_to(frame)
    program = Rows()
    for i in path:
        program.joint(linkage.arcs[i], linkage.drives[i])
    program.place(end)
    program.rest()
    return (*program.arrays(), np.array(program.rates, dtype=np.int64))


def tree_program(linkage: Linkage) -> tuple[Any, ...]:
    """Return starts, parents, codes and numbers of all frames, links first."""
    program, starts, parents = Rows(), [0], list(linkage.parents)
    for joint, drive in zip(linkage.arcs, linkage.drives, strict=True):
        program.joint(joint, drive)
        program.rest()
        starts.append(len(program.codes))
    for extra in linkage.extra_frames:
        program.place(extra.placement)
        program.rest()
        starts.append(len(program.codes))
        parents.append(linkage.link_index(extra.link))
    return (np.array(starts, dtype=np.int64), np.array(parents, dtype=np.int64), *program.arrays())
