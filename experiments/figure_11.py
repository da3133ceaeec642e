"""What it costs to recompute saved tensor A, B, and both, on a fused step: not the sum.

    python experiments/figure_11.py [--batch 32]

ResNet-18 with images of 32 x 32. Fused once, and these stacks kept; then fused again for each. Writes
results/figure_11.csv and figure_11.svg.
"""

import argparse

from common import MACHINE, monet, percent, picture, print_table, save_picture, timed, work_folder, write_csv

SECONDS = 30  # for fusing again: with B recomputed the exact choice of the published rules takes minutes
SETTINGS = [
    ("published form and rules", ["--optimizer-form", "elementwise", "--conv-gradient", "im2col"],
     ["--rules", "published", "--objective", "sets"]),
    ("ours", [], ["--rules", "own", "--objective", "latency"]),
]


def rows_of(setting, way, results, saved):
    """One row for each of none, A, B, A and B, with what is not the sum of A and B."""
    none = results["none"]
    rows = []
    for which, result in results.items():
        if result.get("stopped"):
            print(f"  {setting}, {way}, {which}: fusing was stopped")
        change = {q: result[q] - none[q] for q in ("latency_cycles", "energy_pj")}
        rows.append({
            "setting": setting, "stacks": way, "recomputed": which,
            "latency_cycles": result["latency_cycles"], "energy_pj": result["energy_pj"],
            "saved_elements": saved[which],
            "latency_percent": percent(result["latency_cycles"], none["latency_cycles"]),
            "energy_percent": percent(result["energy_pj"], none["energy_pj"]),
            "extra_cycles": change["latency_cycles"], "extra_pj": change["energy_pj"],
        })
    sum_of = {q: rows[1][q] + rows[2][q] for q in ("extra_cycles", "extra_pj", "latency_percent", "energy_percent")}
    rows.append(dict(rows[3], recomputed="A + B as a sum", latency_cycles=none["latency_cycles"] + sum_of["extra_cycles"],
                     energy_pj=none["energy_pj"] + sum_of["extra_pj"], **sum_of))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=32)
    given = parser.parse_args()
    folder = work_folder("figure_11")
    network = ["resnet18-cifar-folded", "--batch", given.batch]
    rows = []
    for number, (setting, form, search) in enumerate(SETTINGS):
        step = [*network, *form]
        tensors = monet("train", *step)["saved"]
        a, b = tensors[0], tensors[1]
        total = sum(tensor["elements"] for tensor in tensors)
        plan = folder / f"plan_{number}.yaml"
        cases = {"none": [], "A": [a], "B": [b], "A and B": [a, b]}
        saved = {which: total - sum(t["elements"] for t in some) for which, some in cases.items()}
        again = {which: [word for t in some for word in ("--recompute", t["name"])] for which, some in cases.items()}
        fused = {"none": monet("fuse", *step, *MACHINE, *search, "-o", plan)}
        kept = {which: monet("evaluate", *step, *MACHINE, "--no-compare", "--plan", plan, *options)
                for which, options in again.items()}
        for which in ("A", "B", "A and B"):
            fused[which] = monet("fuse", *step, *MACHINE, *search, *again[which], "--time-limit", SECONDS)
        unfused = {which: monet("evaluate", *step, *MACHINE, "--no-compare", *options)
                   for which, options in again.items()}
        print(f"  {setting}: A = {a['name']}, B = {b['name']}")
        rows += rows_of(setting, "none", unfused, saved)
        rows += rows_of(setting, "fused once", kept, saved)
        rows += rows_of(setting, "fused again", fused, saved)
    write_csv("figure_11.csv", rows)
    print_table(rows)
    draw(rows)


def draw(rows):
    drawn = picture("figure_11.svg", columns=2, size=(7, 4.6))
    if not drawn:
        return
    which = ["A", "B", "A and B", "A + B as a sum"]
    groups = list(dict.fromkeys((row["setting"], row["stacks"]) for row in rows))
    width = 0.8 / len(which)
    for axes, quantity in zip(drawn[1], ("latency", "energy")):
        for w, name in enumerate(which):
            values = [next(r[f"{quantity}_percent"] for r in rows
                           if (r["setting"], r["stacks"], r["recomputed"]) == (*group, name)) for group in groups]
            axes.bar([g + (w - 1.5) * width for g in range(len(groups))], values, width, label=name)
        axes.set_xticks(range(len(groups)), [f"{setting}\n{way}" for setting, way in groups], fontsize=6)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_ylabel(f"{quantity} against recomputing nothing, %")
        axes.legend(fontsize=7)
    save_picture("figure_11.svg", drawn)


timed(main)
