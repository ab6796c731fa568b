"""Distances between convex pieces, for a million random pairs, checked by coal and by certificates.

For every two kinds of shapes and equal numbers of pairs: the difference between our distance and coal's for separate
pieces, the difference in depth for overlapping ones, the gap between our answer and its proof, and the time of a call.
Coal's GJK and EPA use the tolerances below. If the two disagree, the proof decides: our nearest points are no further
apart than the two planes normal to our direction.

    python benchmarks/distances.py               a million pairs; print the table and update results.md
    python benchmarks/distances.py --pairs 20000 fewer pairs
    python benchmarks/distances.py --no-write    print only
    python benchmarks/distances.py --json        JSON on stdout, messages on stderr
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
CLEAR = 1e-6  # m: closer to touching, pairs count as neither separate nor overlapping
MACHINE = machine(one_core=True)
HEAD = (
    "| Pair | separate: from coal [m] | overlapping: deeper than coal [m] | from proof [m] | ours [µs] | "
    "coal from Python [µs] |\n|---|---:|---:|---:|---:|---:|"
)


def measured(a: int, b: int, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the results for two kinds."""
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
            f"{total:,} random pairs, {MACHINE['cpu']}; coal with tolerances of {TOLERANCE:g}. Largest",
            "differences: for separate pieces, from coal's distance; for overlapping pieces, by how much our depth",
            "exceeds that along coal's normal. *From proof*: distance of our nearest points minus the proven one.",
            f"Pairs that touch for one of the two libraries but not for the other: {signs}.",
            "",
            HEAD,
            *lines,
        ]
    )


def main() -> None:
    """Measure and publish."""
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000, help="total number of pairs")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    for a, b in pieces.PAIRS:
        rows.append(measured(a, b, -(-options.pairs // len(pieces.PAIRS)), rng))
        say(str(rows[-1]))
    publish(SECTION, table(rows), {"rows": rows}, options)


if __name__ == "__main__":
    main()
