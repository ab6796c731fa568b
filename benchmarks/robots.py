"""The contract of `tests/contract.py` for all URDF and MJCF files of a folder: differences from Pinocchio and MuJoCo.

Run it with ``python benchmarks/robots.py FOLDER``, on any robots. Every file is read by linkwork and by the peer, and
compared: placements, Jacobians, masses; 200 goals and a path for one or two chains. This runs in a separate process
with a time limit, so that a file that hangs or crashes it affects no other file.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import threading
from collections import Counter
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from results import arguments, publish, say
from rich.console import Console
from rich.progress import track

import linkwork as lw

SECTION = "robots"
CONTRACT = Path(__file__).parents[1] / "tests" / "contract.py"
SAME = 1e-9  # tolerance of placements, Jacobians and centres [m or rad]; of masses, relative
JUMP = 0.5  # an unrequested step of this size is a jump [rad or m]
CLOSED = 1e-6  # largest gap of a closed loop [m or rad]
LIFE = 100  # files after which a process is replaced
SHOWN = 40  # files listed for each kind of difference

Reports = list[dict[str, Any]]


def robot_files(folder: Path) -> list[Path]:
    """Return the URDF and MJCF files of a folder and its subfolders, without parts that other files include."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".urdf", ".xml") and path.is_file():
            text = path.read_bytes()[: 2**16]
            if path.suffix == ".urdf" or (b"<mujoco" in text and b"<mujocoinclude" not in text):
                found.append(path)
    return found


class Judge:
    """A process that checks files one after another; it is replaced if it hangs or dies."""

    def __init__(self, limit: float, goals: int, folders: list[Path]) -> None:
        self.limit, self.left = limit, 0
        allowed = [word for folder in folders for word in ("--folder", str(folder.resolve()))]
        self.command = [sys.executable, str(CONTRACT), "--goals", str(goals), *allowed]

    def __call__(self, file: Path) -> dict[str, Any]:
        """Return the report on a file."""
        if not self.left:
            self.close()
            self._start()
        self.left -= 1
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{file.resolve()}\n")
            self.process.stdin.flush()
            line = self.lines.get(timeout=self.limit)
        except (queue.Empty, BrokenPipeError):
            line = None
        if line:
            report: dict[str, Any] = json.loads(line)
            return report
        hung = self.process.poll() is None and line is None
        self.process.kill()
        self.left = 0
        return {"file": str(file), "trouble": f"took more than {self.limit:g} s" if hung else "its process died"}

    def close(self) -> None:
        """End the process, if it runs."""
        if hasattr(self, "process"):
            self.process.kill()
            self.process.wait()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.left = LIFE
        threading.Thread(target=self._listen, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def _listen(stream: Any, lines: queue.Queue[str]) -> None:
        for line in stream:
            if line.startswith("{"):
                lines.put(line)
        lines.put("")


def figures(reports: Reports) -> dict[str, Any]:
    """Return the counts over all files."""
    both = [r for r in reports if not r.get("refused") and not r.get("peer_refused") and "places" in r]
    chains = [chain for r in both for chain in r["chains"]]
    return {
        "files": len(reports),
        "read by both": len(both),
        "read by neither": sum(bool(r.get("refused") and r.get("peer_refused")) for r in reports),
        "chains": len(chains),
        "goals": sum(chain["goals"] for chain in chains),
        "goals reached": sum(chain["reached"] for chain in chains),
        "paths": len(chains),
        **{name: len(found) for name, found in differences(reports).items()},
    }


def differences(reports: Reports) -> dict[str, list[str]]:
    """Return the differences, one line for each file or chain."""
    result: dict[str, list[str]] = {
        name: []
        for name in (
            *("refused, and the peer reads it", "trouble", "places differ", "Jacobians differ", "masses differ"),
            *("mass not known", "centres of mass differ", "loops stay open", "false successes", "goals not reached"),
            *("paths that jump", "paths with misses", "read here, and the peer refuses it"),
        )
    }
    for report in reports:
        file = report["file"]
        if report.get("refused") and not report.get("peer_refused"):
            result["refused, and the peer reads it"].append(f"{file}: {report['refused']}")
        if report.get("peer_refused") and not report.get("refused"):
            result["read here, and the peer refuses it"].append(f"{file}: {report['peer_refused']}")
        if report.get("trouble"):
            result["trouble"].append(f"{file}: {report['trouble']}")
        for what, name in (("places", "places"), ("jacobian", "Jacobians"), ("center", "centres of mass")):
            if (report.get(what) or 0.0) > SAME:
                result[f"{name} differ"].append(f"{file}: by {report[what]:.3g}")
        if report.get("mass_unknown"):
            result["mass not known"].append(file)
        if (report.get("mass") or 0.0) > SAME * max(report.get("peer_mass") or 0.0, 1.0):
            result["masses differ"].append(f"{file}: by {report['mass']:.4g} of {report['peer_mass']:.4g} kg")
        if (report.get("gap") or 0.0) > CLOSED:
            result["loops stay open"].append(f"{file}: by {report['gap']:.3g}")
        for chain in report.get("chains", []):
            _chain_differences(result, f"{file}, {chain['frame']} ({chain['joints']} joints)", chain)
    return result


def _chain_differences(result: dict[str, list[str]], name: str, chain: dict[str, Any]) -> None:
    if chain["false"]:
        result["false successes"].append(f"{name}: {chain['false']} of {chain['goals']}")
    if chain["reached"] < chain["goals"]:
        result["goals not reached"].append(f"{name}: {chain['goals'] - chain['reached']} of {chain['goals']}")
    if chain["step"] > JUMP:
        result["paths that jump"].append(f"{name}: by {chain['step']:.3g}, {chain['asked']:.2g} asked")
    if chain["missed"]:
        result["paths with misses"].append(f"{name}: {chain['missed']} frames")


def section(options: argparse.Namespace, reports: Reports) -> str:
    """Return the counts as a table."""
    which = f" (one file in {options.every})" if options.every > 1 else ""
    names = ("pin", "mujoco")
    versions = ", ".join([f"linkwork {lw.__version__}", *(f"{name} {version(name)}" for name in names)])
    lines = [
        "## Third-party robots",
        "",
        f"{date.today().isoformat()}, {versions}. Made by `python benchmarks/robots.py FOLDER`: "
        f"{', '.join(folder.name for folder in options.folders)}{which}. URDF is compared with Pinocchio, MJCF with "
        "MuJoCo; goals come from random poses within limits, with the peer's kinematics.",
        "",
        "| | |",
        "|---|---:|",
        *(f"| {name} | {count:,} |" for name, count in figures(reports).items()),
    ]
    kinds = Counter(kind for report in reports for kind in report.get("remarks", {}))
    said = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    return "\n".join([*lines, "", f"Files with remarks, by kind: {said or 'none'}."])


def details(reports: Reports) -> str:
    """Return the list of files that differ."""
    lines: list[str] = []
    for name, found in differences(reports).items():
        if found:
            more = [f"  and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
            lines += ["", f"{name} ({len(found)}):", *(f"  {line}" for line in found[:SHOWN]), *more]
    return "\n".join(lines)


def parsed() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="folders of .urdf and .xml files")
    parser.add_argument("--limit", type=float, default=60.0, help="time limit for one file [s]")
    parser.add_argument("--goals", type=int, default=200, help="goals per chain; 0 skips chains and paths")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="use only every Nth file")
    options = parser.parse_args()
    for folder in options.folders:
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder")
    return options


def main() -> None:
    options = parsed()
    files = [file for folder in options.folders for file in robot_files(folder)][:: options.every]
    subprocess.run([sys.executable, "-m", "linkwork", "warmup"], check=True, stdout=sys.stderr)  # compiles kernels once
    reports: Reports = []
    judge = Judge(options.limit, options.goals, options.folders)
    try:
        for file in track(files, "judging", console=Console(stderr=True)):
            reports.append(judge(file))
    except KeyboardInterrupt:
        say(f"stopped after {len(reports)} of {len(files)} files; the results are for those")
    finally:
        judge.close()
    found = {"figures": figures(reports), "differences": differences(reports), "reports": reports}
    publish(SECTION, section(options, reports), found, options)
    if not options.json:
        print(details(reports))


if __name__ == "__main__":
    main()
