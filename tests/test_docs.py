"""Every code block of the documentation runs with the shown results, and every link is valid.

A ```python block runs after the blocks above it on its page, in an empty folder. Sessions (`>>>`) are compared as
doctests; elsewhere `# -> text` is the output of a statement, or the value of its expression or assigned name. A block
of any language with a `title="name"` is a file of that name in that folder. `test_docs_commands` runs commands.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import memory

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SHOWN = re.compile(r"#\s*->\s*(.*)$")
NEEDED = {"files-fbx.md": "ufbx"}  # packages that have no wheels for some systems


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, the line it begins on, and its title if it has one."""

    language: str
    text: str
    line: int
    title: str = ""


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    fence, language, title, start, lines = "", "", "", 0, list[str]()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        opening = re.match(r'\s*(`{3,})\s*([\w-]*)(?:.*\btitle="([^"]*)")?', line)
        if fence and line.strip() == fence:
            found.append(Block(language, "\n".join(lines) + "\n", start, title))
            fence = ""
        elif fence:
            lines.append(line)
        elif opening:
            fence, language, title = opening[1], opening[2], opening[3] or ""
            start, lines = number + 1, []
    assert not fence, f"{page.name}:{start}: a block is not closed"
    return found


def put_files(page: Path, folder: Path) -> None:
    """Write the blocks of a page that are files into a folder."""
    for block in blocks(page):
        if block.title:
            (folder / Path(block.title).name).write_text(block.text, encoding="utf-8")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def with_blocks(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


def matches(shown: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(shown.strip() + "\n", got.strip() + "\n", FLAGS)


def agree(shown: str, got: str, where: str) -> None:
    if not matches(shown, got):
        pytest.fail(f"{where}\n  shown: {shown.strip()}\n    got: {got.strip()}", pytrace=False)


def run_session(block: Block, names: dict[str, object], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line - 1)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    if runner.failures:
        pytest.fail(report.getvalue(), pytrace=False)


def run_script(block: Block, names: dict[str, object], where: str) -> None:
    lines = block.text.splitlines()
    for statement in ast.parse(block.text).body:
        printed, value = io.StringIO(), None
        code = ast.Module([statement], [])
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), where, "eval", dont_inherit=True), names)
            else:
                exec(compile(code, where, "exec", dont_inherit=True), names)
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            value = names[statement.targets[0].id]
        shown = SHOWN.search(lines[statement.end_lineno - 1])
        if shown:
            agree(shown[1], printed.getvalue() or repr(value), f"{where}, line {block.line + statement.end_lineno - 1}")


@pytest.mark.parametrize("page", with_blocks("python"), ids=named)
def test_python_blocks_print_what_they_say(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    if page.name in NEEDED:
        pytest.importorskip(NEEDED[page.name])
    monkeypatch.chdir(tmp_path)
    put_files(page, tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python":
            run = run_session if block.text.lstrip().startswith(">>>") else run_script
            run(block, names, f"{named(page)}:{block.line}")
            memory.give_back()


def anchors(page: Path) -> set[str]:
    """Return the anchors that MkDocs makes for a page's headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+?)(?:\s*\{.*\})?$", text, flags=re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower()) for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            assert target.startswith("https://"), f"{named(page)} links to {target}; write https://..."
            assert "." in urlsplit(target).netloc, f"{named(page)} links to {target}, which names no site"
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{named(page)} links to {target}, which is not there"
        if anchor and other.suffix == ".md":
            assert anchor in anchors(other), f"{named(page)} links to {target}; headings: {sorted(anchors(other))}"


def test_every_page_is_in_the_navigation():
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]

    def pages(entry):
        if isinstance(entry, str):
            return [entry]
        return [page for part in (entry.values() if isinstance(entry, dict) else entry) for page in pages(part)]

    assert sorted(pages(navigation)) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_results_of_python_blocks_are_compared(tmp_path):
    """The tests above can fail: they notice a wrong result in a page."""
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1 + 1  # -> 3\n```\n\n```python\n>>> 1 + 1\n3\n```\n", encoding="utf-8")
    script, session = blocks(page)
    with pytest.raises(pytest.fail.Exception):
        run_script(script, {}, "page")
    with pytest.raises(pytest.fail.Exception):
        run_session(session, {}, "page")
