"""How many designs do the searches need? Hypervolume against that of all 10,000 designs of the Edge-TPU space, ten seeds.

    python experiments/figure_search.py [--samples 999] [--seeds 10] [--methods nsga2,narrow,surrogate,random]

Every search runs afresh into a store of its own. Objectives are latency and energy, of training and of inference by turns.
Volumes are scaled to the best and the worst of all designs. Writes results/figure_search.csv.
"""

import argparse
import statistics

from common import print_table, timed, work_folder, write_csv
from explored import explore, flat_front


def volume(rows, x, y, low, high):
    """Share of the box from the best to the worst that the front dominates."""
    area, before = 0.0, high[1]
    for row in flat_front(rows, x, y):
        area += (high[0] - row[x]) * (before - row[y])
        before = row[y]
    return area / ((high[0] - low[0]) * (high[1] - low[1]))


def numbers(rows):
    for row in rows:
        for workload in ("training", "inference"):
            for column in ("latency_s", "energy_pj"):
                row[f"{workload}.{column}"] = float(row[f"{workload}.{column}"])
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=999)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", default="nsga2,narrow,surrogate,random")
    options = parser.parse_args()
    everything = numbers(explore("edge_tpu", "figure_8_ours", "--all")[1])
    lines = []
    for workload in ("training", "inference"):
        columns = [f"{workload}.latency_s", f"{workload}.energy_pj"]
        low = [min(row[c] for row in everything) for c in columns]
        high = [max(row[c] for row in everything) for c in columns]
        whole = volume(everything, *columns, low, high)
        for method in options.methods.split(","):
            samples = min(options.samples, 150) if method == "surrogate" else options.samples
            shares, seen = [], []
            for seed in range(1, options.seeds + 1):
                name = f"search_{workload}_{method}_{samples}_{seed}"
                for old in work_folder("explore").glob(f"{name}.*"):
                    old.unlink()
                answer, rows = explore("edge_tpu", name, "--method", method, "--samples", samples, "--seed", seed,
                                       "--objectives", f"latency@{workload},energy@{workload}")
                shares.append(volume(numbers(rows), *columns, low, high) / whole)
                seen.append(answer["evaluated"] + answer["failed"])
            lines.append({"workload": workload, "method": method, "seeds": options.seeds, "designs": max(seen),
                          "least": min(shares), "median": statistics.median(shares), "most": max(shares)})
    write_csv("figure_search.csv", lines)
    print_table(lines)


if __name__ == "__main__":
    timed(main)
