#!/usr/bin/env python3
"""The words that the reader of a fuzz target knows, as a dictionary of libFuzzer.

    scripts/fuzz_words.py TARGET >TARGET.dict

They are the texts in the reader's own source: a key that is added there is in the dictionary with the next run. Of a
target that reads neither YAML nor JSON, nothing is printed."""

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent

YAML = {
    "import_hardware": ("src/compat/import/*.cpp",),
    "read_custom": ("src/evaluate/cost/custom_file.cpp", "src/config/expression*.cpp", "src/config/units.cpp"),
    "read_hardware": ("src/hardware/*.cpp",),
    "read_plan": ("src/evaluate/plan/*.cpp",),
    "read_recipe": ("src/training/recipe*.cpp",),
    "read_space": ("src/explore/space/*.cpp", "src/config/units.cpp"),
}
JSON = {
    "read_result": ("src/present/compare/*.cpp", "src/present/page/page_*.cpp"),
    "remat": ("src/remat/reader*.cpp",),
}
LITERAL = re.compile(r'(?<!#include )"([A-Za-z_*=][\w/*=.-]{0,30})"')
SIGNS = {
    "yaml": (": ", "- ", "{", "}", "[", "]", "\\x0a  ", "= ", "*", "?", "..", "1e30", "-1", "0"),
    "json": ("{", "}", "[", "]", "null", "true", "false", "1e300", "-1", "0", "9223372036854775807"),
}


def words_in(patterns: tuple[str, ...]) -> list[str]:
    words: set[str] = set()
    for pattern in patterns:
        files = sorted(SOURCE.glob(pattern))
        if not files:
            sys.exit(f"fuzz_words: no file is called {pattern}: name where the reader is now")
        for file in files:
            words.update(LITERAL.findall(file.read_text()))
    return sorted(words)


def entries(target: str) -> list[str]:
    if target in YAML:
        return [*SIGNS["yaml"], *words_in(YAML[target])]
    if target in JSON:
        return [*SIGNS["json"], *(f'\\"{word}\\":' for word in words_in(JSON[target]))]
    return []


def main() -> None:
    for entry in entries(sys.argv[1]):
        print(f'"{entry}"')


if __name__ == "__main__":
    main()
