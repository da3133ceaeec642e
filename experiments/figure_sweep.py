"""The best plan for every memory budget, from all kept to the least in steps of 2 %: monotone, and obeyed.

    python experiments/figure_sweep.py [--step 0.02] [--evaluations 60] [--batch N] [--networks resnet18,mobilenet-v2,bert-base]

Each plan is carried out again from its file by `monet evaluate`, whose checker must accept it, with the same latency and
energy and a packed peak within the budget. Writes results/figure_sweep.csv and figure_sweep.svg; status 1 if a plan fails.
"""

import argparse

from common import Failed, monet, percent, picture, print_table, save_picture, timed, work_folder, write_csv

# Machines that can run norms backward, with a batch at which activations count.
CASES = {
    "resnet18": (["resnet18", "--batch", "8"], ["--hardware", "jetson_agx_orin", "--lowering", "nests"]),
    "mobilenet-v2": (["mobilenet-v2", "--batch", "8"], ["--hardware", "jetson_agx_orin", "--lowering", "nests"]),
    "bert-base": (["bert-base", "--batch", "8"], ["--hardware", "tpu_v4"]),
}


def is_close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def faults_of(plan, again, memory, before):
    """What is wrong with one plan of a sweep, given its second evaluation and the plan for the next smaller budget."""
    if plan["peak_bytes"] > plan["budget_bytes"]:
        yield "its peak is above the budget"
    if again["peak_bytes"][memory] > plan["budget_bytes"]:
        yield f"evaluated again its peak is {again['peak_bytes'][memory]}"
    if not again["checked"]:
        yield "it was not checked"
    for quantity in ("latency_cycles", "energy_pj"):
        if not is_close(again[quantity], plan[quantity]):
            yield f"evaluated again {quantity} is {again[quantity]:.9g}, not {plan[quantity]:.9g}"
    if before and plan["latency_cycles"] > before["latency_cycles"]:
        yield "more memory costs more time"


def sweep(name, given):
    network, machine = CASES[name]
    if given.batch:
        network = [network[0], "--batch", given.batch]
    folder = work_folder(f"sweep_{name}")
    cache = ["--cache", folder / "mappings.cache"]  # mappings take most of a first evaluation
    for old in folder.glob("plan_*.yaml"):
        old.unlink()
    answer = monet("checkpoint", *network, *machine, "--pareto", "--pareto-step", given.step, "--evaluations",
                   given.evaluations, "-o", folder)
    memory, kept = answer["memory"], answer["all_kept"]
    rows, faults, before, settled = [], [], None, {}
    for number, plan in enumerate(answer["plans"]):
        file = folder / f"plan_{number:03}.yaml"
        text = file.read_text(encoding="utf-8")
        if text not in settled:  # neighbouring budgets may have the same plan
            try:
                settled[text] = monet("evaluate", *network, *machine, "--no-compare", *cache, "--plan", file)
            except Failed as failed:
                faults.append(f"{name}, budget {plan['budget_bytes']}: evaluate ended with {failed.status}: {failed.message}")
                continue
        again = settled[text]
        found = [f"{name}, budget {plan['budget_bytes']}: {fault}" for fault in faults_of(plan, again, memory, before)]
        faults += found
        rows.append({
            "network": name, "machine": answer["hardware"], "memory": memory, "budget_bytes": plan["budget_bytes"],
            "budget_percent": 100 * plan["budget_bytes"] / kept["peak_bytes"], "peak_bytes": again["peak_bytes"][memory],
            "latency_percent": percent(plan["latency_cycles"], kept["latency_cycles"]),
            "energy_percent": percent(plan["energy_pj"], kept["energy_pj"]),
            "latency_cycles": plan["latency_cycles"], "energy_pj": plan["energy_pj"],
            "bound_cycles": plan["bound"]["latency_cycles"], "recomputed": len(plan["recomputed"]),
            "paged": len(plan["paged"]), "order": plan["order"], "obeyed": not found})
        before = plan
    print(f"  {name}: {len(rows)} budgets, {len(settled)} plans, least {rows[0]['budget_percent']:.1f} % of all kept, "
          f"{answer['evaluated']} plans priced in {answer['wall_s']:.0f} s, {len(faults)} faults")
    return rows, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=float, default=0.02)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--batch", type=int, help="instead of each network's own")
    parser.add_argument("--networks", default=",".join(CASES))
    given = parser.parse_args()
    rows, faults = [], []
    for name in given.networks.split(","):
        found, wrong = sweep(name, given)
        rows += found
        faults += wrong
        write_csv("figure_sweep.csv", rows)
    print_table(rows, ["network", "budget_percent", "latency_percent", "energy_percent", "recomputed", "paged", "order",
                       "obeyed"])
    draw(rows)
    for fault in faults:
        print(f"FAULT {fault}")
    return 1 if faults else 0


def draw(rows):
    drawn = picture("figure_sweep.svg", columns=2, size=(6, 4.4))
    if not drawn:
        return
    for axes, quantity in zip(drawn[1], ("latency", "energy")):
        for name in dict.fromkeys(row["network"] for row in rows):
            some = [row for row in rows if row["network"] == name]
            axes.step([r["budget_percent"] for r in some], [r[f"{quantity}_percent"] for r in some], where="post",
                      marker=".", label=f"{name}, {some[0]['machine']}")
        axes.set_xlabel("budget, % of the packed peak with all kept")
        axes.set_ylabel(f"{quantity} against all kept, %")
        axes.legend(fontsize=8)
    save_picture("figure_sweep.svg", drawn)


timed(main)
