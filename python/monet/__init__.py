"""MONET: training of neural networks on accelerators, modelled.

>>> import monet
>>> network = monet.load("resnet18-cifar", batch=4)
>>> machine = monet.hardware("edge_tpu", x=2, y=2)
>>> result = monet.evaluate(network, machine)
>>> result.latency_s, result.energy_pj, result.peak_bytes
"""

from monet._core import version as __version__
from monet.errors import Error
from monet.explorer import Explorer, run_batch
from monet.machine import Hardware, hardware, presets
from monet.network import Network, load
from monet.result import Result, evaluate

__all__ = [
    "Error",
    "Explorer",
    "Hardware",
    "Network",
    "Result",
    "__version__",
    "evaluate",
    "hardware",
    "load",
    "presets",
    "run_batch",
]
