"""Which documents are tested, and what the tests of documents say at the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from documents import blocks_of

SOURCE = Path(__file__).resolve().parents[2]
DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


def pytest_generate_tests(metafunc):
    if "document" in metafunc.fixturenames:
        metafunc.parametrize("document", DOCUMENTS, ids=lambda document: document.relative_to(SOURCE).as_posix())


def pytest_terminal_summary(terminalreporter):
    blocks = [block for document in DOCUMENTS for block in blocks_of(document)]
    run = sum(len(block.commands) for block in blocks if block.not_run is None)
    code = sum(block.kind == "python" for block in blocks if block.not_run is None)
    left_out = Counter(block.not_run for block in blocks if block.not_run is not None)
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
    terminalreporter.write_line(
        f"documents: {run} commands and {code} blocks of Python are run; {left_out.total()} blocks are not: {why}"
    )
