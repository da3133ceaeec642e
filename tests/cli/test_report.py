"""Does `monet report` show what was found, whatever it is called, and leave alone what it is made of?"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
from commands import fails, is_mistake, run_command
from pages import data_in, data_of

NETWORK = ("mlp-robotics:hidden=16,layers=2", "--batch", 4)
MACHINE = ("--hardware", "monet_2x2")
QUICK = ("--rounds", 1, "--evaluations", 10, "--population", 4, "--generations", 1)
SPACE = """\
space: 1
name: small
description: a small </script> space
hardware: edge_tpu
parameters:
  x: [1, 2]
  lanes: [1, 2]
  pe_memory: [0.5 MiB, 1 MiB, 1 KiB]
workloads:
  - {name: inference, network: "mlp-robotics:hidden=16,layers=2", step: inference}
  - {name: training, network: "mlp-robotics:hidden=16,layers=2", batch: 4}
objectives: [latency, energy]
"""


@pytest.fixture
def run(monet: Path, tmp_path: Path):
    """In a folder of its own."""
    return partial(run_command, monet, cwd=tmp_path)


@pytest.fixture(scope="module")
def evaluated(monet: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated") / "results"
    result = run_command(monet, "evaluate", *NETWORK, *MACHINE, "-o", folder, "-q")
    assert result.returncode == 0, result.stderr
    if "no report page" in result.stderr:
        pytest.skip("this build has no report page")
    return folder


@pytest.fixture
def results(evaluated: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(evaluated, tmp_path / "results"))


def same_but_time(a: dict, b: dict) -> None:
    def without(found: dict) -> dict:
        return {key: value for key, value in found.items() if not key.startswith("wall")}

    assert without(a) == without(b)


# Evaluations


def test_a_folder_has_a_page_with_its_result(evaluated) -> None:
    data = data_of(evaluated / "report.html")
    assert data["schema"] == 1 and data["program"].startswith("monet ")
    (evaluation,) = data["evaluations"]
    assert evaluation["name"] == data["title"] == "mlp-robotics:hidden=16,layers=2 on monet_2x2"
    assert evaluation["result"] == json.loads((evaluated / "result.json").read_text())
    details = json.loads((evaluated / "details.json").read_text())
    assert {key: evaluation[key] for key in details} == details
    assert "comparison" not in data and "plans" not in data and "exploration" not in data


def test_reporting_a_folder_gives_the_same_page(run, results) -> None:
    before = (results / "report.html").read_bytes()
    os.remove(results / "report.html")
    for path in (results, results / "result.json"):
        result = run("report", path)
        assert result.returncode == 0 and result.stderr == ""
        assert result.stdout == f"{results / 'report.html'}\n"
        assert (results / "report.html").read_bytes() == before


def test_outputs(run, results, tmp_path) -> None:
    result = run("report", results, "-o", "page.html", "--title", "<b>mine</b>", "--json")
    found = json.loads(result.stdout)
    assert found == {"schema": 1, "command": "report", "page": "page.html", "bytes": (tmp_path / "page.html").stat().st_size}
    assert data_of(tmp_path / "page.html")["title"] == "<b>mine</b>"
    printed = run("report", "results", "-o", "-", "--title", "<b>mine</b>")
    assert printed.stdout == (tmp_path / "page.html").read_text()
    assert run("report", results, "-o", "page.html", "-q").stdout == ""


def test_without_details_the_rest_is_shown(run, results) -> None:
    os.remove(results / "details.json")
    assert run("report", results).returncode == 0
    (evaluation,) = data_of(results / "report.html")["evaluations"]
    assert evaluation.keys() == {"name", "result"}


def test_what_is_printed_can_be_shown(run, tmp_path) -> None:
    printed = run("evaluate", *NETWORK, *MACHINE, "--json", "-q")
    (tmp_path / "saved.json").write_text(printed.stdout)
    assert run("report", "saved.json").stdout == "report.html\n"
    same_but_time(data_of(tmp_path / "report.html")["evaluations"][0]["result"], json.loads(printed.stdout))


@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", "<!--<script>", "ü ✓", "quote\" and \\", "/*DATA*/"])
def test_names_of_any_kind(run, results, name) -> None:
    found = json.loads((results / "result.json").read_text())
    found["model"] = found["operators"][0]["name"] = name
    found["energy_breakdown"] = {name: found["energy_pj"]}
    (results / "result.json").write_text(json.dumps(found, ensure_ascii=False))
    assert run("report", results).returncode == 0
    page = (results / "report.html").read_text()
    assert "<script>alert" not in page
    data = data_in(page)
    assert data["evaluations"][0]["result"] == found
    assert data["title"] == f"{name} on monet_2x2"


def test_a_folder_with_a_name_that_is_no_text(monet, results, tmp_path) -> None:
    folder = os.fsencode(tmp_path) + b"/bad\xff"
    os.rename(os.fsencode(results), folder)
    result = subprocess.run([monet, "report", folder, folder, "-o", "-"], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    data = data_in(result.stdout.decode())
    assert data["evaluations"][0]["name"].endswith("/bad\ufffd")


def test_two_are_compared(run, results, tmp_path) -> None:
    assert run("evaluate", *NETWORK, *MACHINE, "--order", "graph", "-o", "second", "-q").returncode == 0
    assert run("report", "results", "second").stdout == "comparison.html\n"
    data = data_of(tmp_path / "comparison.html")
    assert data["title"] == "results and second"
    assert [evaluation["name"] for evaluation in data["evaluations"]] == ["results", "second"]
    for evaluation, folder in zip(data["evaluations"], ("results", "second"), strict=True):
        assert evaluation["result"] == json.loads((tmp_path / folder / "result.json").read_text())
    compared = json.loads(run("compare", "results", "second", "--json", "-q").stdout)
    assert data["comparison"] == compared


# Plans


def test_plans_of_optimize(run, tmp_path) -> None:
    result = run("optimize", *NETWORK, *MACHINE, *QUICK, "-o", "plans", "--json", "-q")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    written = json.loads((tmp_path / "plans" / "result.json").read_text())
    assert written["command"] == answer["command"] == "optimize" and answer["clock_hz"] > 0
    names = [f"plan_{i:03}.yaml" for i in range(len(answer["plans"]))]
    assert {path.name for path in (tmp_path / "plans").iterdir()} == {*names, "plans.csv", "result.json", "report.html"}
    assert [plan["plan_file"] for plan in written["plans"]] == names, "beside it, wherever the folder goes"
    assert [plan.pop("plan_file") for plan in answer["plans"]] == [f"plans/{name}" for name in names]
    for plan in written["plans"]:
        del plan["plan_file"]
    assert answer.pop("wall_s") > 0, "files hold no time of this computer"
    assert written == answer
    first = data_of(tmp_path / "plans" / "report.html")
    for plan, name in zip(first["plans"]["plans"], names, strict=True):
        assert plan["plan_yaml"] == (tmp_path / "plans" / name).read_text()
    assert first["plans"]["start"] == answer["start"]
    (tmp_path / "plans").rename(tmp_path / "moved")
    assert run("report", "moved", "-o", "again.html").returncode == 0
    assert data_of(tmp_path / "again.html") == first


@pytest.mark.parametrize("several", [False, True])
def test_plans_of_checkpoint(run, tmp_path, several) -> None:
    more = ("--pareto", "--pareto-step", 0.2) if several else ()
    result = run("checkpoint", *NETWORK, *MACHINE, "--evaluations", 10, *more, "-o", "plans/", "--json", "-q")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["command"] == "checkpoint"
    assert [plan["plan_file"] for plan in answer["plans"]] == [f"plans/plan_{i:03}.yaml" for i in range(len(answer["plans"]))]
    data = data_of(tmp_path / "plans" / "report.html")["plans"]
    assert data["start"]["latency_cycles"] == answer["all_kept"]["latency_cycles"]
    assert [plan["peak_bytes"] for plan in data["plans"]] == [plan["peak_bytes"] for plan in answer["plans"]]
    assert data["plans"][0]["plan_yaml"] == (tmp_path / "plans" / "plan_000.yaml").read_text()
    again = run("report", "plans", "-o", "-")
    assert data_in(again.stdout)["plans"] == data


def test_one_plan_is_a_file(run, tmp_path) -> None:
    result = run("checkpoint", *NETWORK, *MACHINE, "--evaluations", 5, "-o", "plan", "--json", "-q")
    assert json.loads(result.stdout)["plans"][0]["plan_file"] == "plan"
    assert run("evaluate", *NETWORK, *MACHINE, "--plan", "plan", "-q").returncode == 0


# Explorations


@pytest.fixture
def store(run, tmp_path) -> Path:
    (tmp_path / "space.yaml").write_text(SPACE)
    result = run("explore", "space.yaml", "-o", "out", "-q")
    assert result.returncode == 0, result.stderr
    return tmp_path / "small.sqlite"


def test_a_store_in_columns(run, store, tmp_path) -> None:
    assert run("report", "small.sqlite").stdout == "small.html\n"
    data = data_of(tmp_path / "small.html")
    assert data["title"] == "small" and data["evaluations"] == []
    found = data["exploration"]
    assert found["description"] == "a small </script> space"
    with open(tmp_path / "out" / "designs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    ran = [row for row in rows if row["status"] == "ran"]
    assert found["seen"] == len(rows) == 12 and found["evaluated"] == found["shown"] == len(ran) > 4
    designs = found["designs"]
    assert designs["id"] == [int(row["design"]) for row in ran]
    for parameter, places in zip(found["parameters"], designs["parameters"], strict=True):
        assert [parameter["values"][place] for place in places] == [row[parameter["name"]] for row in ran]
    compared = 0
    for metric, values in zip(found["metrics"], designs["metrics"], strict=True):
        column = f"{metric['workload']}.{metric['name']}" if metric["workload"] else metric["name"]
        if column in ran[0]:
            assert values == [float(row[column]) for row in ran], column
            compared += 1
    assert compared >= 7 + 2 * 8
    front = json.loads((tmp_path / "out" / "front.json").read_text())["front"]
    assert [designs["id"][row] for row in found["front"]] == [result["index"] for result in front]


def test_pages_of_an_exploration_are_one(run, store, tmp_path) -> None:
    page = (tmp_path / "out" / "report.html").read_bytes()
    assert run("report", "out", "-o", "a.html").returncode == 0
    assert run("explore", "--show", "small.sqlite", "-o", "b.html", "-q").returncode == 0
    data = data_of(tmp_path / "a.html")
    assert data == data_of(tmp_path / "b.html") and page.startswith(b"<!")
    same_objectives = run("report", store, "-o", "-", "--objectives", "energy@training,area").stdout
    assert [each["name"] for each in data_in(same_objectives)["exploration"]["objectives"]] == ["energy@training", "area"]


@pytest.mark.parametrize("plan", ["", "plan: {fuse: {limit: 3}}\n", "plan: {checkpoint: {memory_budget: 100%, evaluations: 5}}\n"])
def test_commands_give_a_design_again(run, monet, tmp_path, plan) -> None:
    (tmp_path / "space.yaml").write_text(SPACE + plan)
    assert run("explore", "space.yaml", "-q").returncode == 0
    assert run("report", "small.sqlite").returncode == 0
    found = data_of(tmp_path / "small.html")["exploration"]
    workloads = [command["workload"] for command in found["commands"]]
    assert workloads == (["training"] if "checkpoint" in plan else ["inference", "training"])
    row = found["front"][0]
    sets = " ".join(f"--set '{parameter['name']}={parameter['values'][places[row]]}'"
                    for parameter, places in zip(found["parameters"], found["designs"]["parameters"], strict=True))
    environment = {**os.environ, "PATH": f"{monet.parent}{os.pathsep}{os.environ['PATH']}"}
    for command in found["commands"]:
        line = command["command"].replace("{set}", sets) + " --json -q"
        result = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, (line, result.stderr)
        answer = json.loads(result.stdout[result.stdout.rindex("\n{\n") + 1 :] if plan else result.stdout)
        for name, value in (("latency_s", answer["latency_s"]), ("energy_pj", answer["energy_pj"])):
            column = next(i for i, metric in enumerate(found["metrics"])
                          if metric["name"] == name and metric["workload"] == command["workload"])
            assert value == pytest.approx(found["designs"]["metrics"][column][row], rel=1e-12), line


# Mistakes


def test_inputs_that_are_none(run, results, store, tmp_path) -> None:
    is_mistake(run("report"), "INPUT", "monet report --help")
    is_mistake(run("report", "nothing"), "nothing: there is no such file or folder", "-o")
    (tmp_path / "empty").mkdir()
    is_mistake(run("report", "empty"), "there is no result.json in this folder")
    is_mistake(run("report", "space.yaml"), "space.yaml:1:", "not the JSON of a result")
    is_mistake(run("report", "results/plan.yaml"), "results/plan.yaml:1:", "not the JSON of a result")
    is_mistake(run("report", "results/trace.json"), "\"schema\" is missing")
    is_mistake(run("report", "small.sqlite", "results"), "two evaluations are compared, not stores")
    is_mistake(run("report", "results", "--objectives", "latency"), "--objectives", "no store")
    is_mistake(run("report", "small.sqlite", "--objectives", "latencie"), "did you mean 'latency'")
    is_mistake(run("report", "results", "results", "results"), "monet report --help")
    (tmp_path / "inspected.json").write_text(run("inspect", "mlp-robotics", "--json", "-q").stdout)
    is_mistake(run("report", "inspected.json"), "inspected.json", "no report of `monet inspect`")
    is_mistake(run("report", "inspected.json", "results"), "inspected.json", "`monet inspect`", "results of `monet evaluate` are compared")
    store.unlink()
    is_mistake(run("report", "out"), "front.json", "'small.sqlite'", "not here")


def test_files_that_are_damaged(run, results) -> None:
    good = (results / "result.json").read_text()
    for text, words in [
        ("", ("result.json:1:1", "not the JSON")),
        (good[: len(good) // 2], ("result.json:", "cut short")),
        (good.replace('"schema": 1', '"schema": 2', 1), ("made by a later version of monet",)),
        (good.replace('"command": "evaluate"', '"command": []', 1), ('"command" is a list, not a text',)),
        (good.replace('"latency_cycles": ', '"latency_cycles": NaN, "x": ', 1), ("result.json:", "not the JSON")),
        (good.replace('"energy_pj": ', '"energy_pj": "much", "x": ', 1), ('"energy_pj" is a text, not a number',)),
        ("[" * 100000, ("nested deeper than 64",)),
    ]:
        (results / "result.json").write_text(text)
        is_mistake(run("report", results), *words)
    (results / "result.json").write_text(good)
    (results / "details.json").write_text('{"machine": {')
    is_mistake(run("report", results), "details.json:1:", "cut short")
    (results / "details.json").write_text('{"schema": 9}')
    is_mistake(run("report", results), "details.json", "later version")


def test_no_input_is_written_over(run, results, store, tmp_path) -> None:
    for arguments in (("results", "-o", "results/result.json"), ("results", "-o", "results/details.json"),
                      ("results/result.json", "-o", "results/result.json"), ("small.sqlite", "-o", "small.sqlite"),
                      ("results/result.json", "-o", "results/details.json"), ("out", "-o", "out/front.json"),
                      ("out", "-o", "small.sqlite")):
        before = (tmp_path / arguments[2]).read_bytes()
        is_mistake(run("report", *arguments), arguments[2], "there is a file that is no page")
        assert (tmp_path / arguments[2]).read_bytes() == before


def test_outputs_that_cannot_be(run, results) -> None:
    is_mistake(run("report", results, "-o", "no/such/page.html"), "no/such/page.html", "cannot be written")
    is_mistake(run("report", results, "-o", "-", "--json"), "-o - and --json do not go together")
    fails(run("evaluate", *NETWORK, *MACHINE, "--chakra", "no/such/x.et", "-q"), 1, "no/such/x.et", "cannot be written")


def test_help_has_examples(run) -> None:
    for command in ("report", "compare"):
        result = run(command, "--help")
        assert result.returncode == 0
        for words in ("Examples:", f"monet {command} ", "Exit status:", "-o"):
            assert words in result.stdout


def test_a_result_under_another_name_stands_alone(run, tmp_path) -> None:
    assert run("evaluate", *NETWORK, *MACHINE, "-o", "run", "-q").returncode == 0
    (tmp_path / "run" / "copy.json").write_text((tmp_path / "run" / "result.json").read_text())
    assert run("report", "run/copy.json", "-o", "copy.html").returncode == 0
    assert "schedule" not in data_of(tmp_path / "copy.html")["evaluations"][0]
    assert run("report", "run/result.json", "-o", "whole.html").returncode == 0
    assert "schedule" in data_of(tmp_path / "whole.html")["evaluations"][0]
