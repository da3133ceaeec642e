"""PyTorch modules, through their ONNX export."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from monet import _packages
from monet.errors import Error
from monet.network import Network


@functools.cache
def _folder() -> Path:
    """For files that were exported: until the interpreter ends."""
    folder = tempfile.mkdtemp(prefix="monet-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def from_torch(
    module: Any,
    example_inputs: Any,
    *,
    batch: int | None = None,
    precision: str | None = None,
    dimensions: Mapping[str, int] | None = None,
    dynamic_shapes: Any = None,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Network:
    """A PyTorch module as a network, through `torch.onnx.export`; needs torch and onnxscript (`monet[torch]`).

    example_inputs   a tensor, or a tuple of them, or a dictionary by name: shapes and types are taken from them
    batch, precision, dimensions   as `load` takes them; a batch of another size needs dynamic_shapes
    dynamic_shapes   which dimensions stay open, as torch.export takes them
    path             where the ONNX file is written; by default a temporary one, until the interpreter ends
    options          all others of torch.onnx.export

    The module is exported in the mode that it is in: `module.eval()` leaves dropout out.
    """
    torch = _packages.needed("torch", "torch", "from_torch")
    _packages.needed("onnxscript", "torch", "from_torch")
    name = f"{type(module).__name__}.onnx"
    file = Path(tempfile.mkdtemp(dir=_folder()), name) if path is None else Path(path)
    arguments: dict[str, Any] = {"args": (), "kwargs": None}
    if isinstance(example_inputs, Mapping):
        arguments["kwargs"] = dict(example_inputs)
    elif isinstance(example_inputs, (tuple, list)):
        arguments["args"] = tuple(example_inputs)
    else:
        arguments["args"] = (example_inputs,)
    try:
        # Not optimized: batch normalization would be folded away, which a training step needs.
        torch.onnx.export(
            module, f=str(file), dynamo=True, verbose=False, optimize=False, dynamic_shapes=dynamic_shapes,
            **arguments, **options,
        )  # fmt: skip
    except Exception as error:
        reason = str(error).strip().splitlines()
        raise Error(
            f"torch cannot export it: {reason[0] if reason else type(error).__name__}",
            place=type(module).__name__,
            advice="torch.onnx.export says more",
        ) from error
    return Network(str(file), batch, precision, dimensions or {})
