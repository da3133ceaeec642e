"""Checks that every file includes only what its room may use.

A room is a folder of src/. It may use itself, the rooms below it and the public headers (include/monet); a public
header may use public headers only. Folders inside a room use each other in one direction. No two classes of one
namespace have one name: a program in which they differ has either, and no tool says so.

    python scripts/check_layering.py [ROOT]

Prints FILE:LINE: MESSAGE for each breach; exit status 1 if there is one.
"""

import re
import sys
from pathlib import Path

# Top to bottom; rooms in one row lie beside each other and may not use each other.
LAYERS = [
    ["cli", "python"],
    ["options"],
    ["serve", "validate"],
    ["present"],
    ["explore"],
    ["optimize"],
    ["evaluate"],
    ["compat"],
    ["mapping"],
    ["training"],
    ["parallel"],
    ["networks"],
    ["fabric"],
    ["onnx", "hardware", "interpret"],
    ["kernels"],
    ["config"],
    ["graph"],
    ["remat"],
    ["packing", "pipeline", "solvers"],
    ["base"],
]
DEPTH = {room: depth for depth, rooms in enumerate(LAYERS) for room in rooms}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cpp", ".inc"}
PROTOZERO = "src/onnx/wire.h"  # the only file that includes it


def includes(file: Path):
    """(line number, quote, path) of every include of a file."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def sources(folder: Path):
    return sorted(file for file in folder.rglob("*") if file.suffix in SUFFIXES)


def breach_of_protozero(file: Path, path: str) -> str | None:
    """protozero's functions are inline: a program in which two files define its assertion differently has either."""
    if path.startswith("protozero/") and file.as_posix() != PROTOZERO:
        return f'include "{Path(PROTOZERO).relative_to("src").as_posix()}" instead of <{path}>'
    return None


def breach_in_room(room: str, file: Path, quote: str, path: str) -> str | None:
    """What is wrong with `file` of `room` including `path`; nothing if it is right."""
    if path.startswith("monet/"):
        return None if quote == "<" else f'write <{path}>: public headers are included with angle brackets'
    target = path.split("/")[0]
    if quote == "<":
        return breach_of_protozero(file, path)
    if "/" not in path or target not in DEPTH:
        return f'"{path}" does not start with a room: write "{room}/..."'
    if target == room or DEPTH[target] > DEPTH[room]:
        return None
    where = "beside" if DEPTH[target] == DEPTH[room] else "above"
    return f'{room}/ may not use "{path}": {target}/ lies {where} it'


def breach_in_public_header(root: Path, quote: str, path: str) -> str | None:
    if path.startswith("monet/"):
        return None
    if quote == '"' or (root / "src" / path).exists():
        return f'a public header may not use "{path}": it is internal'
    return None


def cycle(edges: dict[str, dict[str, str]]) -> list[str] | None:
    """Folders that use each other in a ring, if there are any; edges[a][b] is a place where a uses b."""
    done: set[str] = set()

    def visit(folder: str, path: list[str]) -> list[str] | None:
        if folder in path:
            return path[path.index(folder) :] + [folder]
        if folder in done:
            return None
        for target in sorted(edges.get(folder, {})):
            if found := visit(target, path + [folder]):
                return found
        done.add(folder)
        return None

    for folder in sorted(edges):
        if found := visit(folder, []):
            return found
    return None


NAMESPACE = re.compile(r"namespace ([\w:]*) ?\{")
CLASS = re.compile(r"(?:class|struct) (\w+)(?: final)?(?: : [^{]*)? \{")


def classes(file: Path):
    """(line number, name with its namespaces) of every class that other files could clash with."""
    inside: list[str] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if match := NAMESPACE.match(line):
            inside.append(match[1])
        elif line.startswith("}  // namespace") and inside:
            inside.pop()
        elif (match := CLASS.match(line)) and "" not in inside:
            yield number, "::".join([*inside, match[1]])


def clashes(root: Path) -> list[str]:
    first: dict[str, str] = {}
    problems = []
    for file in sources(root / "include") + sources(root / "src"):
        for number, name in classes(file):
            place = f"{file.relative_to(root)}:{number}"
            if name in first:
                problems.append(f"{place}: {name} is another class at {first[name]}: give it another name")
            first.setdefault(name, place)
    return problems


def check(root: Path) -> list[str]:
    """Every breach under `root`, in the order of the files."""
    problems = []
    for file in sources(root / "include"):
        for number, quote, path in includes(file):
            if message := breach_in_public_header(root, quote, path):
                problems.append(f"{file.relative_to(root)}:{number}: {message}")

    edges: dict[str, dict[str, str]] = {}  # folder of src/ -> folder of the same room -> first place
    for file in sources(root / "src"):
        inside = file.relative_to(root / "src")
        room = inside.parts[0]
        if room not in DEPTH:
            problems.append(f"{file.relative_to(root)}:1: {room} is not a room; rooms stand in {Path(__file__).name}")
            continue
        for number, quote, path in includes(file):
            place = f"{file.relative_to(root)}:{number}"
            if message := breach_in_room(room, file.relative_to(root), quote, path):
                problems.append(f"{place}: {message}")
            source, target = inside.parent.as_posix(), Path(path).parent.as_posix()
            if quote == '"' and path.split("/")[0] == room and source != target:
                edges.setdefault(source, {}).setdefault(target, place)

    for file in sources(root / "tests"):
        for number, _, path in includes(file):
            if message := breach_of_protozero(file.relative_to(root), path):
                problems.append(f"{file.relative_to(root)}:{number}: {message}")

    if ring := cycle(edges):
        problems.append(f"{edges[ring[0]][ring[1]]}: folders use each other in a ring: {' -> '.join(ring)}")
    return problems + clashes(root)


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"layering: {len(problems)} breaches" if problems else "layering: in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
