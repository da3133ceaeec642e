"""Checks that what the documents point at exists.

In README.md and docs/*.md: relative links; `src/...`, `include/...`, `tests/...`, `bench/...`, `scripts/...` paths; and
tests named `Suite.Name`. In docs/model.md every row of a table with the columns "function" and "test" names a function
that exists and a test. Paths with a part in capitals (tests/ROOM/NAME_test.cpp) are patterns and not looked for. Every
page of docs can be reached from docs/index.md. Notebooks are stored with what their cells
show, and their links lead somewhere.

    python scripts/check_docs.py [ROOT]

Prints FILE:LINE: MESSAGE for each thing that is absent; exit status 1 if there is one.
"""

import json
import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
CODE = re.compile(r"`([^`]+)`")
GALLERY = re.compile(r"gallery/\w+\.html")
PATH = re.compile(r"(src|include|tests|bench|scripts|docs)/[\w./-]+")
PATTERN = re.compile(r"(?<![A-Za-z])(ROOM|NAME)(?![A-Za-z])")
TEST = re.compile(r"[A-Z]\w*\.[A-Z]\w*")
DEFINITION = re.compile(r"\b(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+)\s*,\s*(\w+)")


def defined_tests(root: Path) -> set[str]:
    """Suite.Name of every GoogleTest test in the sources."""
    return {
        f"{suite}.{name}"
        for file in (root / "tests").rglob("*.cpp")
        for suite, name in DEFINITION.findall(file.read_text(encoding="utf-8"))
    }


def without_code_blocks(lines: list[str]) -> list[str]:
    """The same number of lines, empty where they are inside a fence."""
    inside, kept = False, []
    for line in lines:
        fence = line.startswith(("```", "~~~"))
        kept.append("" if inside or fence else line)
        inside ^= fence
    return kept


def problems_in_line(root: Path, document: Path, line: str, tests: set[str]):
    for target in LINK.findall(CODE.sub("", line)):
        if GALLERY.fullmatch(target) and document.name == "gallery.md":
            continue  # docs/site/stage.py makes it of the command beside it
        if not (document.parent / target).exists():
            yield f"link to {target}, which is absent"
    for code in CODE.findall(line):
        if PATH.fullmatch(code) and not PATTERN.search(code) and not (root / code).exists():
            yield f"{code} is absent"
        if TEST.fullmatch(code) and code not in tests:
            yield f"no test is called {code}"


def equation_rows(lines: list[str]):
    """(line number, names in the column "function", names in the column "test") of every row that has both columns."""
    header: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not header:
            header = cells
        elif "function" in header and "test" in header and not set(line) <= set("|-: "):
            yield number, CODE.findall(cells[header.index("function")]), CODE.findall(cells[header.index("test")])


def problems_in_equations(root: Path, lines: list[str]):
    """(line number, message) for every row that lacks a function that exists or a test."""
    source = "".join(file.read_text(encoding="utf-8") for file in (root / "src").rglob("*.h"))
    for number, functions, tests in equation_rows(lines):
        if not functions:
            yield number, "the row names no function"
        if not tests:
            yield number, "the row names no test"
        for function in functions:
            if not re.search(rf"\b{re.escape(function)}\(", source):
                yield number, f"no header has a function {function}"


def unreachable_pages(root: Path) -> list[str]:
    """Pages of docs that no way leads to from its index, over links between pages."""
    docs = root / "docs"
    reached, to_read = set(), [docs / "index.md"]
    while to_read:
        page = to_read.pop().resolve()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        to_read += [page.parent / target for target in LINK.findall(page.read_text(encoding="utf-8"))]
    return [page.relative_to(root).as_posix() for page in sorted(docs.glob("*.md")) if page.resolve() not in reached]


def problems_in_notebook(notebook: Path):
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError):
        yield "this is no notebook"
        return
    for number, cell in enumerate(cells, 1):
        if cell.get("cell_type") == "code" and cell.get("execution_count") is None:
            yield f"cell {number} was not run; MONET_UPDATE_DOCS=1 python -m pytest tests/docs/test_notebooks.py stores what it shows"
        for target in LINK.findall("".join(cell["source"])) if cell["cell_type"] == "markdown" else ():
            if not (notebook.parent / target).exists():
                yield f"cell {number}: link to {target}, which is absent"


def check(root: Path) -> list[str]:
    tests = defined_tests(root)
    problems = []
    for document in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        lines = document.read_text(encoding="utf-8").splitlines()
        name = document.relative_to(root)
        for number, line in enumerate(without_code_blocks(lines), 1):
            problems += [f"{name}:{number}: {text}" for text in problems_in_line(root, document, line, tests)]
        if name.as_posix() == "docs/model.md":
            problems += [f"{name}:{number}: {text}" for number, text in problems_in_equations(root, lines)]
    problems += [f"{page}: no way leads here from docs/index.md" for page in unreachable_pages(root)]
    for notebook in sorted((root / "notebooks").glob("*.ipynb")):
        problems += [f"{notebook.relative_to(root)}: {text}" for text in problems_in_notebook(notebook)]
    return problems


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"documents: {len(problems)} problems" if problems else "documents: in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
