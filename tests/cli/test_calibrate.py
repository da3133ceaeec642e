"""Does `monet calibrate` make a machine of measured kernels, and does the script that measures them speak its language?"""

from __future__ import annotations

import csv
import importlib.util
import json
from functools import partial
from pathlib import Path

import pytest
from commands import answering, fails, run_command

SCRIPT = Path(__file__).parents[2] / "python" / "monet" / "measure_gpu.py"


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet, "calibrate")


@pytest.fixture
def calibrated(run):
    return answering(run)


@pytest.fixture(scope="module")
def measure_gpu():
    spec = importlib.util.spec_from_file_location("measure_gpu", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(path: Path, rows: list[dict]) -> Path:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(rows)
    return path


def copies() -> list[dict]:
    """3 µs and 2 TB/s."""
    return [{"kind": "elementwise", "op": "copy", "precision": "fp32", "elements": n, "us": 3 + n * 8 / 2e6}
            for n in (4**i for i in range(5, 14))]  # fmt: skip


def test_a_law_is_found_and_the_machine_can_be_read(run, monet: Path, tmp_path: Path) -> None:
    table = write(tmp_path / "kernels.csv", copies())
    output = tmp_path / "mine.yaml"
    result = run(table, "--hardware", "h200_datasheet", "--name", "mine", "--date", "2026-01-01", "-o", output, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert [(row["name"], row["measured"]) for row in found["classes"]] == [("elementwise.copy.fp32", 9)]
    assert found["classes"][0]["law_error"] < 0.05
    assert output.read_text() == found["machine"]
    assert "include: h200_datasheet" in found["machine"]
    assert 'date: "2026-01-01"' in found["machine"]
    for note in ("not measured, so laws of the base or its data sheet: product, convolution", "no energy was measured"):
        assert note in result.stderr
    shown = run_command(monet, "hardware", "show", output, "--json", "-q")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["name"] == "mine"
    # The new machine is a base again: nothing is lost.
    again = run(table, "--hardware", output, "--name", "again", "--date", "2026-01-01", "-o", tmp_path / "again.yaml", "-q")
    assert "elementwise.copy.fp32" in again.stdout
    assert "include: mine.yaml" in (tmp_path / "again.yaml").read_text()


def test_the_same_tables_give_the_same_file(calibrated, tmp_path: Path) -> None:
    table = write(tmp_path / "kernels.csv", copies())
    machines = [calibrated(table, "--hardware", "h200_datasheet", "--date", "x", "--jobs", jobs)["machine"] for jobs in (1, 2)]
    assert machines[0] == machines[1]


def test_mistakes(run, tmp_path: Path) -> None:
    good = write(tmp_path / "kernels.csv", copies())
    fails(run(good), 1, "--hardware is required")
    fails(run("--hardware", "h200"), 1, "MEASUREMENTS is required")
    fails(run(tmp_path / "absent.csv", "--hardware", "h200"), 1, "absent.csv")
    fails(run(good, "--hardware", "h201"), 1, "did you mean 'h200'?")
    fails(run(good, "--hardware", "h200", "--core", "pe"), 1, "has no core 'pe'")
    fails(run(good, "--hardware", "edge_tpu"), 1, "--core")
    bad = write(tmp_path / "bad.csv", [*copies(), {"kind": "elementwise", "op": "copy", "precision": "fp32", "elements": 5, "us": -1}])
    fails(run(bad, "--hardware", "h200"), 1, "bad.csv:11: us = -1 is not a number above 0")


def test_the_plan_covers_every_kind(measure_gpu) -> None:
    plan = measure_gpu.plan()
    assert {case["kind"] for case in plan} == {"linear", "bmm", "conv", "batch_norm", "layer_norm", "softmax", "log_softmax", "elementwise",
                                               "shaped", "attention", "optimizer"}  # fmt: skip
    assert all(set(case) <= set(measure_gpu.COLUMNS) for case in plan)
    assert len({tuple(sorted(case.items())) for case in plan}) == len(plan)
    # Seconds, were each to take a third of one, and those with power the time for it as well.
    assert len(plan) / 3 + sum(map(measure_gpu.has_power, plan)) < 600


def test_calibrate_reads_what_the_script_writes(measure_gpu, calibrated, tmp_path: Path) -> None:
    rows = []
    for number, case in enumerate(measure_gpu.plan()):
        us = 5 + number % 7 + (10 if case.get("part") == "forward_backward" else 0)
        rows.append({**case, "us": us, "cold": 0})
        if measure_gpu.has_power(case):
            rows.append(measure_gpu.energy_row(case, us, 300 + number % 11, 1980 - 90 * (number % 3)))
    table = write(tmp_path / "kernels.csv", [{column: row.get(column, "") for column in measure_gpu.COLUMNS} for row in rows])
    found = calibrated(table, "--hardware", "h200_datasheet", "--folds", 2)
    names = {row["name"].split(".")[0] for row in found["classes"]}
    assert names == {"product", "convolution", "batch_norm", "layer_norm", "softmax", "log_softmax", "elementwise", "attention",
                     "optimizer", "energy"}  # fmt: skip


def test_the_script_without_a_device(measure_gpu, tmp_path: Path, capsys) -> None:
    assert measure_gpu.main(["-o", str(tmp_path / "plan.csv"), "--list"]) == 0
    with open(tmp_path / "plan.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(measure_gpu.plan())
    with pytest.raises(SystemExit):
        measure_gpu.main(["-o", str(tmp_path / "plan.csv"), "--only", "gemv"])
    assert "there is no kind 'gemv'" in capsys.readouterr().err
