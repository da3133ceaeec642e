"""Rematerialization and paging of bare graphs: what `monet remat` finds, beside the best known values.

    python experiments/figure_remat.py [--time-limit 1]

The graphs are those of shared/reference/instances; unit chains are written here. Best known values are from the table
there. Writes results/figure_remat.csv and figure_remat.svg. Nothing is done where the command or the graphs are absent.
"""

import argparse
import json
import time

from common import REFERENCE, Failed, has_command, monet, picture, print_table, save_picture, timed, work_folder, write_csv

INSTANCES = REFERENCE / "instances"
# graph, budget, best known extra time in %, proven for the given order; None: infeasible
GRAPHS = [
    ("VGG16_MLSys_256_224_224_3_train_nx", 0.9, 1.968, True),
    ("VGG16_MLSys_256_224_224_3_train_nx", 0.8, None, True),
    ("fcn_8_vgg_MLSys_32_416_608_3_train_nx", 0.9, 0.0294, True),
    ("fcn_8_vgg_MLSys_32_416_608_3_train_nx", 0.8, 0.1361, True),
    ("vgg_unet_MLSys_32_416_608_3_train_nx", 0.9, 1.129, True),
    ("vgg_unet_MLSys_32_416_608_3_train_nx", 0.8, 1.984, False),
    ("random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14", 0.9, 0.789, True),
    ("random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14", 0.8, 2.296, False),
    ("random_layered_n500_w0.36_nlv0.75_ed0.2_scd0.14", 0.9, 0.701, False),
    ("random_layered_n500_w0.36_nlv0.75_ed0.2_scd0.14", 0.8, 3.105, False),
]
# layers, budget, executions
CHAINS = [(8, 4, 26), (8, 5, 22), (8, 6, 21), (8, 8, 19), (12, 5, 37), (12, 6, 33), (12, 8, 31), (16, 6, 47), (16, 8, 43),
          (20, 8, 55)]
# network, device, budget, POET's optimum in J at a deadline of 2x
POET = [
    ("linear", "mkr1000(m0)", "5000B", 0.10467864),
    ("linear", "mkr1000(m0)", "4300B", 0.10467864),
    ("linear", "mkr1000(m0)", "4000B", 0.10473012),
    ("linear", "mkr1000(m0)", "3600B", 0.10485774),
    ("transformer", "rpi_nocache(a72nocache)", "34000000B", 119.41913404),
    ("transformer", "rpi_nocache(a72nocache)", "32000000B", 119.43748029),
]
POET_LARGE = ["vgg16_cifar", "resnet18_cifar"]  # no optimum is known: their integer program is out of reach
DEVICES = ["mkr1000(m0)", "m4f(m4)", "rpi(a72)", "rpi_nocache(a72nocache)"]


def chain(layers):
    """A unit chain in Checkmate's form: i-1 -> i, and i -> 2L-i for i < L."""
    count = 2 * layers + 1
    links = [(i - 1, i) for i in range(1, count)] + [(i, 2 * layers - i) for i in range(layers)]
    links = sorted(set(link for link in links if link[0] != link[1]))
    nodes = [{"id": i, "cost_cpu": 1, "cost_ram": 1, "backward": i > layers} for i in range(count)]
    file = work_folder("remat") / f"chain_{layers}.json"
    file.write_text(json.dumps({"directed": True, "multigraph": False, "graph": {}, "nodes": nodes,
                                "links": [{"source": a, "target": b} for a, b in links]}), encoding="utf-8")
    return file


def row(case, budget, quantity, known, proven_known, arguments, value_of):
    start = time.monotonic()
    try:
        answer = monet(*arguments)
        value, bound, proven, status = value_of(answer), answer.get("bound_time"), answer["proven"], "found"
    except Failed as failed:
        value, bound, proven = "", "", failed.status == 2
        status = "infeasible" if failed.status == 2 else f"status {failed.status}: {failed.message}"
    took = time.monotonic() - start
    if known is None:
        verdict = "as known" if status == "infeasible" else "differs"
    elif known == "":
        verdict = status
    elif status != "found":
        verdict = status
    else:
        off = (value - known) / max(abs(known), 1e-12)
        verdict = "reached" if abs(off) <= rounding(known) else ("better" if off < 0 else "worse")
    return {"case": case, "budget": budget, "quantity": quantity,
            "best_known": "infeasible" if known is None else known, "known_proven": proven_known, "ours": value,
            "bound_time": bound, "proven": proven, "verdict": verdict, "seconds": took}


def rounding(known):
    """Half a unit of the last digit that the best known value is given with, relative."""
    digits = len(str(known).split(".")[1]) if "." in str(known) else 0
    return 0.51 * 10.0 ** -digits / max(abs(known), 1e-12) if digits else 0.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--time-limit", type=float, default=1.0, help="seconds for each; ten times as much for n = 500")
    given = parser.parse_args()
    if not has_command("remat"):
        print("figure-remat is left out: the program has no command `remat`")
        return 0
    rows = []
    for layers, budget, known in CHAINS:
        rows.append(row(f"chain L{layers}", f"{budget}B", "executions", float(known), True,
                        ["remat", chain(layers), "--budget", f"{budget}B", "--time-limit", given.time_limit],
                        lambda answer: answer["time"]))
    if INSTANCES.is_dir():
        rows += instance_rows(given.time_limit)
    else:
        print(f"{INSTANCES} is absent: unit chains only")
    write_csv("figure_remat.csv", rows)
    print_table(rows)
    draw(rows)
    return 0


def instance_rows(limit):
    rows = []
    for name, budget, known, proven in GRAPHS:
        seconds = 10 * limit if "n500" in name else limit
        rows.append(row(name, budget, "extra time %", known, proven,
                        ["remat", INSTANCES / "remat" / f"{name}.json", "--budget", budget, "--time-limit", seconds],
                        lambda answer: answer["extra_percent"]))

    def poet(network, device, budget, known, proven):
        rows.append(row(f"{network} on {device}", budget, "energy J", known, proven,
                        ["remat", INSTANCES / "poet" / f"{network}.json", "--profiles", INSTANCES / "poet" / "chipsets.json",
                         "--device", device, "--budget", budget, "--deadline", "2x", "--free-transfers", "--time-limit",
                         10 * limit], lambda answer: answer["energy_j"]))

    for network, device, budget, known in POET:
        poet(network, device, budget, known, True)
    for network in POET_LARGE:
        for device in DEVICES:
            poet(network, device, "0.6", "", "")
    return rows


def draw(rows):
    some = [r for r in rows if isinstance(r["best_known"], float) and isinstance(r["ours"], float) and r["best_known"] > 0]
    drawn = picture("figure_remat.svg", size=(7, 6)) if some else None
    if not drawn:
        return
    axes = drawn[1][0]
    labels = [f"{r['case'].split('_MLSys')[0].split('_w0')[0]}, {r['budget']}" for r in some]
    axes.barh(range(len(some)), [100 * (r["ours"] / r["best_known"] - 1) for r in some])
    axes.set_yticks(range(len(some)), labels, fontsize=6)
    axes.set_xlabel("ours against the best known, %")
    axes.axvline(0, color="black", linewidth=0.8)
    save_picture("figure_remat.svg", drawn)


timed(main)
