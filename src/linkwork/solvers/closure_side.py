"""On which side of the singular poses a closed pose is: what is followed so that a mechanism keeps to its branch."""

from __future__ import annotations

import numpy as np

from ..transforms import FloatArray

MEETING = 1e-5  # of the largest singular value: nearer to zero, two branches meet
BLURRED = 1e-8  # nearer still, one side cannot be told from the other
ACROSS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # how many times a step it may take to get across a meeting of branches


class Side:
    """How a closed pose stands to the singular ones: the closure's Jacobian of the joints that follow, taken apart.

    Args:
        matrix: That Jacobian.
        whole: Whether directions that change no gap are wanted too.
    """

    def __init__(self, matrix: FloatArray, *, whole: bool = False) -> None:
        self.matrix = matrix
        self.U, self.sigma, self.Vt = np.linalg.svd(matrix, full_matrices=whole)
        self.shares = self.sigma / max(float(self.sigma.max(initial=0.0)), 1e-300)

    def rank(self) -> int:
        """Return how many of the singular values are not zero."""
        return int((self.shares > MEETING).sum())

    def left_at(self, other: Side, rank: int) -> float:
        """Return which part of its singular values is left at another pose, in the direction that loses most.

        It is negative if the way there, taken as straight, leads across a singular pose.
        """
        there = self.U[:, :rank].T @ other.matrix @ self.Vt[:rank].T
        return float(np.linalg.eigvals(there / np.maximum(self.sigma[:rank, None], 1e-300)).real.min(initial=1.0))

    def crossed(self, other: Side, rank: int) -> bool:
        """Return whether another pose is as far beyond the meeting of branches as this one is before it, or farther."""
        left = self.left_at(other, rank)
        return left <= -1.0 or (abs(left) >= 1.0 and self.shares[rank - 1] < BLURRED)  # its sign is but noise here
