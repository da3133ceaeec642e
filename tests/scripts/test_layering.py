"""Does the layering check find what it should, and nothing else?"""

from pathlib import Path

import pytest

from check_script import SCRIPTS, said_of, write


def check(root: Path, *words: str) -> tuple[int, list[str]]:
    return said_of("check_layering.py", root, *words)


def test_this_repository_is_in_order():
    assert check(SCRIPTS.parent) == (0, [])


def test_own_room_rooms_below_and_public_headers_are_allowed(tmp_path):
    root = write(
        tmp_path,
        {
            "include/monet/error.h": "#include <monet/other.h>\n#include <string>\n",
            "src/graph/graph.cpp": '#include "graph/graph.h"\n#include "base/ids.h"\n#include <monet/error.h>\n',
            "src/cli/main.cpp": '#include "base/ids.h"\n#include "onnx/read.h"\n#include <onnx/onnx_pb.h>\n',
        },
    )
    assert check(root) == (0, [])


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("src/base/ids.h", '#include "graph/graph.h"', "graph/ lies above it"),
        ("src/onnx/read.cpp", '  #  include "interpret/interpret.h"', "interpret/ lies beside it"),
        ("src/interpret/run.cpp", '#include "networks/networks.h"', "networks/ lies above it"),
        ("src/graph/graph.cpp", '#include "graph.h"', "does not start with a room"),
        ("src/graph/graph.cpp", '#include "monet/error.h"', "angle brackets"),
        ("include/monet/error.h", '#include "base/ids.h"', "it is internal"),
        ("src/present/trace/chakra.cpp", "#include <protozero/pbf_writer.hpp>", "include \"onnx/wire.h\" instead"),
        ("tests/present/chakra_test.cpp", "#include <protozero/pbf_reader.hpp>", "include \"onnx/wire.h\" instead"),
        ("src/attic/old.cpp", "", "attic is not a room"),
    ],
)
def test_a_breach_is_found_at_its_line(tmp_path, file, line, message):
    lines = "// first\n" + line + "\n"
    status, problems = check(write(tmp_path, {file: lines}))
    assert status == 1
    assert len(problems) == 1
    assert problems[0].startswith(f"{file}:{2 if line else 1}: ")
    assert message in problems[0]


def test_two_classes_of_one_name_are_found(tmp_path):
    root = write(
        tmp_path,
        {
            "src/graph/a.h": "namespace monet {\n\nclass Program {\n};\n\n}  // namespace monet\n",
            "src/graph/b.h": "namespace monet::other {\n\nclass Program {\n};\n\n}  // namespace monet::other\n",
            "src/graph/c.cpp": "namespace monet {\n\nnamespace {\n\nstruct Program {\n};\n\n}  // namespace\n\n}  // namespace monet\n",
            "src/mapping/d.h": "namespace monet {\n\nstruct Program : Base {\n};\n\n}  // namespace monet\n",
        },
    )
    status, problems = check(root)
    assert status == 1
    assert problems == ["src/mapping/d.h:3: monet::Program is another class at src/graph/a.h:3: give it another name"]


def test_a_ring_of_folders_inside_a_room_is_found(tmp_path):
    root = write(
        tmp_path,
        {
            "src/graph/infer/a.cpp": '#include "graph/nests/b.h"\n',
            "src/graph/nests/b.h": '#include "graph/infer/a.h"\n',
        },
    )
    status, problems = check(root)
    assert status == 1
    assert "graph/infer -> graph/nests -> graph/infer" in problems[0]
