"""Two appendages, and the traversal of their tree.

The depth-first traversal uses a stack of matrices: they are pushed on the way down and popped on the way up.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    b = lw.Builder("two arms", base="body", shape=lw.Box((1.2, 0.5, 0.3)))
    for side, x in (("left", -0.6), ("right", 0.6)):
        reach = lw.bone((0, 0, 0), (0, 1.0, 0), 0.12)
        b.revolute(f"{side} shoulder", f"{side} upper", parent="body", at=(x, 0.25, 0), shape=reach)
        b.revolute(f"{side} elbow", f"{side} lower", at=(0, 1, 0), shape=reach).frame(f"{side} hand", at=(0, 1, 0))
    figure = b.build()
    q = figure.pose(
        {"left shoulder": "35deg", "left elbow": "-80deg", "right shoulder": "-60deg", "right elbow": "75deg"}
    )

    stack: list[str] = []  # links whose matrices are on the stack
    for visit in figure.traverse(q):
        while stack and stack[-1] != visit.joint.parent:
            stack.pop()  # back up to the parent of this joint
        x, y, _ = visit.matrix[:3, 3]
        where = " > ".join(stack) or "the world"
        print(f"{'  ' * len(stack)}{visit.node.name:12} at ({x:5.2f}, {y:5.2f})   below: {where}")
        stack.append(visit.node.name)

    frames = figure.forward(q)  # the array form gives the same result
    print("same as forward:", all(np.allclose(visit.matrix, frames[visit.node.name]) for visit in figure.traverse(q)))
    lw.draw.pose(figure, q, labels=True, path=out / "tree_and_stack.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
