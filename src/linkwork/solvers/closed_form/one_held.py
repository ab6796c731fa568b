"""Base class of closed forms with one joint, or the free axis, held; by default nothing is proven."""

from __future__ import annotations

from ...transforms import FloatArray


class OneHeld:
    """A closed form of the other joints while one is held.

    Attributes:
        held: Index of the chain's value that is held; None if the free axis is held.
    """

    held: int | None

    def parameter(self, names: tuple[str, ...]) -> str:
        """Return the name of the held joint, or of the free axis, from the names of the chain's values."""
        return "the free axis" if self.held is None else repr(names[self.held])

    def proves_for(self, _target: FloatArray) -> bool:
        """Return whether its slices are proven to meet all curves of a target, including short ones."""
        return False

    def why_no_pose(self, _target: FloatArray) -> str | None:
        """Return a text on why a target without poses at the slices has none at all, if that is proven."""
        return None
