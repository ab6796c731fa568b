"""The side of a closed pose relative to singular poses, tracked so that a mechanism stays on its branch."""

from __future__ import annotations

import numpy as np

from ..transforms import FloatArray

MEETING = 1e-5  # share of the largest singular value, below which two branches meet
BLURRED = 1e-8  # share below which one side cannot be told from the other
ACROSS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # multiples of a step, tried to cross a meeting of branches


class Side:
    """The side of a closed pose, from the singular values of the closure's Jacobian for the following joints.

    Args:
        matrix: That Jacobian.
        whole: Whether to include directions that change no gap.
    """

    def __init__(self, matrix: FloatArray, *, whole: bool = False) -> None:
        self.matrix = matrix
        self.U, self.sigma, self.Vt = np.linalg.svd(matrix, full_matrices=whole)
        self.shares = self.sigma / max(float(self.sigma.max(initial=0.0)), 1e-300)

    def rank(self) -> int:
        """Return the number of nonzero singular values."""
        return int((self.shares > MEETING).sum())

    def left_at(self, other: Side, rank: int) -> float:
        """Return the fraction of its singular values left at another pose, in the direction that loses most.

        It is negative if the way there, assumed straight, crosses a singular pose.
        """
        there = self.U[:, :rank].T @ other.matrix @ self.Vt[:rank].T
        return float(np.linalg.eigvals(there / np.maximum(self.sigma[:rank, None], 1e-300)).real.min(initial=1.0))

    def crossed(self, other: Side, rank: int) -> bool:
        """Return whether another pose is at least as far beyond the meeting of branches as this one is before it."""
        left = self.left_at(other, rank)
        return left <= -1.0 or (abs(left) >= 1.0 and self.shares[rank - 1] < BLURRED)  # the sign is only noise here
