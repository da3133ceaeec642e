"""Checks that headers stay light: what a header includes is read by every file that includes it.

A heavy header of others may be included by .cpp files, and of our headers by those named here alone.

    python scripts/check_headers.py [ROOT]          breaches; exit status 1 if there is one
    python scripts/check_headers.py [ROOT] --table  how many files read each heavy header, and through what
"""

import sys
from collections import Counter
from pathlib import Path

from check_layering import includes, sources

# Heavy header -> (seconds that g++ 12 takes to read it, measured with -fsyntax-only; headers that may include it).
HEAVY: dict[str, tuple[float, set[str]]] = {
    "CLI/CLI.hpp": (
        1.5,
        {"src/cli/arguments.h", "src/cli/commands.h", "src/cli/mistakes.h", "src/cli/words.h"},
    ),
    "nlohmann/json.hpp": (1.2, {"src/remat/json_fields.h", "src/present/json/json.h", "src/present/compare/result_file.h"}),
    "yaml-cpp/yaml.h": (0.6, set()),
    "regex": (0.5, set()),
    "filesystem": (0.5, {"src/compat/import/core_files.h"}),
    "fmt/format.h": (
        0.5,
        {
            "src/evaluate/check/context.h",
            "src/hardware/writer_parts.h",
            "src/onnx/export_names.h",
            "src/onnx/import/einsum.h",
            "src/present/page/details_text.h",
        },
    ),
    "fmt/ranges.h": (0.5, set()),
    "ranges": (0.3, set()),
    "chrono": (
        0.3,
        {
            "src/base/stop.h",
            "src/base/stopwatch.h",
            "src/cli/progress.h",
            "src/packing/search.h",
            "src/explore/executor/cluster_process.h",
        },
    ),
    "sstream": (0.3, set()),
    "iostream": (0.2, set()),
    "fstream": (0.3, set()),
    "thread": (0.4, {"src/base/parallel.h", "src/python/call.h"}),
    "future": (0.5, set()),
    "random": (0.4, set()),
}


def name_of(root: Path, file: Path) -> str:
    return file.relative_to(root).as_posix()


def all_sources(root: Path) -> list[Path]:
    return sources(root / "include") + sources(root / "src")


def check(root: Path) -> list[str]:
    problems = []
    used: set[tuple[str, str]] = set()
    for file in all_sources(root):
        if file.suffix != ".h":
            continue
        name = name_of(root, file)
        for number, _, path in includes(file):
            if path not in HEAVY:
                continue
            seconds, allowed = HEAVY[path]
            used.add((path, name))
            if name not in allowed:
                problems.append(
                    f"{name}:{number}: <{path}> takes {seconds} s in every file that includes this header: "
                    "declare what is needed and include it in the .cpp file"
                )
    for path, (_, allowed) in HEAVY.items():
        for name in sorted(allowed):
            if (root / name).exists() and (path, name) not in used:
                problems.append(f"{Path(__file__).name}: {name} no longer includes <{path}>: remove it from the list")
    return problems


def readers(root: Path) -> dict[str, Counter[str]]:
    """For each heavy header, how many .cpp files read it, by what brings it: themselves, or a header of ours."""
    of_ours: dict[str, Path] = {}
    for folder in ("include", "src"):
        for file in sources(root / folder):
            of_ours[file.relative_to(root / folder).as_posix()] = file
    direct = {file: [path for _, _, path in includes(file)] for file in of_ours.values()}

    counts: dict[str, Counter[str]] = {path: Counter() for path in HEAVY}
    for file in of_ours.values():
        if file.suffix != ".cpp":
            continue
        seen, waiting, brought = {file}, [file], {}
        while waiting:
            at = waiting.pop()
            for path in direct[at]:
                if path in HEAVY:
                    brought.setdefault(path, "itself" if at == file else name_of(root, at))
                elif path in of_ours and of_ours[path] not in seen:
                    seen.add(of_ours[path])
                    waiting.append(of_ours[path])
        for path, by in brought.items():
            counts[path][by] += 1
    return counts


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--table"]
    root = Path(words[0] if words else Path(__file__).resolve().parent.parent)
    if "--table" in sys.argv:
        for path, by in readers(root).items():
            parts = ", ".join(f"{count} through {name}" for name, count in by.most_common(4))
            print(f"{HEAVY[path][0]:4.1f} s  {by.total():4} files read <{path}>{': ' if parts else ''}{parts}")
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"headers: {len(problems)} breaches" if problems else "headers: light")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
