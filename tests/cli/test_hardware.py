"""Does `monet hardware` keep its contract: what it prints, exit status, JSON, and errors that help?"""

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import run_command

MACHINE = """\
monet: 1
name: toy
clock: 1 GHz
technology: 22 nm
parameters: {n: 2}
peak: {int8: 64 GOP/s}
memories:
  dram: {kind: dram, type: LPDDR4, size: 1 GiB, ports: {rw: {kind: read_write, width: 64 bit/cycle}}}
cores:
  pe:
    count: =n
    array:
      dimensions: {K: 4, C: 4}
      operations: {mac: {cycles: 1, energy: 0.5 pJ}}
      precisions: {int8: {rate: 1}}
    memories:
      sram: {size: 64 KiB, ports: {rw: {kind: read_write, width: 128 bit/cycle}}}
      dram: {use: dram}
links:
  - {bus: [pe, dram], width: 64 bit/cycle}
"""


@pytest.fixture
def run(monet):
    return partial(run_command, monet)


@pytest.fixture
def machine(tmp_path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(MACHINE)
    return path


def fails(result, *words) -> None:
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("monet: ")
    for word in words:
        assert word in result.stderr, result.stderr


# What is printed


def test_list(run) -> None:
    result = run("hardware", "list")
    assert result.returncode == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    for title in ("name", "cores", "MACs/cycle", "clock", "peak", "memory", "confidence"):
        assert title in lines[0]
    names = {line.split()[0] for line in lines[2:]}
    assert {"edge_tpu", "tpu_like", "h200", "poet_mkr1000", "dacapo"} <= names


def test_list_as_json(run) -> None:
    found = json.loads(run("hardware", "list", "--json").stdout)
    assert found["schema"] == 1
    a100 = next(preset for preset in found["presets"] if preset["name"] == "a100")
    assert set(a100) >= {"cores", "macs_per_cycle", "clock_hz", "peak", "on_chip_bits", "dram_bits", "confidence", "description"}
    assert a100["macs_per_cycle"] == 108 * 1024 and a100["clock_hz"] == 1.41e9


def test_every_preset_is_shown_and_checked(run) -> None:
    for preset in json.loads(run("hardware", "list", "--json").stdout)["presets"]:
        name = preset["name"]
        shown = run("hardware", "show", name, "--json", "-q")
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["name"] == name
        checked = run("hardware", "check", name, "-q")
        assert checked.returncode == 0 and checked.stdout == f"{name}: ok\n", checked.stderr


def test_show(run, machine) -> None:
    result = run("hardware", "show", machine)
    assert result.returncode == 0
    for words in ("toy", "1 GHz", "22 nm", "n = 2", "2 x pe", "CACTI 7 at 22 nm", "64 GOP/s", "+0.00 %"):
        assert words in result.stdout
    more = run("hardware", "show", machine, "--values")
    assert len(more.stdout.splitlines()) > len(result.stdout.splitlines())


def test_show_as_json(run, machine) -> None:
    result = run("hardware", "show", machine, "--set", "n=3", "--json")
    found = json.loads(result.stdout)
    assert found["schema"] == 1 and found["parameters"] == {"n": "3"}
    assert found["peaks"]["int8"]["operations_per_s"] == 96e9
    assert set(found) >= {"clock_hz", "technology_nm", "cores", "memories", "links", "values", "effects", "area_mm2"}
    core = found["cores"][0]
    assert core["count"] == 3 and set(core) >= {"units", "memories", "operators", "names", "type"}


def test_parameters_of_a_family(run) -> None:
    small = json.loads(run("hardware", "show", "edge_tpu", "--set", "x=1", "--set", "y=1", "--json").stdout)
    large = json.loads(run("hardware", "show", "edge_tpu", "--set", "x=8", "--set", "pe_memory=4 MiB", "--json").stdout)
    assert small["cores"][0]["count"] == 1 and large["cores"][0]["count"] == 32
    sram = next(memory for memory in large["cores"][0]["memories"] if memory["name"] == "sram")
    assert sram["size_bits"] == 4 * 2**23 and sram["read_pj"] == 416.16


def test_a_word_is_a_parameter_too(run) -> None:
    shown = {w: json.loads(run("hardware", "show", "edge_tpu", "--set", f"arithmetic={w}", "--json").stdout) for w in ("int8", "bf16")}
    assert shown["bf16"]["parameters"]["arithmetic"] == "bf16"
    assert list(shown["bf16"]["peaks"]) == ["bf16"] and list(shown["int8"]["peaks"]) == ["int8"]
    fails(run("hardware", "show", "edge_tpu", "--set", "arithmetic=fp8"), "arithmetic", "one of: int8, bf16, fp32")


def test_picture(run, tmp_path) -> None:
    for name in ("edge_tpu", "h100", "poet_m4f"):
        path = tmp_path / f"{name}.svg"
        assert run("hardware", "show", name, "--svg", path).returncode == 0
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        first = path.read_bytes()
        run("hardware", "show", name, "--svg", path)
        assert path.read_bytes() == first


def test_check(run, machine) -> None:
    result = run("hardware", "check", machine)
    assert result.returncode == 0 and result.stdout == f"{machine}: ok\n"


def test_schema(run) -> None:
    result = run("hardware", "check", "--schema")
    assert result.returncode == 0
    schema = json.loads(result.stdout)
    assert "cores" in schema["properties"]


def test_import(run, shared, tmp_path) -> None:
    source = shared / "reference/zigzag/hardware/tpu_like.yaml"
    if not source.exists():
        pytest.skip(f"{source} is absent")
    printed = run("hardware", "import", source)
    assert printed.returncode == 0 and printed.stdout.startswith("monet: 1")
    path = tmp_path / "imported.yaml"
    written = run("hardware", "import", source, "-o", path)
    assert written.returncode == 0 and written.stdout == "" and path.read_text() == printed.stdout
    found = json.loads(run("hardware", "show", path, "--json", "-q").stdout)
    assert found["macs_per_cycle"] == 1024 and found["effects"] == []


def test_help_has_examples(run) -> None:
    for command in ((), ("list",), ("show",), ("check",), ("import",)):
        result = run("hardware", *command, "--help")
        assert result.returncode == 0
        if command != ("list",):
            assert "Examples:" in result.stdout
    assert "hardware" in run("--help").stdout


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("a command is missing", "monet hardware --help")),
        (("shwo", "h100"), ("'shwo'", "did you mean 'show'")),
        (("frobnicate",), ("list, show, check, import",)),
        (("show",), ("NAME", "monet hardware show --help")),
        (("show", "h100", "--valuse"), ("--valuse", "did you mean '--values'")),
        (("show", "h10"), ("h10", "h100")),
        (("show", "there/is/no.yaml"), ("there/is/no.yaml",)),
        (("show", "edge_tpu", "--set", "x"), ("--set", "NAME=VALUE")),
        (("show", "edge_tpu", "--set", "=3"), ("--set", "NAME=VALUE")),
        (("show", "edge_tpu", "--set", "x="), ("--set", "NAME=VALUE")),
        (("show", "edge_tpu", "--set", "lane=3"), ("lane", "lanes")),
        (("show", "edge_tpu", "--set", "x=many"), ("x",)),
        (("show", "edge_tpu", "--set", "x=0"), ("x",)),
        (("show", "h100", "--svg", "no/such/folder/h100.svg"), ("no/such/folder/h100.svg", "cannot be written")),
        (("check",), ("which file?", "--schema")),
        (("import",), ("FILE",)),
        (("import", "there/is/no.yaml"), ("there/is/no.yaml",)),
    ],
)
def test_mistakes(run, arguments, words) -> None:
    fails(run("hardware", *arguments), *words)


def test_a_peak_that_does_not_come_out(run, machine) -> None:
    machine.write_text(MACHINE.replace("64 GOP/s", "80 GOP/s"))
    fails(run("hardware", "check", machine), str(machine), "-20.0 %", "8e+10", "correct units, rate or clock")
    shown = run("hardware", "show", machine)
    assert shown.returncode == 0 and "more than 2 %" in shown.stdout


def test_a_wrong_key_has_its_place(run, machine) -> None:
    machine.write_text(MACHINE.replace("technology:", "tecnology:"))
    fails(run("hardware", "check", machine), f"{machine}:4:1", "tecnology", "technology")


def test_an_output_that_cannot_be_written(run, shared) -> None:
    source = shared / "reference/zigzag/hardware/tpu_like.yaml"
    if not source.exists():
        pytest.skip(f"{source} is absent")
    fails(run("hardware", "import", source, "-o", "no/such/folder/x.yaml"), "no/such/folder/x.yaml", "cannot be written")
