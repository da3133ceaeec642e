"""Links from the pages to the sources: what stands in `code` and is the name of a test (`Suite.Name`), the path of a
source file, or a function in a table with the column "function" or in the text of the model, leads to its line in a
listing of that file.

A test or a function of such a table that is not found is a warning, and so an error of `make docs`.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

ROOT = Path(__file__).resolve().parents[2]
LOGGER = logging.getLogger(__name__)

TEST_DEFINITION = re.compile(r"\b(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+)\s*,\s*(\w+)")
TEST_NAME = re.compile(r"[A-Z]\w*\.[A-Z]\w*")
SOURCE_PATH = re.compile(r"(src|include|tests|bench|scripts|presets|spaces)/[\w./-]+\.\w+")
FUNCTION_NAME = re.compile(r"[A-Za-z_]\w*")
PLAIN_NAME = re.compile(r"[a-z]+(_[a-z]+)+")  # what can only be a function, in the text of the model

Place = tuple[str, int]  # a file, from the root of the project, and a line


@dataclass
class Found:
    rank: int  # a definition is better than a declaration
    outermost: bool  # not inside a class
    place: Place


class Sources:
    """Where tests and functions are, and which files have been linked to."""

    def __init__(self) -> None:
        self.tests: dict[str, Place] = {}
        for file in sorted((ROOT / "tests").rglob("*.cpp")):
            text = file.read_text(encoding="utf-8")
            for match in TEST_DEFINITION.finditer(text):
                self.tests.setdefault(f"{match[1]}.{match[2]}", self._place(file, text, match.start()))
        self._code = {
            file: file.read_text(encoding="utf-8")
            for pattern in ("*.cpp", "*.h")
            for file in sorted((ROOT / "src").rglob(pattern))
        }
        self.listed: set[str] = set()

    @staticmethod
    def _place(file: Path, text: str, at: int) -> Place:
        return file.relative_to(ROOT).as_posix(), text.count("\n", 0, at) + 1

    def function(self, name: str, tests: list[str]) -> Place | None:
        """Where it is defined, or else declared. Of several: in the room of its tests, with most words in common with
        them and with its name, at the outermost level of its file."""
        files = [self.tests[test][0] for test in tests if test in self.tests]
        rooms = {Path(file).parts[1] for file in files}
        words = words_of(" ".join([name, *tests, *files]))

        def order(found: Found) -> tuple:
            file = found.place[0]
            return Path(file).parts[1] in rooms, found.rank, len(words & words_of(file)), found.outermost

        found = self.found(name)
        return max(found, key=order).place if found else None

    @cache
    def found(self, name: str) -> list[Found]:
        """All places that may be meant: declarations, types, definitions."""
        patterns = (
            (".h", rf"\b{name}\("),
            (".h", rf"^(?:class|struct) (?:\[\[\w+\]\] )?{name}\b[^;]*?\{{"),
            (".cpp", rf"^[\w:<>,&* ]*[\w>&*] [*&]?(?:\w+::)*{name}\([^;]*?\{{"),
        )
        return [
            Found(rank, not match[0].startswith(" "), self._place(file, text, match.start()))
            for rank, (kind, pattern) in enumerate(patterns)
            for file, text in self._code.items()
            if file.suffix == kind and name in text
            for match in re.finditer(pattern, text, re.MULTILINE)
        ]

    def place(self, code: str) -> Place | None:
        if code in self.tests:
            return self.tests[code]
        return (code, 1) if SOURCE_PATH.fullmatch(code) and (ROOT / code).is_file() else None


def words_of(name: str) -> set[str]:
    """ "tests/optimize/fusion_cover_test.cpp", "FusionCover": optimize, fusion, cover, …"""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+", name)}


def page_name(file: str) -> str:
    return f"source/{file}"


def functions_in(document: nodes.document):
    """(literal, tests beside it) for what stands below "function" in tables that have a column "test"."""
    for table in document.findall(nodes.table):
        rows = list(table.findall(nodes.row))
        heading = [cell.astext().strip() for cell in rows[0].children]
        if "function" not in heading or "test" not in heading:
            continue
        for row in rows[1:]:
            tests = [literal.astext() for literal in row.children[heading.index("test")].findall(nodes.literal)]
            for literal in row.children[heading.index("function")].findall(nodes.literal):
                if FUNCTION_NAME.fullmatch(literal.astext()):
                    yield literal, tests


def link_sources(app, document: nodes.document, name: str) -> None:
    if app.builder.format != "html":
        return
    sources: Sources = app.monet_sources
    functions = {id(literal): tests for literal, tests in functions_in(document)}
    for literal in list(document.findall(nodes.literal)):
        code = literal.astext()
        if isinstance(literal.parent, nodes.reference):
            continue
        tests = functions.get(id(literal))
        if tests is None and name == "model" and PLAIN_NAME.fullmatch(code):
            place = sources.function(code, [each.astext() for each in literal.parent.findall(nodes.literal)])
        elif tests is None:
            place = sources.place(code)
        else:
            place = sources.function(code, tests)
        if place is None:
            if tests is not None or (TEST_NAME.fullmatch(code) and name == "model"):
                LOGGER.warning("%s: no source has %s", name, code, location=literal)
            continue
        file, line = place
        sources.listed.add(file)
        address = relative_uri(app.builder.get_target_uri(name), app.builder.get_target_uri(page_name(file)))
        link = nodes.reference("", "", internal=True, refuri=f"{address}#L-{line}", reftitle=f"{file}:{line}")
        literal.parent.replace(literal, link)
        link += literal


def listings(app):
    """A page for each file that was linked to."""
    for file in sorted(app.monet_sources.listed):
        text = (ROOT / file).read_text(encoding="utf-8")
        try:
            lexer = get_lexer_for_filename(file, stripnl=False)
        except ClassNotFound:
            lexer = get_lexer_for_filename("x.txt", stripnl=False)
        numbered = HtmlFormatter(cssclass="highlight", linenos="inline", anchorlinenos=True, lineanchors="L")
        code = highlight(text, lexer, numbered)
        yield page_name(file), {"title": file, "body": f"<h1>{file}</h1>{code}"}, "page.html"


def begin(app) -> None:
    app.monet_sources = Sources()


def setup(app):
    app.connect("builder-inited", begin)
    app.connect("doctree-resolved", link_sources)
    app.connect("html-collect-pages", listings)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
