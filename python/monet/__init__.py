"""MONET: training of neural networks on accelerators, modelled.

>>> import monet
>>> step = monet.load("resnet18-cifar").train(optimizer="adam", batch=4)
>>> machine = monet.hardware("edge_tpu", x=2, y=2)
>>> result = monet.evaluate(step, machine)
>>> result.latency_s, result.energy_pj, result.peak_bytes
>>> result.report("report.html")
"""

from monet._core import CustomTile, DesignMetrics, PlanMetrics, keep_mappings
from monet._core import version as __version__
from monet._torch import from_torch
from monet.comparison import Comparison, compare, read_result, report
from monet.errors import Error, MissingPackage
from monet.exploration import Exploration, explore, spaces
from monet.explorer import Explorer, run_batch
from monet.machine import Hardware, hardware, presets
from monet.network import Network, Step, load, networks
from monet.precision import PrecisionComparison, Simulation, compare_precisions, formats, recipes, simulate
from monet.result import Result, evaluate
from monet.search import Checkpointing, Fusion, Optimization, SearchedPlan, checkpoint, fuse, optimize
from monet.tools import Packing, Rematerialization, Validation, pack, remat, validate, validations

__all__ = [
    "Checkpointing",
    "Comparison",
    "CustomTile",
    "DesignMetrics",
    "Error",
    "Exploration",
    "Explorer",
    "Fusion",
    "Hardware",
    "MissingPackage",
    "Network",
    "Optimization",
    "Packing",
    "PlanMetrics",
    "PrecisionComparison",
    "Rematerialization",
    "Result",
    "SearchedPlan",
    "Simulation",
    "Step",
    "Validation",
    "__version__",
    "checkpoint",
    "compare",
    "compare_precisions",
    "evaluate",
    "explore",
    "formats",
    "from_torch",
    "fuse",
    "hardware",
    "keep_mappings",
    "load",
    "networks",
    "optimize",
    "pack",
    "presets",
    "read_result",
    "recipes",
    "remat",
    "report",
    "run_batch",
    "simulate",
    "spaces",
    "validate",
    "validations",
]
