"""Does `monet precision` say what formats and recipes are, and compare recipes honestly? Are its errors of use?"""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from commands import answer_of, answering, fails, interrupted, is_mistake, run_command
from pages import data_of

NETWORK = ("mlp-robotics:hidden=16,layers=2", "--batch", 16)
MACHINE = ("--hardware", "tpu_v4")
QUICK = ("--steps", 12)

# A processor whose memory is all there is.
SMALL = """\
monet: 1
name: small
clock: 64 MHz
cores:
  cpu:
    rate:
      operations: {all: 6 MOP/s, mac: 3 MOP/s}
      energy: {all: 1 nJ, mac: 2 nJ}
    memories:
      ram:
        kind: sram
        size: SIZE
        paths: [input, weight, output]
        ports: {rw: {kind: read_write, width: 32 bit/cycle}}
        read_energy: 0 pJ
        write_energy: 0 pJ
"""


@pytest.fixture
def run(monet: Path, tmp_path: Path):
    """In a folder of its own."""
    return partial(run_command, monet, cwd=tmp_path)


@pytest.fixture
def answer(run):
    return answering(run)


# What there is


def test_list(run) -> None:
    result = run("precision", "list")
    assert result.returncode == 0 and result.stderr == ""
    formats, recipes = result.stdout.split("\n\n")
    for title in ("format", "element", "bits", "groups", "scale", "largest", "smallest"):
        assert title in formats.splitlines()[0]
    for title in ("recipe", "values", "weights", "activations", "gradients", "copies"):
        assert title in recipes.splitlines()[0]
    assert recipes.splitlines()[2].startswith("fp32")


# OCP Microscaling Formats v1.0, table 1, and its text on scales: 8 bits of scale for 32 elements.
@pytest.mark.parametrize(
    ("name", "element", "bits", "largest", "smallest"),
    [
        ("mxfp8_e5m2", "fp8e5m2", 8.25, 57344, 2**-16),
        ("mxfp8_e4m3", "fp8e4m3", 8.25, 448, 2**-9),
        ("mxfp6_e3m2", "fp6e3m2", 6.25, 28, 2**-4),
        ("mxfp6_e2m3", "fp6e2m3", 6.25, 7.5, 2**-3),
        ("mxfp4", "fp4e2m1", 4.25, 6, 0.5),
        ("mxint8", "int8", 8.25, 1 + 63 / 64, 2**-6),
    ],
)
def test_formats_of_ocp(answer, name, element, bits, largest, smallest) -> None:
    formats = {each["name"]: each for each in answer("precision", "list")["formats"]}
    found = formats[name]
    assert (found["element"], found["bits"], found["largest"], found["smallest"]) == (element, bits, largest, smallest)
    assert found["groups"] == "32" and found["scale"] == "e8m0" and "OCP" in found["source"]
    # In squares of 8 by 8 there are 64 elements to a scale.
    assert formats[f"{name}_8x8"]["bits"] == bits - 8 / 32 + 8 / 64


def test_every_recipe_and_format_is_shown(run, answer) -> None:
    found = answer("precision", "list")
    assert found["schema"] == 1 and found["command"] == "precision list"
    for recipe in found["recipes"]:
        shown = answer("precision", "show", recipe["name"])
        assert shown["recipe"] == recipe
        names = {each["name"] for each in shown["formats"]}
        for kind in ("weights", "activations", "gradients", "stored_values", "master"):
            assert not recipe[kind] or recipe[kind].split()[0] in names
        text = run("precision", "show", recipe["name"]).stdout
        assert text.startswith(f"{recipe['name']}\n{recipe['description']}\n") and recipe["source"] in text
    recipes = {recipe["name"] for recipe in found["recipes"]}
    for each in found["formats"]:
        shown = answer("precision", "show", each["name"])
        assert each in shown["formats"]
        assert (shown["recipe"] is not None) == (each["name"] in recipes)


def test_a_format_by_what_it_consists_of(run, answer) -> None:
    (found,) = answer("precision", "show", "fp7e3m3")["formats"]
    # Bias 3, no specials: 2^4 (2 - 2^-3), and 2^-2 2^-3 below one.
    assert (found["bits"], found["largest"], found["smallest"]) == (7, 30, 2**-5)
    text = run("precision", "show", "int8:e8m0/8x8@-1").stdout
    assert "8x8" in text and "8.125" in text


def test_a_recipe_of_ones_own(run, answer, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "monet: 1\ndescription: mine\nbase: mxfp8\nformats:\n"
        "  small: {description: tiny, element: fp6e2m3, group: 16, scale: e8m0, source: me}\nweights: small\n"
    )
    found = answer("precision", "show", "mine.yaml")
    assert found["recipe"]["weights"] == "small" and found["recipe"]["description"] == "mine"
    small = next(each for each in found["formats"] if each["name"] == "small")
    assert small["bits"] == 6.5 and small["groups"] == "16"
    rows = answer("precision", "compare", *NETWORK, *MACHINE, "--recipes", "fp32,mine.yaml", "--no-accuracy")["rows"]
    assert [row["recipe"] for row in rows] == ["fp32", "mine.yaml"]


# Comparing


def test_compare(run, tmp_path: Path) -> None:
    result = run(
        "precision", "compare", *NETWORK, *MACHINE, "--recipes", "mxfp8,fp32,bf16", *QUICK, "-o", "out", "--csv", "a.csv"
    )
    assert result.returncode == 0, result.stderr
    assert "trained for real: mlp-robotics:hidden=16,layers=2, 12 steps of adam" in result.stdout
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == {"comparison.json", "comparison.csv", "report.html"}
    found = json.loads((folder / "comparison.json").read_text())
    assert found["command"] == "precision compare" and found["hardware"] == "tpu_v4"
    assert [row["recipe"] for row in found["rows"]] == ["fp32", "mxfp8", "bf16"], "fp32 first, then as asked"
    for row in found["rows"]:
        assert row["failed"] is None and row["energy_pj"] > 0 and row["peak_bytes"] > 0 and row["latency_s"] > 0
        assert len(row["simulation"]["losses"]) == 12 and row["simulation"]["measured"][-1]["step"] == 12
    fp32, mxfp8, _ = found["rows"]
    assert fp32["copy_bytes"] == fp32["quantized_elements"] == 0
    assert mxfp8["copy_bytes"] > mxfp8["padding_bytes"] >= 0 and mxfp8["quantized_elements"] > 0
    assert (tmp_path / "a.csv").read_text() == (folder / "comparison.csv").read_text()
    assert data_of(folder / "report.html")["precisions"] == found


def test_the_front_by_brute_force(answer) -> None:
    found = answer("precision", "compare", *NETWORK, *MACHINE, *QUICK)
    rows, tolerance = found["rows"], found["loss_tolerance"]
    assert tolerance > 0
    only_count = {"int8-everywhere", "int8-analog"}
    assert {row["recipe"] for row in rows} == {each["name"] for each in answer("precision", "list")["recipes"]} - only_count

    def figures(row):
        if row["failed"] or row["costed_as"] or row["simulation"] is None or row["simulation"]["diverged"]:
            return None
        return row["simulation"]["measured"][-1]["loss"], row["energy_pj"], row["peak_bytes"]

    def is_beaten(own):
        margins = (tolerance, 0, 0)
        others = [figures(row) for row in rows if figures(row)]
        return any(
            all(a <= b + margin for a, b, margin in zip(other, own, margins))
            and any(a < b - margin for a, b, margin in zip(other, own, margins))
            for other in others
        )

    for row in rows:
        assert row["best"] == (figures(row) is not None and not is_beaten(figures(row))), row["recipe"]
    assert any(row["best"] for row in rows)


def test_rows_are_those_of_evaluate_and_train(answer) -> None:
    rows = answer("precision", "compare", *NETWORK, *MACHINE, "--recipes", "fp32,mxfp8", "--no-accuracy")["rows"]
    for row in rows:
        alone = answer("evaluate", *NETWORK, *MACHINE, "--precision", row["recipe"])
        assert (row["latency_s"], row["energy_pj"]) == (alone["latency_s"], alone["energy_pj"])
        assert row["peak_bytes"] == max(alone["peak_bytes"].values())
        step = answer("train", *NETWORK, "--precision", row["recipe"])
        assert (row["static_bytes"], row["saved_bytes"]) == (step["static_bytes"], step["saved_bytes"])


def test_the_same_for_any_number_of_threads(answer) -> None:
    def compared(jobs):
        found = answer(
            "precision", "compare", *NETWORK, *MACHINE, *QUICK, "--recipes", "fp32,bf16,mxfp4,mxint8", "--jobs", jobs
        )
        return found["rows"]

    assert compared(1) == compared(3)


def test_recipes_that_the_machine_cannot_run_have_no_figures(run, answer) -> None:
    """A machine of 8 bits trains nothing in fp32, and does not pretend to."""
    machine = ("--hardware", "edge_tpu", "--recipes", "fp32,bf16,mixed,mxfp8,int8-everywhere")
    command = ("precision", "compare", *NETWORK, *machine, "--no-accuracy")
    *others, everywhere = answer(*command)["rows"]
    for row in others:
        assert "edge_tpu cannot run" in row["failed"] and "in int8, not in" in row["failed"], row
        assert row["latency_s"] is None and not row["best"]
    assert everywhere["failed"] is None and everywhere["peak_bytes"] >= everywhere["static_bytes"]
    text = run(*command).stdout
    assert "recipes that it can train with: int8-everywhere" in text
    assert "; --set arithmetic=... gives it units of other numbers than int8" in text
    row = next(line for line in text.splitlines() if line.startswith("fp32 "))
    assert set(row.split()[1:]) == {"n/a"}


def test_one_batch_for_both_unless_it_is_said(answer) -> None:
    command = ("precision", "compare", NETWORK[0], *MACHINE, *QUICK, "--recipes", "fp32")
    notes = answer(*command)["notes"]
    assert any("a batch of 1, losses of one of 32; --batch sets both" in note for note in notes)
    found = answer(*command, "--batch", 8)
    assert found["rows"][0]["simulation"]["batch"] == 8
    assert not any("losses of one of" in note for note in found["notes"])


def test_what_is_hardly_learned_is_said(run) -> None:
    command = ("precision", "compare", *NETWORK, *MACHINE, "--recipes", "fp32", "--steps", 1, "--learning-rate", "1e-9")
    result = run(*command)
    assert "fp32 hardly learned" in result.stderr
    assert json.loads(run(*command, "--json").stdout)["warnings"]


def test_costs_only(run, answer) -> None:
    command = ("precision", "compare", *NETWORK, *MACHINE, "--recipes", "fp32,bf16,mxfp8", "--no-accuracy")
    found = answer(*command)
    assert found["simulate_model"] is None
    assert all(row["simulation"] is None and row["not_simulated"] is None for row in found["rows"])
    text = run(*command).stdout
    assert "loss" not in text and "* no other has less energy and less peak memory" in text


def test_another_network_is_trained(answer) -> None:
    found = answer(
        "precision", "compare", "lenet5", *MACHINE, "--recipes", "fp32,bf16", "--simulate", NETWORK[0],
        "--simulate-batch", 8, *QUICK,
    )  # fmt: skip
    assert found["model"] == "lenet5" and found["simulate_model"] == NETWORK[0]
    assert all(row["simulation"]["batch"] == 8 for row in found["rows"])
    assert any("which stands for lenet5" in note for note in found["notes"])


def test_a_recipe_that_cannot_run_says_why(run, tmp_path: Path) -> None:
    # 936 parameters with their moments alone take 11 KiB in fp32.
    (tmp_path / "small.yaml").write_text(SMALL.replace("SIZE", "11 KiB"))
    command = ("precision", "compare", *NETWORK, "--hardware", "small.yaml", "--recipes", "fp32,bf16", "--no-accuracy")
    found = answer_of(run(*command, "--json"))
    fp32, bf16 = found["rows"]
    assert bf16["failed"] is None and bf16["best"]
    assert "does not fit" in fp32["failed"] and "ram is too small by" in fp32["failed"] and not fp32["best"]
    assert fp32["energy_pj"] is fp32["latency_s"] is fp32["peak_bytes"] is fp32["copy_bytes"] is None, "never zero"
    text = run(*command).stdout
    assert "cannot run: fp32\n" in text
    assert run(*command, "--csv", "rows.csv").returncode == 0
    with open(tmp_path / "rows.csv", newline="") as file:
        by_name = {row["recipe"]: row for row in csv.DictReader(file)}
    assert by_name["fp32"]["failed"] == fp32["failed"] and by_name["fp32"]["energy_pj"] == ""
    assert float(by_name["bf16"]["energy_pj"]) == bf16["energy_pj"]


def test_where_no_recipe_can_run(run, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL.replace("SIZE", "1 KiB"))
    command = ("precision", "compare", *NETWORK, "--hardware", "small.yaml", "--recipes", "fp32", "--no-accuracy")
    result = run(*command)
    fails(result, 2, "none of the 1 recipes can run", "does not fit", "take another machine")
    assert result.stdout == ""
    result = run(*command, "--json")
    assert result.returncode == 2 and "does not fit" in json.loads(result.stdout)["rows"][0]["failed"]


def test_an_interrupt_gives_what_was_trained(monet: Path, tmp_path: Path) -> None:
    result = interrupted(
        monet, "precision", "compare", *NETWORK, *MACHINE, "--recipes", "fp32", "--steps", 1000000, "--force", "--json",
        "-q", after_s=4,
    )  # fmt: skip
    if result.returncode == 0:
        (row,) = json.loads(result.stdout)["rows"]
        assert row["simulation"] is None or row["simulation"]["stopped"]
    else:  # before the costs were known
        assert result.returncode in (1, 2), result.stderr


# A page of it later


def test_report_of_a_comparison(run, tmp_path: Path) -> None:
    assert run(
        "precision", "compare", *NETWORK, *MACHINE, "--recipes", "fp32,bf16", "--no-accuracy", "-o", "out"
    ).returncode == 0  # fmt: skip
    page = (tmp_path / "out" / "report.html").read_bytes()
    (tmp_path / "out" / "report.html").unlink()
    assert run("report", "out").stdout.strip() == "out/report.html"
    assert (tmp_path / "out" / "report.html").read_bytes() == page
    assert run("report", "out/comparison.json", "-o", "other.html").returncode == 0
    assert (tmp_path / "other.html").read_bytes() == page


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"schema": 1, "command": "precision compare"}', 'there is no recipe in it ("rows")'),
        ('{"schema": 1, "command": "precision compare", "rows": 3}', '"rows" is a number, not a list'),
        ('{"schema": 1, "command": "precision compare", "rows": [{"recipe": 3}]}', '"rows[0].recipe" is a number'),
        ('{"schema": 1, "command": "precision compare", "rows": [{"energy_pj": "x"}]}', '"rows[0].energy_pj" is a text'),
        ('{"schema": 1, "command": "precision list"}', "there is no report of `monet precision list`"),
    ],
)
def test_a_damaged_comparison(run, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "comparison.json").write_text(text)
    is_mistake(run("report", "comparison.json"), words)


# What is wrong, and what to do


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("monet precision --help",)),
        (("lits",), ("there is no command 'lits'", "did you mean 'list'?")),
        (("show",), ("NAME",)),
        (("show", "mxfp9"), ("there is no recipe and no format 'mxfp9'", "did you mean 'mxfp8'?")),
        (("show", "nothing-like-it"), ("there is no recipe and no format", "monet precision list")),
        (("show", "absent.yaml"), ("absent.yaml",)),
        (("compare", *NETWORK), ("--hardware",)),
        (("compare", *NETWORK, "--hardware", "edge_tpv"), ("edge_tpu",)),
        (("compare", "resnet19", *MACHINE), ("no built-in network", "did you mean 'resnet18'?")),
        (("compare", *NETWORK, *MACHINE, "--recipes", "fp32,mxfp9"), ("mxfp9", "did you mean 'mxfp8'?")),
        (("compare", *NETWORK, *MACHINE, "--recipes", "absent.yaml"), ("absent.yaml",)),
        (("compare", *NETWORK, *MACHINE, "--steps", "0"), ("--steps",)),
        (("compare", *NETWORK, *MACHINE, "--steps", "many"), ("--steps",)),
        (("compare", *NETWORK, *MACHINE, "--learning-rate", "-1"), ("--learning-rate",)),
        (("compare", *NETWORK, *MACHINE, "--seed", "-1"), ("--seed",)),
        (("compare", *NETWORK, *MACHINE, "--simulate-batch", "x"), ("'x' is not a whole number",)),
        (("compare", *NETWORK, *MACHINE, "--simulate", "resnet19"), ("no built-in network",)),
        (("compare", *NETWORK, *MACHINE, "--recipes", "fp32", "--data", "absent.csv"), ("absent.csv",)),
        (("compare", *NETWORK, *MACHINE, "--recipe", "fp32"), ("there is no option '--recipe'", "did you mean '--recipes'?")),
    ],
)
def test_mistakes(run, arguments, words) -> None:
    is_mistake(run("precision", *arguments), *words)


def test_a_network_that_is_too_large_to_train(run) -> None:
    result = run("precision", "compare", "resnet50", *MACHINE, "--recipes", "fp32")
    is_mistake(result, "training it for real is too much work")


def test_a_folder_that_cannot_be_written(run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = ("precision", "compare", *NETWORK, *MACHINE, "--recipes", "fp32", "--no-accuracy")
    is_mistake(run(*command, "-o", "file"), "file")
    is_mistake(run(*command, "--csv", "absent/a.csv"), "cannot be written")
