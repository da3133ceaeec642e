"""The contents of the site: each heading of docs/index.md with a list of links is a part of them."""

import re

# Pages that docs/site/stage.py writes, by the heading that they belong under.
GENERATED = {"Reference": ["reference", "headers"]}

LINK = re.compile(r"^- \[[^\]]+\]\(([^)#]+)\.md(?:#[^)]*)?\)", re.MULTILINE)


def contents(index: str) -> str:
    """Hidden tables of contents, one for each part."""
    parts = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        heading = section.splitlines()[0].strip()
        pages = LINK.findall(section) + GENERATED.get(heading, [])
        if pages:
            parts.append("\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```", ""]))
    return "\n".join(parts)


def add_contents(_app, name: str, source: list[str]) -> None:
    if name == "index":
        source[0] += "\n" + contents(source[0])


def setup(app):
    app.connect("source-read", add_contents)
    return {"parallel_read_safe": True}
