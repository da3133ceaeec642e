"""Does the check of headers find the heavy ones, and nothing else?"""

from pathlib import Path

from check_script import SCRIPTS, said_of, write


def check(root: Path, *words: str) -> tuple[int, list[str]]:
    return said_of("check_headers.py", root, *words)


def test_this_repository_is_light():
    assert check(SCRIPTS.parent) == (0, [])


def test_a_file_of_its_own_may_include_anything(tmp_path):
    assert check(write(tmp_path, {"src/graph/a.cpp": "#include <regex>\n#include <CLI/CLI.hpp>\n"})) == (0, [])


def test_a_heavy_header_in_a_header_is_found(tmp_path):
    root = write(tmp_path, {"include/monet/a.h": "#include <vector>\n#include <regex>\n", "src/base/b.h": "#include <chrono>"})
    status, lines = check(root)
    assert status == 1
    assert [line.split(": ")[0] for line in lines] == ["include/monet/a.h:2", "src/base/b.h:1"]
    assert "<regex> takes 0.5 s in every file that includes this header" in lines[0]


def test_a_header_that_may_but_no_longer_does_is_found(tmp_path):
    status, lines = check(write(tmp_path, {"src/present/json/json.h": "#pragma once\n"}))
    assert status == 1
    assert lines == ["check_headers.py: src/present/json/json.h no longer includes <nlohmann/json.hpp>: remove it from the list"]


def test_the_table_counts_files_through_headers(tmp_path):
    root = write(
        tmp_path,
        {
            "src/present/json/json.h": "#include <nlohmann/json.hpp>\n",
            "src/present/parts.h": '#include "present/json/json.h"\n',
            "src/present/a.cpp": '#include "present/parts.h"\n',
            "src/present/b.cpp": '#include "present/json/json.h"\n',
            "src/present/c.cpp": "#include <nlohmann/json.hpp>\n",
        },
    )
    status, lines = check(root, "--table")
    assert status == 0
    [line] = [line for line in lines if "nlohmann" in line]
    assert line.endswith("3 files read <nlohmann/json.hpp>: 2 through src/present/json/json.h, 1 through itself")
