"""Distances between convex pieces, a million random pairs of them, judged by coal and by certificates.

For every two kinds of shapes, as many random pairs: how far our distances are from coal's where pieces are apart, how
much shorter or longer the way out is where they overlap, how far our answers are from a proof, and how long one takes.
Coal's GJK and EPA run with the tolerances given below; where the two disagree, the proof says who is right: the nearest
points of ours are no further apart than the planes across our normal.

    python benchmarks/distances.py               a million pairs, print the table and update results.md
    python benchmarks/distances.py --pairs 20000 fewer
    python benchmarks/distances.py --no-write    print only
    python benchmarks/distances.py --json        the same as JSON on stdout, talk on stderr
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from results import arguments, publish, say

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import random_pieces as pieces

SECTION = "distances"
TOLERANCE = 1e-10  # of coal's GJK and EPA
CLEAR = 1e-6  # m: pairs nearer than this to touching count as neither apart nor overlapping
MACHINE = machine(one_core=True)
HEAD = (
    "| Pair | apart: from coal [m] | overlapping: longer than coal's way out [m] | from a proof [m] | ours [µs] | "
    "coal from Python [µs] |\n|---|---:|---:|---:|---:|---:|"
)


def measured(a: int, b: int, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return what was found for two kinds."""
    pairs = pieces.random_pairs(a, b, count, rng)
    pieces.kernel_says(pieces.Pairs(pairs.codes[:1], pairs.numbers[:1], pairs.points))
    began = time.process_time()
    found = pieces.kernel_says(pairs)
    ours = time.process_time() - began
    began = time.process_time()
    judged = pieces.coal_says(pairs, tolerance=TOLERANCE)
    coals = time.process_time() - began
    off = np.abs(found.distance - judged.distance)
    apart = found.distance > CLEAR
    deep = (found.distance < -CLEAR) & (np.linalg.norm(judged.normal, axis=1) > 0.5)
    longer = -found.distance + pieces.apart_along(pairs, judged.normal)
    wrong_sign = (found.distance > CLEAR) != (judged.distance > CLEAR)
    clear = np.abs(found.distance) > 1e-5
    return {
        "pair": f"{pieces.NAMES[a]}, {pieces.NAMES[b]}",
        "pairs": count,
        "apart": float(off[apart].max(initial=0.0)),
        "deeper": float(longer[deep].max(initial=-np.inf)),
        "overlapping": int(deep.sum()),
        "proof": max(pieces.flaws(pairs, found).values()),
        "other sign": int((wrong_sign & clear).sum()),
        "ours": 1e6 * ours / count,
        "coal": 1e6 * coals / count,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the section."""
    total, signs = sum(row["pairs"] for row in rows), sum(row["other sign"] for row in rows)
    lines = [
        f"| {row['pair']} | {row['apart']:.0e} | {row['deeper']:.0e} | {row['proof']:.0e} | {row['ours']:.2f} | "
        f"{row['coal']:.1f} |"
        for row in rows
    ]
    return "\n".join(
        [
            "## Distances between convex pieces",
            "",
            f"{total:,} random pairs, {MACHINE['cpu']}; coal with tolerances of {TOLERANCE:g}. The largest",
            "differences: where pieces are apart, and where they overlap how much longer our way out is than one along",
            "coal's normal. *From a proof*: how far the distance of our nearest points is from what our normal proves.",
            f"Pairs of which we say that they touch and coal that they do not, or the reverse: {signs}.",
            "",
            HEAD,
            *lines,
        ]
    )


def main() -> None:
    """Measure and publish."""
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000, help="how many pairs in all")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    for a, b in pieces.PAIRS:
        rows.append(measured(a, b, -(-options.pairs // len(pieces.PAIRS)), rng))
        say(str(rows[-1]))
    publish(SECTION, table(rows), {"rows": rows}, options)


if __name__ == "__main__":
    main()
