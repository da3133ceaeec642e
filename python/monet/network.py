"""Networks: built-in examples and ONNX files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from monet import _core
from monet._json_object import JsonObject
from monet.errors import Error


class Network(JsonObject):
    """A network that was opened, with the sizes that were chosen for it.

    Its attributes are the fields of `monet inspect --json`: parameters, macs, nodes, inputs, outputs, operators, …
    """

    def __init__(self, source: str, batch: int | None, precision: str | None, dimensions: Mapping[str, int]) -> None:
        super().__init__(_inspected(source, batch, dimensions, False))
        self.source = source
        self.batch = batch
        self.precision = precision
        self.dimensions = dict(dimensions)

    @property
    def name(self) -> str:
        return self._fields["model"]

    def layers(self) -> list[dict[str, Any]]:
        """A dictionary for each layer, in the order in which they can run."""
        return JsonObject(_inspected(self.source, self.batch, self.dimensions, True)).layers

    def __repr__(self) -> str:
        return f"<monet.Network {self.name}: {self.parameters:,} parameters, {self.macs['forward']:,} MACs forward>"


def _inspected(source: str, batch: int | None, dimensions: Mapping[str, int], layers: bool) -> str:
    try:
        return _core.inspect(source, batch, list(dimensions.items()), layers)
    except TypeError:
        raise Error(
            f"batch {batch!r} with dimensions {dict(dimensions)!r}",
            place=source,
            advice="sizes are whole numbers, as in batch=8, dimensions={'sequence': 128}",
        ) from None


def load(
    source: str | os.PathLike[str],
    batch: int | None = None,
    precision: str | None = None,
    dimensions: Mapping[str, int] | None = None,
) -> Network:
    """Opens an ONNX file or a built-in network ("resnet18", "gpt2:layers=2,width=384").

    batch       size of the batch; the file's own by default
    precision   of the training step: fp32, bf16, fp16, mixed, …; the file's own by default
    dimensions  sizes of dimensions that the file leaves open: {"sequence": 128}
    """
    return Network(os.fspath(source), batch, precision, dimensions or {})
