"""Latency and energy against saved activations of ResNet-18 (224 x 224, batch 1): all plans, and the genetic search.

    python experiments/figure_12.py [--bits N] [--settings published,ours] [--no-exact]

Only the N largest of the 18 saved activations are decided about; all of them in our setting unless N is given, 12 in the
published one, whose plans take longer. Writes results/figure_12_SETTING.csv (the
exact front), figure_12_nsga2.csv, figure_12_point.csv, figure_12_switches.csv and figure_12.svg; all points of the last
run of each setting stay in experiments/work.
"""

import argparse
import csv

from common import MACHINE, Failed, monet, percent, picture, print_table, save_picture, timed, work_folder, write_csv
from fronts import front_of, volume

NETWORK = ["resnet18-224"]
ACTIVATIONS = 18
ELEMENTS = 6824448  # that the published network saves in them
BYTES = 2  # of an element, as published
PUBLISHED = {"saved_mb": 13.0, "latency": 4.0, "energy": 4.0}
# The published form of the step with every operator off chip. Not --zigzag: a plan takes some 0.2 s with it, and 2^18 of
# them the better part of a day; the table of switches has its two ends.
SETTINGS = {
    "published": ["--optimizer-form", "elementwise", "--conv-gradient", "im2col", "--off-chip"],
    "ours": [],
}
BITS = {"published": 12, "ours": ACTIVATIONS}  # by default: minutes each
# From ours to the published simplifications, one switch more at a time.
SWITCHES = [
    ("ours: fused Adam, data stay on chip", []),
    ("+ Adam as element-wise operators", ["--optimizer-form", "elementwise"]),
    ("+ weight gradients as im2col and a product", ["--conv-gradient", "im2col"]),
    ("+ every operator off chip", ["--off-chip"]),
    ("+ costs of ZigZag and Stream", ["--zigzag"]),
]
SEARCHES = [(20, 6, seed) for seed in range(1, 6)] + [(100, 50, 1)]


def activations(bits):
    """The saved activations, the largest first; the loss's own is not one of them."""
    saved = [t for t in monet("train", *NETWORK)["saved"] if not t["name"].startswith("loss.")]
    assert len(saved) == ACTIVATIONS and sum(t["elements"] for t in saved) == ELEMENTS, saved
    return sorted(saved, key=lambda t: -t["elements"])[:bits]


def checkpoint(setting, tensors, *how):
    patterns = ["*relu*.out", "avgpool.flatten.out"] if len(tensors) == ACTIVATIONS else [t["name"] for t in tensors]
    names = [word for pattern in patterns for word in ("--tensors", pattern)]
    return monet("checkpoint", *NETWORK, *SETTINGS[setting], *MACHINE, "--measure", "saved", "--no-page", "--no-reorder",
                 *names, *how)


def read_points(file, scale):
    """(saved elements that are kept, cycles, energy, choices) of every plan."""
    with open(file, newline="", encoding="utf-8") as lines:
        return [(int(line["saved_bytes"]) * scale, float(line["latency_cycles"]), float(line["energy_pj"]),
                 line["choices"]) for line in csv.DictReader(lines)]


def dropped_mb(kept, total):
    return (total - kept) * BYTES / 1e6


def exact(setting, tensors, total):
    """All plans; their front into a table."""
    file = work_folder("figure_12") / f"points_{setting}.csv"
    answer = checkpoint(setting, tensors, "--method", "exact", "--points", file)
    assert answer["proven"] and answer["evaluated"] == 2 ** len(tensors), "not all plans were priced"
    all_kept = answer["all_kept"]
    scale = total / all_kept["saved_bytes"]  # elements a byte
    points = read_points(file, scale)
    front = [points[i] for i in front_of([p[:3] for p in points])]
    reported = {(round(p["saved_bytes"] * scale), p["latency_cycles"], p["energy_pj"]) for p in answer["plans"]}
    assert reported == {(round(p[0]), p[1], p[2]) for p in front}, "the front differs from that of all points"
    base = (all_kept["latency_cycles"], all_kept["energy_pj"])
    flat = {point: i for i, point in enumerate(front)}
    leads = {q: {front[i] for i in front_of([(p[0], p[c]) for p in front])} for q, c in (("latency", 1), ("energy", 2))}
    write_csv(f"figure_12_{setting}.csv", [{
        "kept_elements": round(p[0]), "dropped_mb": dropped_mb(p[0], total), "latency_cycles": p[1], "energy_pj": p[2],
        "latency_percent": percent(p[1], base[0]), "energy_percent": percent(p[2], base[1]), "choices": p[3],
        "leads": " ".join(q for q in leads if p in leads[q])} for p in flat])
    print(f"  {setting}: {len(points)} plans, {len(front)} on the front; {answer['wall_s']:.0f} s, "
          f"{1e3 * answer['wall_s'] / len(points):.2f} ms a plan")
    return points, front, base, scale


def published_point(setting, points, base, total):
    """The cheapest plans that drop as much as published, and what can be dropped at the published cost."""
    need = PUBLISHED["saved_mb"]
    rows = []

    def add(what, chosen):
        if not chosen:
            rows.append({"setting": setting, "what": what, "dropped_mb": "", "latency_percent": "", "energy_percent": "",
                         "choices": "none"})
            return
        p = chosen
        rows.append({"setting": setting, "what": what, "dropped_mb": dropped_mb(p[0], total),
                     "latency_percent": percent(p[1], base[0]), "energy_percent": percent(p[2], base[1]), "choices": p[3]})

    enough = [p for p in points if dropped_mb(p[0], total) >= need]
    add(f"least latency of plans that drop {need:g} MB", min(enough, key=lambda p: p[1], default=None))
    add(f"least energy of plans that drop {need:g} MB", min(enough, key=lambda p: p[2], default=None))
    within = [p for p in points if percent(p[1], base[0]) <= PUBLISHED["latency"]
              and percent(p[2], base[1]) <= PUBLISHED["energy"]]
    add("most that is dropped for +4 % latency and +4 % energy", min(within, key=lambda p: (p[0], p[1]), default=None))
    add("all recomputed", min(points, key=lambda p: p[0]))
    return rows


def genetic(setting, tensors, points, front, scale, total, base):
    """The genetic searches against the exact front."""
    low = [min(p[i] for p in points) for i in range(3)]
    high = [max(p[i] for p in points) for i in range(3)]

    def share(some):
        scaled = [tuple((p[i] - low[i]) / (high[i] - low[i]) for i in range(3)) for p in some]
        return volume(scaled, (1.0 + 1e-9,) * 3)

    whole = share(front)
    on_front = {(round(p[0]), p[1], p[2]) for p in front}
    rows = []
    for population, generations, seed in SEARCHES:
        answer = checkpoint(setting, tensors, "--method", "nsga2", "--population", population, "--generations", generations,
                            "--seed", seed)
        found = [(p["saved_bytes"] * scale, p["latency_cycles"], p["energy_pj"]) for p in answer["plans"]]
        enough = [p for p in found if dropped_mb(p[0], total) >= PUBLISHED["saved_mb"]]
        rows.append({
            "setting": setting, "population": population, "generations": generations, "seed": seed,
            "evaluated": answer["evaluated"], "found": len(found),
            "on_exact_front": sum((round(p[0]), p[1], p[2]) in on_front for p in found),
            "exact_front": len(front), "volume_of_exact_percent": 100 * share(found) / whole,
            "least_latency_percent_at_13_mb": percent(min(p[1] for p in enough), base[0]) if enough else "",
            "most_dropped_mb": max(dropped_mb(p[0], total) for p in found), "wall_s": answer["wall_s"]})
    return rows


def switches():
    """All kept against all recomputed, from ours to the published simplifications."""
    rows, options = [], []
    names = ["--recompute", "*relu*.out", "--recompute", "avgpool.flatten.out"]
    for what, option in SWITCHES:
        options += option
        common = ["evaluate", *NETWORK, *options, *MACHINE, "--no-compare", "--no-pack"]
        try:
            kept, again = monet(*common), monet(*common, *names)
        except Failed as failed:
            print(f"  {what}: {failed.message}")
            continue
        phase = {p["phase"]: p for p in kept["phases"]}
        rows.append({"switches": what, "latency_cycles": kept["latency_cycles"], "energy_pj": kept["energy_pj"],
                     "optimizer_latency_percent": 100 * phase["optimizer"]["latency_cycles"] / kept["latency_cycles"],
                     "optimizer_energy_percent": 100 * phase["optimizer"]["energy_pj"] / kept["energy_pj"],
                     "all_recomputed_latency_percent": percent(again["latency_cycles"], kept["latency_cycles"]),
                     "all_recomputed_energy_percent": percent(again["energy_pj"], kept["energy_pj"])})
    write_csv("figure_12_switches.csv", rows)
    print_table(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bits", type=int, help="only the N largest activations")
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--no-exact", action="store_true", help="only the table of switches")
    given = parser.parse_args()
    switches()
    if given.no_exact:
        return 0
    fronts, points_rows, genetic_rows = {}, [], []
    for setting in given.settings.split(","):
        tensors = activations(given.bits or BITS[setting])
        total = sum(t["elements"] for t in tensors)
        points, front, base, scale = exact(setting, tensors, total)
        points_rows += published_point(setting, points, base, total)
        genetic_rows += genetic(setting, tensors, points, front, scale, total, base)
        fronts[setting] = (front, base, total)
        write_csv("figure_12_point.csv", points_rows)
        write_csv("figure_12_nsga2.csv", genetic_rows)
        print(f"published: {PUBLISHED['saved_mb']:g} MB dropped for +4 % latency and +4 % energy; "
              f"{setting}: all {len(tensors)} activations are {dropped_mb(0, total):.2f} MB")
    print_table(points_rows)
    print_table(genetic_rows)
    draw(fronts)
    return 0


def draw(fronts):
    drawn = picture("figure_12.svg", columns=2, size=(6, 4.4))
    if not drawn:
        return
    for column, (axes, quantity) in enumerate(zip(drawn[1], ("latency", "energy")), 1):
        for setting, (front, base, total) in fronts.items():
            lead = [front[i] for i in front_of([(p[0], p[column]) for p in front])]
            axes.step([dropped_mb(p[0], total) for p in lead], [percent(p[column], base[column - 1]) for p in lead],
                      where="post", label=f"exact front, {setting}")
        axes.plot([PUBLISHED["saved_mb"]], [PUBLISHED[quantity]], "k*", markersize=12, label="published")
        axes.set_xlabel(f"activations that are not saved, MB at {BYTES} bytes an element")
        axes.set_ylabel(f"{quantity} against all kept, %")
        axes.legend(fontsize=8)
    save_picture("figure_12.svg", drawn)


timed(main)
