"""Is what a document shows what a command prints?"""

from __future__ import annotations

import re

DOTS = ("...", "…")
# Lines that say how long a computation took.
TIMING = re.compile(r"^(computed in|priced) |designs a second|designs/s| in [\d.,]+ (ns|us|ms|s|min)\b| links, [\d.]+ (ns|us|ms|s|min)$")


def without_end(shown: list[str]) -> list[str]:
    """Without the empty lines between a command's output and the next command."""
    length = len(shown)
    while length and not shown[length - 1].strip():
        length -= 1
    return shown[:length]


def pieces_of(lines: list[str]) -> list[list[str]]:
    """The lines between those that say `...`, without those that tell times."""
    pieces: list[list[str]] = [[]]
    for line in without_end(lines):
        if line.strip() in DOTS:
            pieces.append([])
        elif not TIMING.search(line):
            pieces[-1].append(line.rstrip())
    return pieces


def same(shown: list[str], output: list[str]) -> bool:
    """Whether the lines are equal but for those that tell times; `...` stands for any number of lines."""
    first, *rest = pieces_of(shown)
    [lines] = pieces_of(output)
    if not rest:
        return first == lines
    last = rest.pop()
    if len(lines) < len(first) + len(last) or lines[: len(first)] != first or lines[len(lines) - len(last) :] != last:
        return False
    at, end = len(first), len(lines) - len(last)
    for piece in rest:
        while lines[at : at + len(piece)] != piece:
            at += 1
            if at + len(piece) > end:
                return False
        at += len(piece)
    return True


def as_shown(shown: list[str], output: list[str]) -> list[str]:
    """`output`, with one `...` cut to as many lines before and after it as are shown now."""
    dots = [index for index, line in enumerate(shown) if line.strip() in DOTS]
    if len(dots) != 1:
        return output
    after = len(shown) - dots[0] - 1
    return [*output[: dots[0]], shown[dots[0]], *(output[-after:] if after else [])]
