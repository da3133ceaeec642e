"""Fusion of the published training step of ResNet-18: stacks by hand against those of the solver.

    python experiments/figure_10.py [--limits 4,6,8] [--quick]

Writes results/figure_10.csv and figure_10.svg.
"""

import argparse

from common import MACHINE, Failed, monet, percent, picture, print_table, published_step, save_picture, timed, write_csv

BY_HAND = "0-10,11-21"
PUBLISHED = {"latency": -15.0, "energy": -12.0, "limit": 6, "sets": 128}
SETTINGS = [
    # name, options of the search, options of the costs
    ("published rules and objective", ["--rules", "published", "--objective", "sets"], []),
    ("the same, every operator off chip", ["--rules", "published", "--objective", "sets"], ["--off-chip"]),
    ("the same, --zigzag", ["--rules", "published", "--objective", "sets"], ["--zigzag"]),
    ("ours, latency", ["--rules", "own", "--objective", "latency"], []),
    ("ours, edp", ["--rules", "own", "--objective", "edp"], []),
]


def row(setting, stacks, answer, hand, proven=""):
    unfused = answer["unfused"]
    return {
        "setting": setting,
        "stacks": stacks,
        "count": len(answer["stacks"]),
        "bound": answer["bound"]["stacks"] if answer["bound"]["stacks"] is not None else "",
        "proven": proven,
        "latency_cycles": answer["latency_cycles"],
        "energy_pj": answer["energy_pj"],
        "latency_to_hand_percent": percent(answer["latency_cycles"], hand["latency_cycles"]),
        "energy_to_hand_percent": percent(answer["energy_pj"], hand["energy_pj"]),
        "latency_to_unfused_percent": percent(answer["latency_cycles"], unfused["latency_cycles"]),
        "energy_to_unfused_percent": percent(answer["energy_pj"], unfused["energy_pj"]),
        "tiles": answer["tile_count"],
        "wall_s": answer["wall_s"],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limits", default="4,6,8")
    parser.add_argument("--quick", action="store_true", help="without improvement on evaluations of the whole step")
    given = parser.parse_args()
    limits = [int(limit) for limit in given.limits.split(",")]
    step, name = published_step()
    effort = ["--no-improve"] if given.quick else []
    rows = []
    for setting, search, costs in SETTINGS:
        common = ["fuse", *step, *MACHINE, *costs, *effort]
        objective = ["--objective", "edp"] if "edp" in search else []
        try:
            hand = monet(*common, *objective, "--stacks", BY_HAND)
        except Failed as failed:
            print(f"  {setting}: {failed.message}")
            continue
        hand_row = row(setting, "by hand", hand, hand)
        unfused = dict(hand_row, stacks="unfused", count="", tiles="", wall_s="", **{
            "latency_cycles": hand["unfused"]["latency_cycles"], "energy_pj": hand["unfused"]["energy_pj"],
            "latency_to_hand_percent": percent(hand["unfused"]["latency_cycles"], hand["latency_cycles"]),
            "energy_to_hand_percent": percent(hand["unfused"]["energy_pj"], hand["energy_pj"]),
            "latency_to_unfused_percent": 0.0, "energy_to_unfused_percent": 0.0})
        rows += [unfused, hand_row]
        for limit in limits:
            answer = monet(*common, *search, "--limit", limit)
            rows.append(row(setting, f"limit {limit}", answer, hand, answer["proven"]))
        write_csv("figure_10.csv", rows)
    print(f"step: {name}; published at limit 6: {PUBLISHED['latency']:+.0f} % latency, {PUBLISHED['energy']:+.0f} % energy "
          f"of the stacks by hand, {PUBLISHED['sets']} sets")
    print_table(rows)
    draw(rows, limits)


def draw(rows, limits):
    drawn = picture("figure_10.svg", columns=2, size=(6.4, 4.6))
    if not drawn:
        return
    kinds = ["unfused", "by hand"] + [f"limit {limit}" for limit in limits]
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    width = 0.8 / len(settings)
    for axes, quantity in zip(drawn[1], ("latency", "energy")):
        for s, setting in enumerate(settings):
            values = [next(r[f"{quantity}_to_hand_percent"] for r in rows if r["setting"] == setting and r["stacks"] == kind)
                      for kind in kinds]
            axes.bar([k + (s - (len(settings) - 1) / 2) * width for k in range(len(kinds))], values, width, label=setting)
        if 6 in limits:
            axes.plot([kinds.index("limit 6")], [PUBLISHED[quantity]], "k*", markersize=12, label="published")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xticks(range(len(kinds)), kinds)
        axes.set_ylabel(f"{quantity} against the stacks by hand, %")
    drawn[1][0].legend(fontsize=7)
    save_picture("figure_10.svg", drawn)


timed(main)
