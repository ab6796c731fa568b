"""Every command of the documentation runs with the shown output.

In ```console and ```bash blocks, `$ linkwork ...` runs in an empty folder with the files of the page, and must print
the text below it.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import memory
from linkwork.cli.app import app
from linkwork.models.textbook import FIGURES
from test_docs import PAGES, Block, agree, blocks, matches, named, put_files

FEW = {number: FIGURES[number] for number in ("5.2", "5.8", "5.22", "5.24")}  # other tests draw the others


def commands(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with the output shown below it."""
    found: list[tuple[str, str]] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:].split("  #")[0].strip(), ""))
        elif found:
            command, output = found[-1]
            found[-1] = command, f"{output}{line}\n"
    return found


def our_commands(page: Path) -> list[tuple[str, str, int]]:
    return [
        (command, shown, block.line)
        for block in blocks(page)
        if block.language in ("console", "bash")
        for command, shown in commands(block)
        if re.match(r"(echo .*\| )?linkwork ", command)
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if our_commands(page)], ids=named)
def test_commands_print_what_they_say(page, tmp_path, monkeypatch, exhaustive):
    """Blocks show stdout, or stdout and stderr. A command that fails must show its message."""
    monkeypatch.chdir(tmp_path)
    put_files(page, tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for command, shown, line in our_commands(page):
        where = f"{named(page)}:{line}: {command}"
        with monkeypatch.context() as patch:
            if "figure all" in command and not exhaustive:
                patch.setattr("linkwork.models.textbook.FIGURES", FEW)
            result = run_command(command, where)
        if shown.strip():
            said, everything = (text.replace(os.sep, "/") for text in (result.stdout, result.output))
            agree(shown, said if matches(shown, said) else everything, where)
        else:
            assert result.exit_code == 0, f"{where}: exit {result.exit_code}\n{result.output}"
        memory.give_back()


def run_command(command: str, where: str):
    """Run a pipe of `echo` and `linkwork`, optionally redirected to a file; other programs are not run."""
    piped, result = None, None
    for stage in command.split(" | "):
        words, _, target = stage.partition(" > ")
        program, *arguments = shlex.split(words)
        if program == "echo":
            piped = " ".join(arguments) + "\n"
            continue
        assert program == "linkwork", f"{where}: only echo and linkwork may stand in a pipe that is tested"
        result = CliRunner().invoke(app, arguments, input=piped, prog_name="linkwork")
        piped = result.stdout
        if target:
            Path(target.strip()).write_text(piped, encoding="utf-8")
    return result
