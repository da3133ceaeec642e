"""What passes over the pipe: one JSON object a line, with a "type"."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TextIO

PROTOCOL = 1
OPENER = "monet.cluster.evaluator:open_space"


class ClusterError(Exception):
    """Ends the conversation; the program shows it to the user."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


@dataclass
class Hello:
    """What the program wants to be evaluated, and where."""

    address: str
    version: str
    fingerprint: str
    space_path: str
    space_text: str
    files: list[str] = field(default_factory=list)
    limit_s: float = 600  # for one design
    tries: int = 2
    opener: str = OPENER  # "module:function"; another one in tests

    @staticmethod
    def of(message: dict[str, Any]) -> Hello:
        if message.get("type") != "hello":
            raise ClusterError(f"the first message is '{message.get('type')}', not hello")
        if message.get("protocol") != PROTOCOL:
            raise ClusterError(
                f"the program speaks protocol {message.get('protocol')}, the Python package {PROTOCOL}",
                "install the package of the program's version: pip install .",
            )
        try:
            options = message.get("options", {})
            return Hello(
                address=message["address"],
                version=message["version"],
                fingerprint=message["fingerprint"],
                space_path=message["space"]["path"],
                space_text=message["space"]["text"],
                files=list(message.get("files", [])),
                limit_s=float(options.get("limit_s", 600)),
                tries=int(options.get("tries", 2)),
                opener=options.get("opener", OPENER),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ClusterError(f"hello lacks a field or has a wrong one: {error!r}") from None


def parse(line: str) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise ClusterError(f"a line is no JSON object: {line[:100]!r}")
    return message


class Writer:
    """Messages to the program."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def send(self, type: str, **fields: Any) -> None:
        self._stream.write(json.dumps({"type": type, **fields}) + "\n")
        self._stream.flush()

    def error(self, error: ClusterError) -> None:
        self.send("error", message=error.message, advice=error.advice)
