"""Small GPT-2 on the FuseMax space: energy of training over inference, and what each parameter does (Fig. 9).

    python experiments/figure_9.py [--samples N]

All 5,120 designs, or a low-discrepancy sample of N; in our setting, and with the published simplifications. Writes
results/figure_9.csv (by parameter and value), figure_9_effects.csv, figure_9_ratio.csv and figure_9.svg.
"""

import argparse

from common import picture, print_table, save_picture, timed, write_csv
from explored import explore, geometric_mean, number, space_file

PARAMETERS = ["X", "Y", "vector_pes", "buffer_bandwidth", "buffer", "offchip_bandwidth"]
PUBLISHED = (4, 5)  # training energy over inference energy


def read(rows):
    for row in rows:
        row["ratio"] = float(row["training.energy_pj"]) / float(row["inference.energy_pj"])
        for parameter in PARAMETERS:
            row[parameter] = number(row[parameter])
    return rows


def ratio_line(name, rows):
    ratios = sorted(row["ratio"] for row in rows)
    return {"setting": name, "quantity": "training energy / inference energy", "least": ratios[0],
            "median": ratios[len(ratios) // 2], "most": ratios[-1],
            "within_published": sum(PUBLISHED[0] <= r <= PUBLISHED[1] for r in ratios), "designs": len(ratios)}


def by_value(name, rows):
    lines = []
    for parameter in PARAMETERS:
        for value in sorted({row[parameter] for row in rows}):
            some = [row for row in rows if row[parameter] == value]
            lines.append({"setting": name, "parameter": parameter, "value": value, "designs": len(some), **{
                f"{workload}_{column}": geometric_mean(float(row[f"{workload}.{column}"]) for row in some)
                for workload in ("training", "inference") for column in ("latency_s", "energy_pj")}})
    return lines


def effects_of(name, lines):
    """The worst over the best mean of a parameter's values."""
    effects = []
    for parameter in PARAMETERS:
        own = [line for line in lines if line["parameter"] == parameter]
        effects.append({"setting": name, "parameter": parameter, **{
            what: max(line[what] for line in own) / min(line[what] for line in own)
            for what in ("training_latency_s", "inference_latency_s", "training_energy_pj", "inference_energy_pj")}})
    return sorted(effects, key=lambda line: -line["training_energy_pj"])


def draw(settings):
    drawn = picture("figure_9.svg", columns=2 * len(settings))
    if not drawn:
        return
    for i, (name, rows) in enumerate(settings):
        points, counts = drawn[1][2 * i:2 * i + 2]
        dots = points.scatter([1e3 * float(row["training.latency_s"]) for row in rows],
                              [1e-9 * float(row["training.energy_pj"]) for row in rows],
                              c=[row["buffer_bandwidth"] for row in rows], s=4, norm="log", rasterized=True)
        points.set(xscale="log", yscale="log", xlabel="latency, ms", ylabel="energy, mJ", title=f"training, {name}")
        drawn[0].colorbar(dots, ax=points, label="buffer bandwidth, bit/cycle")
        counts.hist([row["ratio"] for row in rows], bins=40)
        counts.set(xlabel="training energy / inference energy", ylabel="designs", title=name)
    save_picture("figure_9.svg", drawn)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=0)
    options = parser.parse_args()
    how = ["--method", "sobol", "--samples", options.samples] if options.samples else ["--all"]
    ratios, values, effects, drawn = [], [], [], []
    for name, space in (("ours", "fusemax"), ("published", space_file("fusemax_published.yaml"))):
        answer, rows = explore(space, f"figure_9_{name}", *how)
        print(f"  {name}: {answer['evaluated']} ran, {answer['failed']} failed, {answer['designs_per_s']:.1f} designs/s")
        rows = read(rows)
        ratios.append(ratio_line(name, rows))
        lines = by_value(name, rows)
        values += lines
        effects += effects_of(name, lines)
        drawn.append((name, rows))
    for file, lines in (("figure_9_ratio.csv", ratios), ("figure_9.csv", values), ("figure_9_effects.csv", effects)):
        write_csv(file, lines)
        print_table(lines)
    draw(drawn)


if __name__ == "__main__":
    timed(main)
