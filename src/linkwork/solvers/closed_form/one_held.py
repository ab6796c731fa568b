"""What all closed forms with one thing held have in common: a joint is held, and nothing is proven of what it gives."""

from __future__ import annotations

from ...transforms import FloatArray


class OneHeld:
    """A closed form of the other joints while one is held.

    Attributes:
        held: Which of the chain's values is held; None where that is none of them.
    """

    held: int | None

    def parameter(self, names: tuple[str, ...]) -> str:
        """Return what is held, in words, for names of the chain's values."""
        return "the free axis" if self.held is None else repr(names[self.held])

    def proves_for(self, _target: FloatArray) -> bool:
        """Return whether the poses at its slices are sure to be on all curves of a target: not if one may be short."""
        return False

    def why_no_pose(self, _target: FloatArray) -> str | None:
        """Return why a target without poses at the slices has none at all, where that is proven."""
        return None
