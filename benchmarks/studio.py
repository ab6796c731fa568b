"""The studio as a user experiences it: time to open, delay of a dragged hand, and memory.

    python benchmarks/studio.py                  print the table and update results.md
    python benchmarks/studio.py --soak 600       seconds of random actions, and their memory
    python benchmarks/studio.py --actions 3000   number of random actions without a page

On Linux, `chrt -r 5` before the command (as root) gives it priority over other processes; the table then says so.

Chromium renders in software here: rendering is not part of the time of a drag, but of the time to open. Every row has
the median and the least of several runs. On a shared machine, the least is more accurate, and CPU time even more so.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

from forward import machine
from playwright.sync_api import sync_playwright
from results import arguments, publish, say
from websockets.sync.client import connect

import linkwork as lw

SECTION, SOAKED, ACTED = "studio", "studio-soak", "studio-actions"
STUDIO = "document.querySelector('linkwork-studio')"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
SERVE = ["-m", "linkwork", "studio", "panda", "--no-browser", "--port", "0"]
SEEN = "new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"  # a frame was drawn
PULLS = 120
RUNS = 5
LOOKS = 10
AT_ONCE = 5  # concurrent actions of the soak
# A scripted drag: pointer events, then the solve and what is written for the GPU, without drawing.
PULL = """(count) => { const s = document.querySelector("linkwork-studio"); const t = s.solving;
  const name = [...t.pins.keys()][0]; t.takeGoal(name);
  const place = t.hand.target.slice(); let solve = 0, write = 0;
  for (let k = 0; k < count; k++) { place[3] += 0.002 * Math.sin(k / 9); place[11] += 0.002 * Math.cos(k / 7);
    const a = performance.now(); t.pull(place); t.work(); const b = performance.now();
    s.stage.pose(t.linkage.matrices(t.q)); s.holding.settle(); for (const part of s.parts) part.follow?.();
    solve += b - a; write += performance.now() - b; }
  t.rest(); return [solve / count, write / count]; }"""
# Time of script and layout per frame with thousands of joints and their list open: the median of many, since software
# rendering delays some. Python moves it, and sends poses.
CROWD = """(count) => { const s = document.querySelector("linkwork-studio"); const t = s.solving;
  s.tour.end(); s.room.open("Joints");
  const panel = s.parts.find((one) => one.there && one.rows); const room = s.root.querySelector(".room");
  const frame = () => { s.stage.pose(t.linkage.matrices(t.q)); s.holding.settle();
    for (const part of s.parts) part.follow?.();
    room.offsetHeight; };
  const time = (act) => { const all = [];
    for (let k = 0; k < count; k++) { const a = performance.now(); act(k); frame(); all.push(performance.now() - a); }
    return all.sort((a, b) => a - b)[count >> 1]; };
  const pose = { time: 0, q: Array.from(t.q) };
  return { "scrolling the list": time((k) => { panel.view.scrollTop = 97 * k; panel.fill(); }),
    "selecting a link": time((k) => s.select(`l${7 * k}`)),
    "turning a joint": time((k) => { const { input } = [...panel.there.values()][3]; input.value = 400 + k;
      input.dispatchEvent(new Event("input")); }),
    "dragging its end": time((k) => { pose.q[0] = 0.01 * k; s.told(JSON.parse(JSON.stringify({ pose }))); }) }; }"""
JOINTS = 5000
HUMAN = (("reach", "right_hand"), ("look at", "eyes"))  # with the first hand and two feet: five goals


def opening(browser: Any, bytecode: str) -> dict[str, float]:
    """Return seconds from the start of a process to its address, and from there to a usable page.

    The result also has the CPU times of both processes, the studio and the page. Python has its bytecode in a folder,
    as after an installation; the browser is running with an empty tab.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    watcher = page.context.new_cdp_session(page)
    watcher.send("Performance.enable")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
    process = subprocess.Popen([sys.executable, *SERVE], stdout=subprocess.PIPE, text=True, env=env, encoding="utf-8")
    assert process.stdout is not None
    url = process.stdout.readline().split("; ")[0].split()[-1]
    served = time.perf_counter()
    page.goto(url, wait_until="domcontentloaded")
    page.evaluate(f"{STUDIO}.ready")
    usable = time.perf_counter()
    page.evaluate(SEEN)
    seen = time.perf_counter()
    metrics = {one["name"]: one["value"] for one in watcher.send("Performance.getMetrics")["metrics"]}
    page.close()
    process.terminate()
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "process to address": served - begin,
        "address to usable page": usable - served,
        "process to usable page": usable - begin,
        "process to its first picture, drawn in software": seen - begin,
        "CPU time of the process": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "CPU time of the page": metrics["ProcessTime"],
    }


def pulling(browser: Any, model: str, goals: tuple[tuple[str, str], ...] = ()) -> tuple[list[list[float]], int]:
    """Return, for several runs, ms of a solve and of the rest of the page's script per frame; and the goals."""
    with lw.studio.open_studio(model, port=0) as studio:
        for kind, frame in goals:
            studio.add_goal(frame, kind=kind)
        page = browser.new_page(viewport={"width": 900, "height": 600})
        page.goto(studio.url)
        page.evaluate(f"{STUDIO}.ready")
        page.wait_for_timeout(500)
        page.evaluate(PULL, 20)
        runs = [page.evaluate(PULL, PULLS) for _ in range(RUNS)]
        count = page.evaluate(f"{STUDIO}.solving.pins.size")
        page.close()
    return runs, count


def crowd(browser: Any) -> list[dict[str, float]]:
    """Return, for several runs, ms of the page's script and layout per frame with thousands of joints."""
    builder = lw.Builder("long")
    for k in range(JOINTS):
        at = (0.01, 0, 0) if k else (0, 0, 0)
        builder = builder.revolute(f"j{k}", f"l{k}", axis="z" if k % 2 else "y", at=at)
    with lw.studio.open_studio(builder.build(), port=0) as studio:
        page = browser.new_page(viewport={"width": 900, "height": 600})
        page.goto(studio.url)
        page.evaluate(f"{STUDIO}.ready")
        page.evaluate(CROWD, 5)
        runs = [page.evaluate(CROWD, PULLS // 4) for _ in range(RUNS)]
        page.close()
    return runs


def soak(browser: Any, seconds: float) -> list[tuple[float, int, int, float, float, float]]:
    """Return seconds, numbers of actions done and undoable, and MB, during random actions.

    MB are those of the process, of the page's script, and of its kernels.
    """
    rng, found, count = random.Random(0), [], 0
    with lw.studio.open_studio("panda", port=0) as studio:
        page = browser.new_page(viewport={"width": 700, "height": 500})
        page.goto(studio.url)
        page.evaluate(f"{STUDIO}.ready")
        begin, next_look = time.perf_counter(), 0.0
        while (now := time.perf_counter() - begin) < seconds:
            asks = [_action(rng) for _ in range(AT_ONCE)]
            page.evaluate(f"(asks) => Promise.all(asks.map((ask) => {STUDIO}.link.ask(ask).catch(() => null)))", asks)
            count += AT_ONCE
            page.evaluate(PULL, 3) if page.evaluate(f"{STUDIO}.solving.pins.size") else None
            if now >= next_look:
                next_look = now + seconds / LOOKS
                page.evaluate("globalThis.gc?.()")  # garbage does not count
                kernels = page.evaluate(f"{STUDIO}.solving.linkage.desk.home.kernels.memory.buffer.byteLength")
                heap = page.evaluate("performance.memory.usedJSHeapSize")
                states = len(studio.session.history)
                found.append((now, count, states, _resident(), heap / 2**20, kernels / 2**20))
        page.close()
    return found


def act(actions: int) -> list[tuple[int, int, float, float]]:
    """Return numbers of actions done and undoable, and MB, during random actions without a page.

    MB are those of the process and of the history.
    """
    rng, found = random.Random(0), []
    with (
        lw.studio.open_studio("panda", port=0) as studio,
        connect(studio.url.replace("http", "ws") + "socket", max_size=None) as link,
    ):
        for count in range(actions + 1):
            if count % (actions // LOOKS) == 0:
                gc.collect()
                history = studio.session.history
                found.append((count, len(history), _resident(), history.weight / 2**20))
            link.send(json.dumps({"n": count + 1, "ask": _action(rng)}))
            while not isinstance(told := link.recv(), str) or json.loads(told).get("n") != count + 1:
                continue
    return found


def act_table(memory: list[tuple[int, int, float, float]]) -> str:
    """Return the section on memory after many random actions."""
    rows = [f"| {count} | {states} | {a:.0f} | {b:.1f} |" for count, states, a, b in memory]
    head = "| actions | undo states | process [MB] | history [MB] |\n|---:|---:|---:|---:|"
    return "\n".join([heading("The studio after many random actions, without a page"), head, *rows])


def _action(rng: random.Random) -> dict[str, Any]:
    """Return a random action of a user; some are refused."""
    frame = f"panda_link{rng.randint(1, 8)}"
    return rng.choice(
        [
            {"do": "open model", "name": rng.choice(["panda", "ur5", "human:floating"])},
            {"do": "add goal", "kind": rng.choice(["reach", "pin", "look at"]), "frame": frame},
            {"do": "remove goal", "name": rng.choice(["tip", frame, f"pin {frame}"])},
            {"do": "set key", "time": rng.randint(0, 40) / 10},
            {"do": "add obstacle", "kind": "sphere", "size": 1.0},
            {"do": "undo"},
            {"do": "redo"},
            {"do": "time", "time": rng.random() * 4},
        ]
    )


def _resident() -> float:
    """Return the memory of this process [MB]."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def middle(values: list[float], unit: str) -> str:
    """Return the median and the least of some values as cells of the table."""
    return f"{statistics.median(values):.2f} {unit} | {min(values):.2f} {unit}"


def heading(title: str) -> str:
    """Return the heading of a section, with the machine."""
    cpu, load = machine(one_core=False)["cpu"], os.getloadavg()[1]
    first = hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in (os.SCHED_RR, os.SCHED_FIFO)
    others = "at lower priority" if first else "at equal priority"
    shared = f"{os.cpu_count()} cores shared with other processes {others} (load {load:.0f})"
    return f"## {title}, {date.today()}\n\n{cpu}, {shared}; Chromium renders in software.\n"


def table(
    starts: list[dict[str, float]], pulls: dict[str, tuple[list[list[float]], int]], crowds: list[dict[str, float]]
) -> str:
    """Return the section on speed."""
    rows = [f"| `studio panda`, {what} | {middle([one[what] for one in starts], 's')} |" for what in starts[0]]
    for model, (runs, count) in pulls.items():
        name = f"{model}, {count} goal{'s' if count > 1 else ''}"
        rows.append(f"| {name}: a solve | {middle([solve for solve, _ in runs], 'ms')} |")
        rows.append(f"| {name}: from the mouse to data ready to draw | {middle([sum(run) for run in runs], 'ms')} |")
        rate = [1000.0 / sum(run) for run in runs]
        rows.append(f"| {name}: poses per second, without drawing | {statistics.median(rate):.0f} | {max(rate):.0f} |")
    for what in crowds[0]:
        name = f"{JOINTS:,} joints, {what}: script and layout per frame"
        rows.append(f"| {name} | {middle([one[what] for one in crowds], 'ms')} |")
    head = f"| median and least of {RUNS} runs | | |\n|---|---:|---:|"
    return "\n".join([heading("The studio in Chromium"), head, *rows])


def soak_table(memory: list[tuple[float, int, int, float, float, float]]) -> str:
    """Return the section on memory after random actions."""
    rows = [f"| {s:.0f} | {done} | {states} | {a:.0f} | {b:.1f} | {c:.1f} |" for s, done, states, a, b, c in memory]
    head = (
        "| seconds | actions | undo states | process [MB] | page script [MB] | page kernels [MB] |\n"
        "|---:|---:|---:|---:|---:|---:|"
    )
    return "\n".join([heading("The studio after random actions"), head, *rows])


def main() -> None:
    """Measure and publish."""
    parser = arguments(__doc__)
    parser.add_argument("--soak", type=float, help="only random actions, for this many seconds")
    parser.add_argument("--actions", type=int, help="only this many random actions without a page")
    options = parser.parse_args()
    if options.actions:
        memory = act(options.actions)
        publish(ACTED, act_table(memory), {"memory": memory}, options)
        return
    with sync_playwright() as play:
        program = next(path for path in map(shutil.which, BROWSERS) if path)
        browser = play.chromium.launch(executable_path=program, args=[*SOFTWARE, "--js-flags=--expose-gc"])
        if options.soak:
            soaked = soak(browser, options.soak)
            publish(SOAKED, soak_table(soaked), {"memory": soaked}, options)
        else:
            say("opening")
            with tempfile.TemporaryDirectory() as bytecode:
                starts = [opening(browser, bytecode) for _ in range(RUNS + 1)][1:]  # the first writes the bytecode
            say("pulling")
            pulls = {"panda": pulling(browser, "panda"), "human:floating": pulling(browser, "human:floating", HUMAN)}
            say("thousands of joints")
            crowds = crowd(browser)
            found = {"starts": starts, "pulls": pulls, "crowds": crowds}
            publish(SECTION, table(starts, pulls, crowds), found, options)
        browser.close()


if __name__ == "__main__":
    main()
