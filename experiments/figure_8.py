"""ResNet-18 on the Edge-TPU space, inference and training: which designs lead, and do both agree (Figs 1 and 8)?

    python experiments/figure_8.py [--settings ours,by-size,published,zigzag] [--samples N]

Three settings take all 10,000 designs: the published machines with our step, the same with energies that grow with
memories, and the published simplifications; costs of ZigZag and Stream, which are slow, take a low-discrepancy sample of N
(200). Writes results/figure_8_fronts.csv, figure_8_sizes.csv, figure_8_claims.csv, figure_8.svg and figure_1.svg.
"""

import argparse

from common import picture, print_table, save_picture, timed, write_csv
from explored import explore, flat_front, geometric_mean, number, rank_correlation, space_file

PARAMETERS = ["x", "y", "simd", "lanes", "pe_memory", "register_file"]
WORKLOADS = ["inference", "training"]


def setting(name, samples):
    if name == "ours":
        return "edge_tpu", ["--all"]
    if name == "by-size":
        return space_file("edge_tpu_by_size.yaml"), ["--all"]
    if name == "published":
        return space_file("edge_tpu_published.yaml"), ["--all"]
    return space_file("edge_tpu_zigzag.yaml"), ["--method", "sobol", "--samples", samples]


def designs(rows):
    """Numbers instead of text, and the MACs of a processing element: its size."""
    for row in rows:
        for parameter in PARAMETERS:
            row[parameter] = number(row[parameter])
        row["pe_macs"] = int(row["simd"] * row["lanes"])
        row["pes"] = int(row["x"] * row["y"])
        for workload in WORKLOADS:
            row[f"{workload}.latency"] = float(row[f"{workload}.latency_s"])
            row[f"{workload}.energy"] = float(row[f"{workload}.energy_pj"])
    return rows


def fronts(name, rows):
    result = []
    for workload in WORKLOADS:
        for row in flat_front(rows, f"{workload}.latency", f"{workload}.energy"):
            result.append({"setting": name, "workload": workload, **{p: row[p] for p in PARAMETERS},
                           "pe_macs": row["pe_macs"], "latency_s": row[f"{workload}.latency"],
                           "energy_pj": row[f"{workload}.energy"]})
    return result


def by_size(name, rows, front):
    """Of each size of a processing element: the best and mean latency, and its place on the front."""
    result = []
    for size in sorted({row["pe_macs"] for row in rows}):
        some = [row for row in rows if row["pe_macs"] == size]
        line = {"setting": name, "pe_macs": size, "designs": len(some)}
        for workload in WORKLOADS:
            values = [row[f"{workload}.latency"] for row in some]
            line[f"{workload}_best_ms"] = 1e3 * min(values)
            line[f"{workload}_mean_ms"] = 1e3 * geometric_mean(values)
            line[f"{workload}_on_front"] = sum(f["workload"] == workload and f["pe_macs"] == size for f in front)
        result.append(line)
    return result


def claims(name, rows, front, sizes):
    """What the paper says, in numbers."""
    largest = max(row["pe_macs"] for row in rows)
    line = {"setting": name, "designs": len(rows), "largest_pe_macs": largest}
    for workload in WORKLOADS:
        fastest = min(rows, key=lambda row: row[f"{workload}.latency"])
        share = [f for f in front if f["workload"] == workload]
        line[f"{workload}_fastest_pe_macs"] = fastest["pe_macs"]
        line[f"{workload}_front"] = len(share)
        line[f"{workload}_front_mean_pe_macs"] = geometric_mean(f["pe_macs"] for f in share)
        line[f"{workload}_front_of_largest"] = sum(f["pe_macs"] == largest for f in share)
    for metric in ("latency", "energy"):
        line[f"rank_correlation_{metric}"] = rank_correlation([row[f"inference.{metric}"] for row in rows],
                                                              [row[f"training.{metric}"] for row in rows])
    ours = {tuple(f[p] for p in PARAMETERS) for f in front if f["workload"] == "training"}
    line["inference_front_on_training_front"] = sum(
        tuple(f[p] for p in PARAMETERS) in ours for f in front if f["workload"] == "inference")
    return line


def draw(name, settings):
    drawn = picture("figure_8.svg", columns=2 * len(settings))
    if not drawn:
        return
    for i, (setting_name, rows, front) in enumerate(settings):
        for j, workload in enumerate(WORKLOADS):
            axes = drawn[1][2 * i + j]
            dots = axes.scatter([1e3 * row[f"{workload}.latency"] for row in rows],
                                [1e-9 * row[f"{workload}.energy"] for row in rows],
                                c=[row["pe_macs"] for row in rows], s=3, norm="log", cmap="viridis", rasterized=True)
            line = [f for f in front if f["workload"] == workload]
            axes.plot([1e3 * f["latency_s"] for f in line], [1e-9 * f["energy_pj"] for f in line], "r.-")
            axes.set(xscale="log", yscale="log", xlabel="latency, ms", ylabel="energy, mJ",
                     title=f"{workload}, {setting_name}")
            drawn[0].colorbar(dots, ax=axes, label="MACs of a processing element")
    save_picture(name, drawn)


def draw_distributions(settings):
    drawn = picture("figure_1.svg", columns=len(settings))
    if not drawn:
        return
    for axes, (name, rows, _) in zip(drawn[1], settings):
        axes.scatter([1e3 * row["inference.latency"] for row in rows], [1e3 * row["training.latency"] for row in rows],
                     c=[row["pe_macs"] for row in rows], s=3, norm="log", cmap="viridis", rasterized=True)
        axes.set(xscale="log", yscale="log", xlabel="inference, ms", ylabel="training, ms", title=name)
    save_picture("figure_1.svg", drawn)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", default="ours,by-size,published,zigzag")
    parser.add_argument("--samples", type=int, default=200)
    options = parser.parse_args()
    all_fronts, all_sizes, all_claims, drawn = [], [], [], []
    for name in options.settings.split(","):
        answer, rows = explore(*[setting(name, options.samples)[0], f"figure_8_{name}"], *setting(name, options.samples)[1])
        print(f"  {name}: {answer['evaluated']} ran, {answer['failed']} failed, {answer['designs_per_s']:.1f} designs/s")
        rows = designs(rows)
        front = fronts(name, rows)
        sizes = by_size(name, rows, front)
        all_fronts += front
        all_sizes += sizes
        all_claims.append(claims(name, rows, front, sizes))
        drawn.append((name, rows, front))
    write_csv("figure_8_fronts.csv", all_fronts)
    write_csv("figure_8_sizes.csv", all_sizes)
    write_csv("figure_8_claims.csv", all_claims)
    print_table(all_sizes)
    for line in all_claims:
        print()
        for key, value in line.items():
            print(f"  {key:36} {value if not isinstance(value, float) else round(value, 4)}")
    draw("figure_8.svg", drawn)
    draw_distributions(drawn)


if __name__ == "__main__":
    timed(main)
