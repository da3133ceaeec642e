"""Do the calls give what the commands print, to the last bit?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")

NETWORK, MACHINE = "mlp-robotics", "edge_tpu"
SMALL = ["--hardware", MACHINE, "--set", "x=2", "--set", "y=2"]


@pytest.fixture
def machine():
    return monet.hardware(MACHINE, x=2, y=2)


@pytest.fixture
def run(program: Path):
    def call(*arguments: object) -> dict:
        result = subprocess.run([program, *map(str, arguments), "--json", "-q"], capture_output=True, text=True)
        assert result.returncode in (0, 2), result.stderr
        return json.loads(result.stdout)

    return call


def timeless(value):
    """Without what no two runs have in common."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in ("wall_s", "wall_breakdown", "designs_per_s")}
    return [timeless(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"batch": 4}, ["--batch", 4]),
        ({"optimizer": "sgd", "freeze": "layers.0*", "loss": "mse"},
         ["--optimizer", "sgd", "--freeze", "layers.0*", "--loss", "mse"]),
        ({"lora_rank": 4, "precision": "bf16"}, ["--lora", 4, "--precision", "bf16"]),
        ({"recompute": ["relu.0.out"], "accumulate": 2}, ["--recompute", "relu.0.out", "--accumulate", 2]),
    ],
)  # fmt: skip
def test_train(run, options, arguments) -> None:
    step = monet.load(NETWORK).train(**options)
    assert step.to_dict() == run("train", NETWORK, *arguments)


def test_the_exported_step(tmp_path: Path, program: Path) -> None:
    monet.load(NETWORK, batch=2).train("momentum").export(tmp_path / "a.onnx")
    command = [program, "train", NETWORK, "--batch", "2", "--optimizer", "momentum", "-q", "-o", tmp_path / "b.onnx"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_a_step_is_evaluated_with_its_options(run, machine) -> None:
    step = monet.load(NETWORK).train("sgd", batch=4, freeze=["layers.0*"], recompute="relu.0.out")
    result = monet.evaluate(step, machine)
    arguments = ["--batch", 4, "--optimizer", "sgd", "--freeze", "layers.0*", "--recompute", "relu.0.out"]
    assert timeless(result.to_dict()) == timeless(run("evaluate", NETWORK, *SMALL, *arguments))


def test_details_change_nothing(machine) -> None:
    with_, without = (monet.evaluate(NETWORK, machine, details=details) for details in (True, False))
    assert timeless(with_.to_dict()) == timeless(without.to_dict())


def test_suggestions_are_those_of_the_program(run, machine) -> None:
    suggested = monet.evaluate(NETWORK, machine, suggest=True)
    assert suggested.options and not monet.evaluate(NETWORK, machine).options
    assert timeless(suggested.to_dict()) == timeless(run("evaluate", NETWORK, *SMALL, "--suggest"))


def test_a_result_in_a_folder(tmp_path: Path, program: Path, machine) -> None:
    command = [program, "evaluate", NETWORK, *SMALL, "-q", "-o", tmp_path / "program"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    folder = monet.evaluate(NETWORK, machine, suggest=True).save(tmp_path / "package")
    assert sorted(p.name for p in folder.iterdir()) == sorted(p.name for p in (tmp_path / "program").iterdir())
    for file in folder.glob("*"):
        of_program = (tmp_path / "program" / file.name).read_bytes()
        if file.name == "result.json":
            assert timeless(json.loads(file.read_bytes())) == timeless(json.loads(of_program))
        elif file.name != "report.html":
            assert file.read_bytes() == of_program, file.name


def test_fuse(run, machine) -> None:
    found = monet.fuse(NETWORK, machine, objective="energy", limit=4)
    assert timeless(found.to_dict()) == timeless(run("fuse", NETWORK, *SMALL, "--objective", "energy", "--limit", 4))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"memory_budget": "90%", "evaluations": 40}, ["--memory-budget", "90%", "--evaluations", 40]),
        ({"method": "exact", "tensors": ["relu.0.out", "relu.1.out"], "objective": "edp"},
         ["--method", "exact", "--tensors", "relu.0.out", "--tensors", "relu.1.out", "--objective", "edp"]),
        ({"pareto": True, "evaluations": 40, "pareto_step": 0.1, "page_weights": False},
         ["--pareto", "--evaluations", 40, "--pareto-step", 0.1, "--no-page-weights"]),
        ({"memory_budget": "1KiB", "evaluations": 20}, ["--memory-budget", "1KiB", "--evaluations", 20]),
    ],
)  # fmt: skip
def test_checkpoint(run, machine, options, arguments) -> None:
    found = monet.checkpoint(monet.load(NETWORK, batch=16), machine, **options)
    assert timeless(found.to_dict()) == timeless(run("checkpoint", NETWORK, "--batch", 16, *SMALL, *arguments))


def test_optimize(run, machine) -> None:
    options = {"evaluations": 10, "generations": 2, "population": 6, "objective": "energy", "seed": 3}
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    found = monet.optimize(NETWORK, machine, **options)
    assert timeless(found.to_dict()) == timeless(run("optimize", NETWORK, *SMALL, *arguments))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"samples": 30, "seed": 2}, ["--samples", 30, "--seed", 2]),
        ({"method": "nsga2", "samples": 40, "population": 10, "objectives": ["latency@learn", "area"]},
         ["--method", "nsga2", "--samples", 40, "--population", 10, "--objectives", "latency@learn,area"]),
        ({}, []),
    ],
)  # fmt: skip
def test_explore(run, tmp_path: Path, options, arguments) -> None:
    found = monet.explore("mcu", **options).to_dict()
    printed = run("explore", "mcu", *arguments, "--store", tmp_path / "store.sqlite")
    assert timeless(found | {"store": ""}) == timeless(printed | {"store": ""})


def test_compare(run, tmp_path: Path, machine) -> None:
    results = [monet.evaluate(NETWORK, machine, batch=batch) for batch in (1, 2)]
    folders = [result.save(tmp_path / name) for result, name in zip(results, "ab")]
    printed = run("compare", *folders)
    assert monet.compare(*folders).to_dict() == printed
    of_results = monet.compare(*results).to_dict()
    assert of_results["rows"] == printed["rows"] and of_results["rows"]
    assert of_results["operators"] == printed["operators"]
    changes = monet.compare(*results)
    for text in (changes.to_json(), changes.to_text(), changes.to_csv()):
        assert str(tmp_path) not in text and "monet-" not in text
    assert (changes.a, changes.b) == ("a", "b")


def test_costs_as_a_file(run, tmp_path: Path, machine) -> None:
    file = tmp_path / "costs.yaml"
    file.write_text("operators:\n  Relu: {cycles: 1000 + points, energy: 2 pJ * points}\n")
    arguments = [NETWORK, *SMALL, "--custom", file]
    result = monet.evaluate(NETWORK, machine, custom=file)
    assert timeless(result.to_dict()) == timeless(run("evaluate", *arguments))
    assert result.latency_cycles > monet.evaluate(NETWORK, machine).latency_cycles
    found = monet.fuse(NETWORK, machine, custom=str(file), limit=3)
    assert timeless(found.to_dict()) == timeless(run("fuse", *arguments, "--limit", 3))
    found = monet.checkpoint(NETWORK, machine, custom=file, evaluations=20)
    assert timeless(found.to_dict()) == timeless(run("checkpoint", *arguments, "--evaluations", 20))
    found = monet.optimize(NETWORK, machine, custom=file, evaluations=10, generations=2, population=6)
    few = ["--evaluations", 10, "--generations", 2, "--population", 6]
    assert timeless(found.to_dict()) == timeless(run("optimize", *arguments, *few))


def test_pack(run, tmp_path: Path) -> None:
    file = tmp_path / "buffers.csv"
    file.write_text("id,lower,upper,size\na,0,4,100\nb,2,6,50\nc,5,9,100\n")
    packing = monet.pack(file, capacity=1000)
    assert timeless(packing.to_dict()) == timeless(run("pack", file, "--capacity", 1000))
    assert packing.placed and packing.peak_bytes == 150, "a and b are alive together"


def test_remat(run, tmp_path: Path) -> None:
    """0 is read first and last: the peak is 4 + 4 + 2 at node 2, and 7 are enough if 0 is computed again for 3."""
    nodes = [(5, 4), (2, 4), (2, 2), (1, 1)]
    graph = {
        "directed": True,
        "nodes": [{"id": i, "name": str(i), "cost_cpu": cpu, "cost_ram": ram} for i, (cpu, ram) in enumerate(nodes)],
        "links": [{"source": a, "target": b} for a, b in [(0, 1), (1, 2), (2, 3), (0, 3)]],
    }
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(graph))
    found = monet.remat(file, 8, time_limit=600.0, jobs=1)
    assert timeless(found.to_dict()) == timeless(run("remat", file, "--budget", "8B", "--time-limit", 600, "--jobs", 1))
    assert found.base_time == 10 and found.time == 15 and found.peak_bytes <= 8 and found.proven
    assert [action["node"] for action in found.schedule["actions"] if action["action"] == "compute"].count("0") == 2


def test_validate(run, data: Path) -> None:
    validation = monet.validate("silicon")
    printed = run("validate", "silicon")
    assert validation.rows == printed["rows"]
    assert "silicon" in monet.validations()
