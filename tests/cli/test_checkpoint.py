"""Does `monet checkpoint` keep its contract: budgets obeyed, the best of all plans on small networks, plans that evaluate
to the same numbers, JSON, exit status, errors that help?"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from commands import answer_of, fails, interrupted, run_command

# All kept, this step needs about 377 KiB of the 1 MiB; 4 saved tensors, storage to page to: 3^4 plans in 2 orders.
MODEL = ("mlp-robotics:hidden=64", "--batch", 128)


def with_writable_flash() -> str:
    """The preset's flash cannot be written within a step: here it can."""
    preset = Path(__file__).parents[2] / "presets" / "stm32h743.yaml"
    read = "r: {kind: read, width: 51 bit/cycle}"
    text = preset.read_text(encoding="utf-8")
    assert read in text
    path = Path(tempfile.mkdtemp()) / "stm32h743.yaml"
    path.write_text(text.replace(read, f"{read}\n      w: {{kind: write, width: 51 bit/cycle}}"), encoding="utf-8")
    return str(path)


MACHINE = ("--hardware", with_writable_flash())
PLAN_FIELDS = {"latency_cycles", "energy_pj", "peak_bytes", "saved_bytes_dropped", "recomputed", "paged"}
VALUES = {
    "latency": lambda plan: plan["latency_cycles"],
    "energy": lambda plan: plan["energy_pj"],
    "edp": lambda plan: plan["latency_cycles"] * plan["energy_pj"],
}


@pytest.fixture
def run(monet: Path):
    def call(*arguments: object, command: str = "checkpoint") -> subprocess.CompletedProcess:
        few = ["--no-page-weights"] if command == "checkpoint" else []  # so that all plans can be looked at
        return run_command(monet, command, *arguments, *few)

    return call


@pytest.fixture
def found(run):
    def call(*arguments: object, model=MODEL, machine=MACHINE) -> dict:
        return answer_of(run(*model, *machine, *arguments, "--json", "-q"))

    return call


@pytest.fixture
def same_when_evaluated(run):
    """The plan in a file comes out exactly as it was said to."""

    def call(plan: dict, path: Path, memory: str, model=MODEL, machine=MACHINE) -> None:
        evaluation = answer_of(run(*model, *machine, "--plan", path, "--json", "-q", command="evaluate"))
        assert evaluation["latency_cycles"] == plan["latency_cycles"]
        assert evaluation["energy_pj"] == plan["energy_pj"]
        assert evaluation["peak_bytes"][memory] == plan["peak_bytes"]

    return call


def without_time(answer: dict) -> dict:
    return {key: value for key, value in answer.items() if key != "wall_s"}


def test_json_has_the_contract(found) -> None:
    answer = found("--memory-budget", "75%")
    assert answer["schema"] == 1 and answer["feasible"] and answer["complete"]
    assert answer["memory"] == "cpu/sram" and answer["method"] == "search" and answer["objective"] == "latency"
    assert answer["budget_bytes"] == int(0.75 * answer["all_kept"]["peak_bytes"])
    assert answer["tensors"] == 4 and answer["space"] == 3**4 * 2 >= answer["evaluated"] > 0
    (plan,) = answer["plans"]
    assert PLAN_FIELDS <= plan.keys() and PLAN_FIELDS <= answer["all_kept"].keys()
    assert plan["peak_bytes"] <= answer["budget_bytes"] == plan["budget_bytes"]
    assert plan["saved_bytes"] + plan["saved_bytes_dropped"] == answer["all_kept"]["saved_bytes"]
    assert bool(plan["recomputed"] + plan["paged"]) == (plan["saved_bytes_dropped"] > 0)
    for each in (answer["all_kept"], plan):
        assert 0 < each["bound"]["latency_cycles"] <= each["latency_cycles"] * (1 + 1e-12)
        assert 0 < each["bound"]["energy_pj"] <= each["energy_pj"] * (1 + 1e-12)
    assert answer["all_kept"]["recomputed"] == answer["all_kept"]["paged"] == []


def test_all_kept_is_what_evaluate_says(run, found) -> None:
    kept = found()["all_kept"]
    evaluation = json.loads(run(*MODEL, *MACHINE, "--json", "-q", command="evaluate").stdout)
    assert kept["latency_cycles"] == evaluation["latency_cycles"] and kept["energy_pj"] == evaluation["energy_pj"]
    assert kept["peak_bytes"] == evaluation["peak_bytes"]["cpu/sram"]
    assert kept["saved_bytes"] == evaluation["saved_bytes"]


def test_text(run) -> None:
    result = run(*MODEL, *MACHINE, "--memory-budget", "75%")
    assert result.returncode == 0 and result.stderr == ""
    for word in ("of all kept", "packed of", "in cpu/sram", "saved bytes", "order", "bound", "at least", "priced"):
        assert word in result.stdout


@pytest.mark.parametrize("objective", VALUES)
def test_the_best_of_all_plans_for_every_budget(found, objective) -> None:
    """Both methods with the same budget; less memory is never better."""
    before = 0.0
    for share in (100, 85, 78, 74):
        budget = ("--memory-budget", f"{share}%", "--objective", objective)
        exact = found(*budget, "--method", "exact")
        assert exact["proven"] and exact["evaluated"] == exact["space"]
        best = min(map(VALUES[objective], exact["plans"]))
        (plan,) = found(*budget, "--evaluations", 1000)["plans"]
        assert plan["peak_bytes"] <= plan["budget_bytes"]
        assert VALUES[objective](plan) == pytest.approx(best, rel=1e-12)
        assert best >= before * (1 - 1e-12)
        before = best


def test_the_best_of_all_plans_on_a_machine_with_several_cores(found) -> None:
    model, machine = ("mlp-robotics:hidden=32,layers=2", "--batch", 64), ("--hardware", "monet_2x2")
    exact = found("--method", "exact", model=model, machine=machine)
    (plan,) = found("--evaluations", 1000, model=model, machine=machine)["plans"]
    assert plan["latency_cycles"] == pytest.approx(min(map(VALUES["latency"], exact["plans"])), rel=1e-12)


def test_plan_evaluates_to_the_same(found, same_when_evaluated, tmp_path) -> None:
    for switches in ((), ("--no-page",), ("--no-recompute", "--objective", "energy"), ("--order", "graph")):
        path = tmp_path / "plan.yaml"
        answer = found("--memory-budget", "93%", *switches, "-o", path)
        (plan,) = answer["plans"]
        same_when_evaluated(plan, path, answer["memory"])


def test_switches(found) -> None:
    (plan,) = found("--memory-budget", "78%", "--no-page")["plans"]
    assert plan["recomputed"] and not plan["paged"]
    (plan,) = found("--memory-budget", "78%", "--no-recompute")["plans"]
    assert plan["paged"] and not plan["recomputed"]
    answer = found("--memory-budget", "90%", "--no-reorder", "--order", "frugal", "--tensors", "relu.0*")
    assert answer["tensors"] == 1 and answer["plans"][0]["order"] == "frugal"
    assert set(answer["plans"][0]["recomputed"] + answer["plans"][0]["paged"]) <= {"relu.0.out"}


@pytest.mark.parametrize(
    "method",
    [("--pareto", "--pareto-step", 0.05), ("--method", "exact"), ("--method", "nsga2", "--population", 20, "--generations", 4)],
)
def test_folder_of_plans(found, same_when_evaluated, tmp_path, method) -> None:
    folder = tmp_path / "plans"
    answer = found("--memory-budget", "100%", "--no-page", *method, "-o", folder)
    plans = answer["plans"]
    assert len(plans) >= 2
    for i, plan in enumerate(plans):
        same_when_evaluated(plan, folder / f"plan_{i:03}.yaml", answer["memory"])
    with open(folder / "plans.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["peak_bytes"]) for row in rows] == [plan["peak_bytes"] for plan in plans]
    assert [float(row["latency_cycles"]) for row in rows] == [plan["latency_cycles"] for plan in plans]
    assert len(list(folder.iterdir())) == len(plans) + 3  # plans.csv, result.json, report.html


def test_pareto_budgets_rise_and_more_memory_is_no_worse(found) -> None:
    plans = found("--pareto", "--pareto-step", 0.04, "--objective", "energy")["plans"]
    budgets = [plan["budget_bytes"] for plan in plans]
    assert budgets == sorted(set(budgets))
    energies = [plan["energy_pj"] for plan in plans]
    assert energies == sorted(energies, reverse=True)
    assert all(plan["peak_bytes"] <= plan["budget_bytes"] for plan in plans)
    assert plans[0]["peak_bytes"] == plans[0]["budget_bytes"]  # the least


@pytest.mark.parametrize("method", [("--method", "exact"), ("--method", "nsga2", "--population", 30, "--generations", 5)])
@pytest.mark.parametrize("measure", ["peak", "saved"])
def test_no_plan_of_a_front_beats_another(found, method, measure) -> None:
    answer = found("--memory-budget", "90%", *method, "--measure", measure)
    points = []
    for plan in answer["plans"]:
        assert plan["peak_bytes"] <= answer["budget_bytes"]
        points.append((plan["peak_bytes" if measure == "peak" else "saved_bytes"], plan["latency_cycles"], plan["energy_pj"]))
    for a in points:
        assert not any(b != a and all(x <= y for x, y in zip(b, a)) for b in points)
    assert points == sorted(points) and len(set(points)) == len(points)


def test_exact_writes_every_plan(found, tmp_path) -> None:
    path = tmp_path / "points.csv"
    answer = found("--method", "exact", "--points", path, "--csv", tmp_path / "plans.csv")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 162 == answer["evaluated"]
    assert {row["choices"] for row in rows if row["choices"].count("k") == 4} == {"kkkk"}
    assert len({row["choices"] for row in rows}) == 81
    best = min(float(row["latency_cycles"]) for row in rows)
    assert best == pytest.approx(min(map(VALUES["latency"], answer["plans"])), rel=1e-12)
    assert (tmp_path / "plans.csv").read_text().count("\n") == len(answer["plans"]) + 1


def test_stacks_of_a_plan_are_kept(run, found, same_when_evaluated, tmp_path) -> None:
    model, machine = ("mlp-robotics:hidden=64", "--batch", 512), ("--hardware", "monet_2x2")
    fused, path = tmp_path / "fused.yaml", tmp_path / "plans"
    result = run(*model, *machine, "--effort", 0.02, "-o", fused, "-q", command="fuse")
    assert result.returncode == 0, result.stderr
    answer = found("--plan", fused, "--method", "exact", "--measure", "saved", "-o", path, model=model, machine=machine)
    same_when_evaluated(answer["all_kept"], fused, "dram", model, machine)
    recomputing = [i for i, plan in enumerate(answer["plans"]) if plan["recomputed"]]
    assert recomputing
    for i in recomputing:
        file = path / f"plan_{i:03}.yaml"
        same_when_evaluated(answer["plans"][i], file, "dram", model, machine)
        assert "stacks:" in file.read_text()


def test_what_a_plan_says_of_tensors_is_settled(found, tmp_path) -> None:
    given = tmp_path / "given.yaml"
    given.write_text("plan: 1\ntensors: {relu.0.out: recompute, relu.1.out: keep}\n")
    answer = found("--plan", given, "--memory-budget", "95%")
    assert answer["tensors"] == 2
    assert "relu.0.out" in answer["plans"][0]["recomputed"] and "relu.0.out" in answer["all_kept"]["recomputed"]
    assert "relu.1.out" not in answer["plans"][0]["recomputed"] + answer["plans"][0]["paged"]


def test_sizes_of_budgets(found) -> None:
    for text, budget in (("300KiB", 300 << 10), ("cpu/sram=300KiB", 300 << 10), ("320000", 320000), ("0.32 MB", 320000)):
        answer = found("--memory-budget", text)
        assert answer["budget_bytes"] == budget >= answer["plans"][0]["peak_bytes"]
    assert found()["budget_bytes"] == 1 << 20  # what the memory holds


def test_budget_above_the_memory(run) -> None:
    result = run(*MODEL, *MACHINE, "--memory-budget", "2MiB")
    assert result.returncode == 0
    assert "the budget of 2 MiB is more than cpu/sram holds: 1 MiB" in result.stderr


def test_budget_for_the_memory_of_a_core(run, found, tmp_path) -> None:
    """It is a smaller memory: nothing can then be faster, and a plan belongs to that machine."""
    model, machine = ("mlp-robotics:hidden=256", "--batch", 64), ("--hardware", "edge_tpu_like")
    path = tmp_path / "plan.yaml"
    plain = found("--evaluations", 40, model=model, machine=machine)
    result = run(*model, *machine, "--memory-budget", "core/sram_2MB=16KiB", "--evaluations", 40, "-o", path, "--json")
    assert result.returncode == 0, result.stderr
    assert "core/sram_2MB holds 16 KiB" in result.stderr and "--force" in result.stderr
    less = json.loads(result.stdout)
    assert less["plans"][0]["latency_cycles"] >= plain["bound"]["latency_cycles"]
    assert less["all_kept"]["latency_cycles"] > plain["all_kept"]["latency_cycles"]
    fails(run(*model, *machine, "--plan", path, command="evaluate"), 1, "made for another machine", "--force")
    assert run(*model, *machine, "--plan", path, "--force", command="evaluate").returncode == 0
    # More than it holds is no limit.
    more = run(*model, *machine, "--memory-budget", "core/sram_2MB=1GiB", "--evaluations", 40, "--json")
    assert more.stderr == "" and without_time(json.loads(more.stdout)) == without_time(plain)


def test_deadlines(found, run) -> None:
    tight = ("--memory-budget", "90%", "--no-page", "--order", "frugal")
    fast = found(*tight)
    kept = fast["all_kept"]
    slow = fast["plans"][0]["latency_cycles"] / kept["latency_cycles"]
    assert slow > 1
    allowed = found(*tight, "--deadline", f"{slow + 0.001}x")
    assert allowed["deadline_cycles"] == pytest.approx((slow + 0.001) * kept["latency_cycles"])
    assert allowed["plans"][0]["latency_cycles"] <= allowed["deadline_cycles"]
    fails(run(*MODEL, *MACHINE, *tight, "--deadline", f"{1 + (slow - 1) / 10}x"), 2,
          "--memory-budget", "do not suffice within", "the least that was found is")  # fmt: skip
    in_time = found("--deadline", f"{2000 * kept['latency_s']} ms")
    assert in_time["deadline_cycles"] == pytest.approx(2 * kept["latency_cycles"])
    cycles = found("--deadline", f"{2 * kept['latency_cycles']:.0f} cycle")
    assert cycles["deadline_cycles"] == pytest.approx(2 * kept["latency_cycles"])
    for more in ((), ("--pareto",), ("--method", "exact"), ("--method", "nsga2", "--generations", 1)):
        fails(run(*MODEL, *MACHINE, *more, "--deadline", "0.5x"), 2, "--deadline", "the fastest takes", "more time")


@pytest.mark.parametrize("method", [(), ("--pareto",), ("--method", "exact"), ("--method", "nsga2", "--generations", 2)])
def test_too_little_names_the_least_which_then_does(run, found, tmp_path, method) -> None:
    out = tmp_path / "plan.yaml"
    result = run(*MODEL, *MACHINE, *method, "--memory-budget", "1KiB", "--json", "-o", out)
    fails(result, 2, "--memory-budget", "1 KiB of cpu/sram do not suffice", "the least that was found is", "layers.1.weight (16 KiB)")
    answer = json.loads(result.stdout)
    assert not answer["feasible"] and answer["plans"] == [] and not out.exists()
    assert f"({answer['least_bytes']:,} bytes)" in result.stderr
    assert {"name", "bytes"} <= answer["forced_by"][0].keys()
    assert sum(each["bytes"] for each in answer["forced_by"]) <= answer["least_bytes"]
    least = found("--memory-budget", answer["least_bytes"])
    assert least["plans"][0]["peak_bytes"] <= answer["least_bytes"]
    again = run(*MODEL, *MACHINE, "--memory-budget", answer["least_bytes"] - 1, "--json")
    assert again.returncode == 2 and json.loads(again.stdout)["least_bytes"] == answer["least_bytes"]


def test_the_least_is_the_least_of_all_plans(run, found) -> None:
    least = json.loads(run(*MODEL, *MACHINE, "--memory-budget", "1B", "--json", "-q").stdout)["least_bytes"]
    assert least == min(plan["peak_bytes"] for plan in found("--method", "exact")["plans"])


@pytest.mark.parametrize("machine", ["poet_m4f", "poet_mkr1000", "poet_rpi", "poet_rpi_nocache"])
def test_paging_on_the_machines_of_poet(found, same_when_evaluated, tmp_path, machine) -> None:
    """They are slow: paging hides behind computing, and costs energy."""
    model, path = ("mlp-robotics:hidden=16,inputs=8,outputs=4", "--batch", 32), tmp_path / "plan.yaml"
    where = {"model": model, "machine": ("--hardware", machine)}
    answer = found("--memory-budget", "80%", "--no-recompute", "-o", path, **where)
    (plan,) = answer["plans"]
    assert plan["paged"] and not plan["recomputed"] and plan["peak_bytes"] <= answer["budget_bytes"]
    assert plan["energy_pj"] > answer["all_kept"]["energy_pj"]
    assert "page" in path.read_text()
    same_when_evaluated(plan, path, answer["memory"], *where.values())


def test_same_for_any_number_of_threads_and_a_seed(found) -> None:
    for method in ((), ("--pareto", "--pareto-step", 0.1), ("--method", "exact"),
                   ("--method", "nsga2", "--population", 20, "--generations", 3)):  # fmt: skip
        budget = ("--memory-budget", "85%", *method)
        one = without_time(found(*budget, "--jobs", 1))
        assert one == without_time(found(*budget, "--jobs", 2))
        assert one == without_time(found(*budget, "--jobs", 2, "--seed", 1))
        other = found(*budget, "--seed", 7)
        assert all(plan["peak_bytes"] <= other["budget_bytes"] for plan in other["plans"])


def test_time_limit_gives_the_best_so_far(found) -> None:
    model, machine = ("resnet18-cifar:image=8",), ("--hardware", "monet_2x2")
    for method in ((), ("--pareto",), ("--method", "nsga2", "--generations", 100000)):
        answer = found("--time-limit", 3, "--evaluations", 10000000, *method, model=model, machine=machine)
        assert not answer["complete"] and not answer["proven"] and answer["plans"]
        assert all(plan["peak_bytes"] <= answer["budget_bytes"] for plan in answer["plans"])


def test_interrupted_search_gives_the_best_so_far(monet, tmp_path, same_when_evaluated) -> None:
    model, machine, path = ("resnet18-cifar:image=8",), ("--hardware", "monet_2x2"), tmp_path / "plan.yaml"
    answer = answer_of(interrupted(monet, "checkpoint", *model, *machine, "--memory-budget", "99%", "--evaluations",
                                   100000000, "--json", "-o", path, after_s=3))
    assert not answer["complete"]
    (plan,) = answer["plans"]
    assert plan["peak_bytes"] <= answer["budget_bytes"]
    same_when_evaluated(plan, path, answer["memory"], model, machine)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--memory-budget", "cpu/sramm=1KiB"], ["--memory-budget", "stm32h743 has no memory 'cpu/sramm'", "did you mean 'cpu/sram'?"]),
        (["--memory-budget", "zzzzzzzz=1KiB"], ["no memory 'zzzzzzzz'", "it has "]),
        (["--memory-budget", "cpu/sram=0", "--memory-budget", "flash=0"], ["flash is where tensors are paged to"]),
        (["--memory-budget", "much"], ["--memory-budget", "'much' does not start with a number", "512KiB"]),
        (["--memory-budget", ""], ["--memory-budget", "512KiB"]),
        (["--memory-budget", "2M"], ["--memory-budget", "unknown unit 'M'", "512KiB"]),
        (["--memory-budget", "3 MHz"], ["--memory-budget", "512KiB"]),
        (["--memory-budget", "1.5"], ["--memory-budget", "whole number of bytes"]),
        (["--memory-budget", "80"], ["--memory-budget", "without a unit", "80%, 80MiB or 80B"]),
        (["--memory-budget=-1"], ["--memory-budget", "whole number of bytes"]),
        (["--memory-budget", "1e30"], ["--memory-budget", "2^60"]),
        (["--memory-budget", "0%"], ["0% is no share", "80%"]),
        (["--memory-budget", "nan%"], ["is no share"]),
        (["--memory-budget", "2000%"], ["is no share"]),
        (["--memory-budget", "1MiB", "--memory-budget", "80%"], ["two budgets", "give one"]),
        (["--memory-budget", "cpu/sram=1MiB", "--memory-budget", "80%"], ["two budgets", "give one"]),
        (["--memory-budget", "flash=1MiB"], ["flash is where tensors are paged to", "paged out of"]),
        (["--deadline", "soon"], ["--deadline", "1.5x", "20ms"]),
        (["--deadline", "5"], ["--deadline", "'5' has no unit"]),
        (["--deadline", "0x"], ["--deadline", "no multiple above 0"]),
        (["--deadline", "infx"], ["--deadline", "no multiple above 0"]),
        (["--deadline", "-1ms"], ["--deadline", "no time above 0"]),
        (["--deadline", "3KiB"], ["--deadline", "20ms"]),
        (["--objective", "speed"], ["--objective", "there is no 'speed'", "choose one of latency, energy, edp"]),
        (["--tensors", "x*"], ["--tensors", "no saved tensor", "x*", "monet train MODEL --saved"]),
        (["--method", "magic"], ["--method", "search"]),
        (["--measure", "area"], ["--measure", "saved"]),
        (["--time-limit", "0"], ["--time-limit"]),
        (["--evaluations", "0"], ["--evaluations"]),
        (["--population", "1"], ["--population"]),
        (["--crossover", "2"], ["--crossover"]),
        (["--mutation", "-1"], ["--mutation"]),
        (["--pareto-step", "0"], ["--pareto-step"]),
        (["--plan", "/no/such/plan.yaml"], ["/no/such/plan.yaml"]),
        (["-o", "/no/such/folder/plan.yaml"], ["/no/such/folder/plan.yaml", "cannot be written", "folder"]),
        (["--pareto", "-o", "/proc/none"], ["/proc/none", "cannot be made", "-o"]),
        (["--csv", "/no/such/plans.csv"], ["/no/such/plans.csv", "cannot be written"]),
        (["--points", "/no/such/points.csv", "--method", "exact"], ["/no/such/points.csv", "cannot be written"]),
        (["--memory-budjet", "1"], ["did you mean '--memory-budget'"]),
    ],
)
def test_mistakes(run, arguments, words) -> None:
    result = run(*MODEL, *MACHINE, *arguments)
    assert result.stdout == ""
    fails(result, 1, *words)


def test_share_of_a_memory_of_a_core(run) -> None:
    fails(run(*MODEL, "--hardware", "monet_2x2", "--memory-budget", "pe0_0/sram=50%"), 1,
          "a share says nothing about pe0_0/sram", "give a size")  # fmt: skip


def test_too_many_plans_for_exact(run) -> None:
    fails(run("resnet18-cifar", "--hardware", "monet_2x2", "--method", "exact"), 1, "--method exact", "plans, more than", "--tensors",
          "--method search")  # fmt: skip


def test_plan_of_another_machine(run, found, tmp_path) -> None:
    path = tmp_path / "plan.yaml"
    found("-o", path)
    fails(run(*MODEL, "--hardware", "poet_m4f", "--plan", path), 1, str(path), "made for another machine", "--force")


def test_nothing_to_decide(found) -> None:
    answer = found("--no-recompute", "--no-page", "--no-reorder")
    assert answer["tensors"] == 0 and answer["space"] == 1 and answer["proven"]
    assert answer["plans"][0]["latency_cycles"] == answer["all_kept"]["latency_cycles"]


def test_help_has_examples(run) -> None:
    result = run("--help")
    assert result.returncode == 0 and "Examples:" in result.stdout and "--memory-budget 70%" in result.stdout


@pytest.mark.parametrize("method", ["search", "milp", "nsga2"])
def test_goes_on_from_a_plan_that_recomputes(found, tmp_path, method) -> None:
    """The step that a plan rewrites has other tensors and operators than the one that the bound is about."""
    path = tmp_path / "plan.yaml"
    path.write_text('plan: 1\ntensors:\n  "*": recompute\n', encoding="utf-8")
    more = ["--population", 8, "--generations", 4] if method == "nsga2" else []
    answer = found("--plan", path, "--method", method, *more)
    assert answer["plans"]
    for plan in answer["plans"]:
        assert plan["latency_cycles"] >= answer["bound"]["latency_cycles"]
        assert plan["energy_pj"] >= answer["bound"]["energy_pj"]
