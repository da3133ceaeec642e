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


def _is_meta(tensor: Any) -> bool:
    return bool(tensor.device.type == "meta")


def _without_values(module: Any) -> bool:
    """Whether the module was made on torch.device("meta"): sizes without memory."""
    tensors = [tensor for kind in ("parameters", "buffers") for tensor in getattr(module, kind, list)()]
    found = sum(map(_is_meta, tensors))
    if 0 < found < len(tensors):
        raise Error(
            f"{found} of its {len(tensors)} parameters and buffers are on the device meta",
            place=type(module).__name__,
            advice='make the whole module there (with torch.device("meta"): …), or none of it',
        )
    return found > 0


def _to_meta(value: Any) -> Any:
    return value.to("meta") if hasattr(value, "device") else value


def _save_without_values(program: Any, file: Path) -> None:
    """Parameters become external tensors of a file that is not there: sizes and types are all that is read of them."""
    import onnx_ir

    for each in program.model.graph.initializers.values():
        tensor = each.const_value
        if hasattr(getattr(tensor, "raw", None), "device") and _is_meta(tensor.raw):
            each.const_value = onnx_ir.ExternalTensor(
                "no values", 0, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=each.name
            )
    onnx_ir.save(program.model, file)


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
    """A PyTorch module as a network, through `torch.onnx.export`; needs torch and onnxscript (`monet-train[torch]`).

    example_inputs   a tensor, or a tuple of them, or a dictionary by name: shapes and types are taken from them
    batch, precision, dimensions   as `load` takes them; a batch of another size needs dynamic_shapes
    dynamic_shapes   which dimensions stay open, as torch.export takes them
    path             where the ONNX file is written; by default a temporary one, until the interpreter ends
    options          all others of torch.onnx.export

    The module is exported in the mode that it is in: `module.eval()` leaves dropout out. One that was made on
    `torch.device("meta")` needs no memory, whatever its size, and neither does its file: nothing here needs values.
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
    meta = _without_values(module)
    if meta:
        arguments["args"] = tuple(map(_to_meta, arguments["args"]))
        arguments["kwargs"] = arguments["kwargs"] and {k: _to_meta(v) for k, v in arguments["kwargs"].items()}
    try:
        # Not optimized: batch normalization would be folded away, which a training step needs.
        program = torch.onnx.export(
            module, f=None if meta else str(file), dynamo=True, verbose=False, optimize=False,
            dynamic_shapes=dynamic_shapes, **arguments, **options,
        )  # fmt: skip
        if meta:
            _save_without_values(program, file)
    except Exception as error:
        reason = str(error).strip().splitlines()
        raise Error(
            f"torch cannot export it: {reason[0] if reason else type(error).__name__}",
            place=type(module).__name__,
            advice="torch.onnx.export says more",
        ) from error
    return Network(str(file), batch, precision, dimensions or {})
