"""Pages of reports, as a browser takes them apart."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path


class _Data(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "script" and dict(attributes).get("id") == "data":
            self.inside = True
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[-1] += data


def data_in(page: str) -> dict:
    """What the program put into a page."""
    parser = _Data()
    parser.feed(page)
    parser.close()
    assert len(parser.texts) == 1
    return json.loads(parser.texts[0])


def data_of(path: Path) -> dict:
    return data_in(path.read_bytes().decode())
