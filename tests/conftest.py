"""Settings of the suite: Hypothesis examples, signals, memory limits of processes, and the tests of `make quick`."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings

import memory

# The same examples on every machine, and no deadline: the first call of a kernel may compile it.
settings.register_profile("linkwork", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("linkwork")

# SIGINT is ignored under nohup and in the background of a shell, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Only tests are collected: pytest would import the modules beside them a second time to look for doctests.
collect_ignore = [path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_")]

QUICK = 3  # tests of each file in a quick run
MEMORY, MOST = 600, 750  # MB: what a test process should use at most, and the limit above which a run fails


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="run the first tests of every file, one case each")
    parser.addoption("--exhaustive", action="store_true", help="all cases, where other runs take a sample")
    parser.addoption("--memory", type=float, default=MOST, help="memory of the process [MB] above which a run fails")


@pytest.fixture(scope="session")
def exhaustive(pytestconfig: pytest.Config) -> bool:
    """Whether tests run all their cases instead of a sample; `make matrix` does, every night."""
    return bool(pytestconfig.getoption("--exhaustive"))


TAKEN = pytest.StashKey[list[str]]()


def pytest_pycollect_makeitem(collector: pytest.Module, name: str, obj: object) -> list[pytest.Item] | None:
    """In a quick run, leave out all but the first tests of a file: generating every case takes too long."""
    if not collector.config.getoption("--quick") or not name.startswith("test_"):
        return None
    marks = [*collector.iter_markers(), *getattr(obj, "pytestmark", ())]
    taken = collector.stash.setdefault(TAKEN, [])
    if len(taken) == QUICK or any(mark.name == "slow" for mark in marks):
        return []
    taken.append(name)
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        first = {(item.path, getattr(item, "originalname", item.name)): item for item in reversed(items)}
        config.hook.pytest_deselected(items=[item for item in items if item not in set(first.values())])
        items[:] = reversed(first.values())


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    memory.give_back()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that has used too much memory."""
    if memory.peak() > session.config.getoption("--memory") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    said = f"largest test process: {memory.peak():.0f} MB"
    if memory.peak() > MEMORY:
        said += f"; it should not exceed {MEMORY} MB, and fails above {config.getoption('--memory'):g} MB"
    terminalreporter.write_line(said)
