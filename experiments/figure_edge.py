"""Training on tiny devices: energy over the memory there is, on POET's devices, and who needs how much by which rule.

    python experiments/figure_edge.py [--network resnet18-cifar] [--optimizer sgd] [--budgets 64KiB 256KiB ...]

Writes results/figure_edge.csv (one row for a device and a budget: `monet checkpoint` by its own search) and
results/figure_edge_methods.csv (a network small enough for integer programs, by every method).
"""

import argparse

from common import Failed, monet, print_table, timed, write_csv

DEVICES = ["poet_mkr1000", "poet_m4f", "poet_rpi_nocache", "poet_rpi"]
BUDGETS = ["64KiB", "256KiB", "1MiB", "4MiB", "16MiB", "64MiB"]
METHODS = ["search", "milp", "checkmate", "capuchin", "chen", "dtr"]
SMALL = ["mlp-robotics:hidden=64", "--batch", "512", "--no-page-weights"]
COLUMNS = ["peak_bytes", "latency_s", "energy_j", "bound_j", "latency_over_all_kept", "energy_over_all_kept", "home", "recomputed",
           "paged"]


def row_of(answer, plan):
    kept = answer["all_kept"]
    return {
        "peak_bytes": plan["peak_bytes"],
        "latency_s": plan["latency_s"],
        "energy_j": plan["energy_pj"] * 1e-12,
        "bound_j": plan["bound"]["energy_pj"] * 1e-12,
        "latency_over_all_kept": plan["latency_cycles"] / kept["latency_cycles"],
        "energy_over_all_kept": plan["energy_pj"] / kept["energy_pj"],
        "home": plan["home"] or "memory",
        "recomputed": len(plan["recomputed"]),
        "paged": len(plan["paged"]),
    }


def asked(head, *arguments):
    """A row of the answer; what did not fit, or took too long, says so."""
    try:
        answer = monet("checkpoint", *arguments, "--objective", "energy")
    except Failed as failure:
        empty = dict.fromkeys(COLUMNS, "")
        return {**head, **empty, "home": "does not fit" if failure.status == 2 else "failed"}
    return {**head, **row_of(answer, answer["plans"][0])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", default="resnet18-cifar")
    parser.add_argument("--optimizer", default="sgd")
    parser.add_argument("--devices", nargs="+", default=DEVICES)
    parser.add_argument("--budgets", nargs="+", default=BUDGETS)
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--time-limit", type=float, default=60, help="of an integer program, in seconds")
    parser.add_argument("--no-methods", action="store_true")
    options = parser.parse_args()
    step = [options.network, "--batch", "1", "--optimizer", options.optimizer, "--evaluations", options.evaluations]
    rows = []
    for device in options.devices:
        for budget in options.budgets:
            rows.append(asked({"device": device, "budget": budget}, *step, "--hardware", device, "--memory-budget", budget))
    print_table(rows)
    write_csv("figure_edge.csv", rows)
    if options.no_methods:
        return
    rows = []
    for device in options.devices:
        for share in ("90%", "75%", "65%"):
            for method in METHODS:
                head = {"device": device, "budget": share, "method": method}
                rows.append(asked(head, *SMALL, "--hardware", device, "--memory-budget", share, "--method", method,
                                  "--time-limit", options.time_limit))
    print_table(rows)
    write_csv("figure_edge_methods.csv", rows)


if __name__ == "__main__":
    timed(main)
