"""Four-bars near a change point, driven through a turn: their circuit does not depend on the sampling.

`python tests/circuits.py` drives a thousand of them in 12 to 720 frames; the suite drives a few.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

FRAMES = (12, 24, 73, 180, 720)
OFF = 1e-9  # [m], for bars of about one metre


def near_a_change_point(rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Return bars whose shortest is a crank: it can turn fully, by a margin below a hundredth of its length."""
    while True:
        crank = rng.uniform(0.1, 0.5)
        one, two = crank + rng.uniform(0.05, 1.0, 2)
        longest = one + two - crank - 10 ** rng.uniform(-7, -2) * crank
        if longest >= max(one, two):
            ground, coupler, rocker = rng.permutation([one, two, longest])
            return ground, crank, coupler, rocker


def off_circuit(rng: np.random.Generator, frames: int) -> float:
    """Return the largest distance of a random four-bar's pin, over a turn, from the circles' intersection [m].

    Of the two intersections, the one on the starting side counts.
    """
    ground, crank, coupler, rocker = near_a_change_point(rng)
    bars = lw.models.four_bar(ground, crank, coupler, rocker)
    first = rng.uniform(0.0, 2.0 * np.pi)
    path = np.linspace(first, first + rng.choice([-1.0, 1.0]) * 2.0 * np.pi, frames)
    clip = lw.drive(bars, "crank", path, start=str(rng.choice(["start", "crossed"])))
    end, pin = ground + rocker * np.exp(1j * clip.poses[:, 2]), crank * np.exp(1j * path)
    side = np.sign(np.imag(np.conj(ground - pin[0]) * (end[0] - pin[0])))
    way, apart = ground - pin, np.abs(ground - pin)
    along = (apart**2 + coupler**2 - rocker**2) / (2.0 * apart)
    known = pin + way / apart * (along + 1j * side * np.sqrt(coupler**2 - along**2))
    return float(np.abs(end - known).max())


def main() -> None:
    """Drive a thousand four-bars with every number of frames, and print how many leave their circuit."""
    for frames in FRAMES:
        off = [off_circuit(np.random.default_rng(seed), frames) for seed in range(1000)]
        lost = sum(one > OFF for one in off)
        print(f"{frames} frames: {lost} of {len(off)} leave their circuit; at most {max(off):.1e} m off", flush=True)


if __name__ == "__main__":
    main()
