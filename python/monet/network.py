"""Networks and their training steps: built-in examples and ONNX files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from monet import _core, _options, _units
from monet._json_object import JsonObject
from monet._options import Plan
from monet._tables import Tabular
from monet.errors import Error

# Of a training step, beside those of its options that say which saved tensors it computes again.
STEP_OPTIONS = sorted([*_core.STEP_OPTIONS, "recompute", "keep", "force"])


class Network(Tabular, JsonObject):
    """A network that was opened, with the sizes that were chosen for it.

    Its attributes are the fields of `monet inspect --json`: parameters, macs, nodes, inputs, outputs, operators, …
    Tables of `to_pandas`: layers, operators.
    """

    def __init__(
        self,
        source: str,
        batch: int | None,
        precision: str | None,
        dimensions: Mapping[str, int],
        read: _core.Network | None = None,
    ) -> None:
        self.source = source
        self._found: _core.Network | None = read
        super().__init__(_inspected(self._value, batch, dimensions, False))
        self.batch = batch
        self.precision = precision
        self.dimensions = dict(dimensions)

    @property
    def _value(self) -> _core.Network:
        """What was read; a copy reads it again."""
        if self.__dict__.get("_found") is None:
            self._found = _core.Network(self.source)
        return self._found

    @property
    def name(self) -> str:
        """What was opened."""
        return str(self._fields["model"])

    def layers(self) -> list[dict[str, Any]]:
        """A dictionary for each layer, in the order in which they can run."""
        layers: list[dict[str, Any]] = JsonObject(_inspected(self._value, self.batch, self.dimensions, True)).layers
        return layers

    def train(
        self,
        optimizer: str = "adam",
        *,
        batch: int | None = None,
        precision: str | None = None,
        dimensions: Mapping[str, int] | None = None,
        plan: Plan | None = None,
        **options: Any,
    ) -> Step:
        """The training step: forward part, loss, backward part, optimizer.

        optimizer   sgd, adam, adamw, …
        batch, precision, dimensions   instead of the network's own
        plan        of it what it says of recomputing
        options     all others of `monet train`, with _ for -: loss="mse", freeze=["layer1*"], lora_rank=8, accumulate=4
        """
        network = self
        if batch is not None or precision is not None or dimensions is not None:
            network = Network(
                self.source,
                self.batch if batch is None else batch,
                precision or self.precision,
                self.dimensions if dimensions is None else dimensions,
                self._value,
            )
        for name in options:
            if name not in STEP_OPTIONS:
                raise Error(f"train has no option '{name}'", advice=_options.nearest(name, STEP_OPTIONS))
        return Step(network, {"optimizer": optimizer, **options}, plan)

    def _tables(self) -> tuple[str, ...]:
        return "layers", "operators"

    def _table(self, name: str) -> Any:
        return self.layers() if name == "layers" else self.operators

    def _cards(self) -> list[tuple[str, str, str]]:
        return [
            ("parameters", f"{self.parameters:,}", f"{self.parameter_tensors:,} tensors"),
            ("MACs", f"{self.macs['forward']:,}", "forward"),
            ("nodes", f"{sum(self.nodes.values()):,}", ""),
        ]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        return _operator_rows(self.operators)

    def __repr__(self) -> str:
        return f"<monet.Network {self.name}: {self.parameters:,} parameters, {self.macs['forward']:,} MACs forward>"


class Step(Tabular, JsonObject):
    """A training step: what `Network.train` gives, and what `evaluate` and the searches take.

    Its attributes are the fields of `monet train --json`: parameters, trained_parameters, macs and nodes by phase,
    saved, saved_bytes, static_bytes, static_breakdown, gradient_bytes, operators, …
    Tables of `to_pandas`: saved, layers, operators, trained (every parameter).
    """

    def __init__(self, network: Network, options: dict[str, Any], plan: Plan | None) -> None:
        self.network = network
        self.options = options
        self._plan = plan
        found = self._made("")
        super().__init__(found.to_json(False, False))
        self._found: _core.Training | None = found

    @property
    def name(self) -> str:
        """The network that is trained."""
        return self.network.name

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the step as a standard ONNX file."""
        self._made(os.fspath(path))

    def layers(self) -> list[dict[str, Any]]:
        """A dictionary for each node of the step, in the order in which they can run."""
        layers: list[dict[str, Any]] = JsonObject(self._present(self._found).to_json(True, False)).layers
        return layers

    def to_text(self) -> str:
        """Tables for people."""
        return self._present(self._found).to_text()

    def _made(self, path: str) -> _core.Training:
        settings = _core.StepRequest()
        put_network(settings, self.network)
        _options.apply("train", self.options, settings)
        settings.plan = _options.plan_value(self._plan)
        return _core.train(self.network._value, settings, path)

    def _tables(self) -> tuple[str, ...]:
        return "saved", "layers", "operators", "trained"

    def _table(self, name: str) -> Any:
        if name == "layers":
            return self.layers()
        if name == "trained":
            return JsonObject(self._present(self._found).to_json(False, True)).parameter_list
        return self._fields[name]

    def _cards(self) -> list[tuple[str, str, str]]:
        macs, nodes = self.macs, self.nodes
        return [
            ("parameters", f"{self.parameters:,}", f"{self.trained_parameters:,} trained"),
            ("MACs", f"{sum(macs.values()):,}", f"{macs['forward']:,} forward, {macs['backward']:,} backward"),
            ("nodes", f"{sum(nodes.values()):,}", f"{nodes['forward']} + {nodes['backward']} + {nodes['optimizer']}"),
            ("saved", _units.size(self.saved_bytes), f"{len(self.saved)} tensors for the backward part"),
            ("static", _units.size(self.static_bytes), "parameters, optimizer state, a batch"),
        ]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        return _operator_rows(self.operators)

    def __repr__(self) -> str:
        return (
            f"<monet.Step {self.name}, {self.optimizer}: {sum(self.macs.values()):,} MACs, "
            f"{_units.size(self.saved_bytes)} saved>"
        )


def _operator_rows(operators: list[dict[str, Any]]) -> tuple[list[str], list[list[str]], int]:
    rows = [[op["operator"], f"{op['nodes']:,}", f"{op['macs']:,}", f"{op['parameters']:,}"] for op in operators[:10]]
    return ["operator", "nodes", "MACs", "parameters"], rows, len(operators)


def _inspected(network: _core.Network, batch: int | None, dimensions: Mapping[str, int], layers: bool) -> str:
    try:
        return _core.inspect(network, batch, list(dimensions.items()), layers)
    except TypeError:
        raise Error(
            f"batch {batch!r} with dimensions {dict(dimensions)!r}",
            place=network.name,
            advice="sizes are whole numbers, as in batch=8, dimensions={'sequence': 128}",
        ) from None


def networks(only: str = "") -> list[dict[str, Any]]:
    """The networks that come with the library, or one of them: name, description, parameters, forward MACs, operators,
    and the sizes that it takes as in "gpt2:layers=2,width=384"."""
    known: list[dict[str, Any]] = json.loads(_core.list_networks(only))["networks"]
    return known


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


def put_network(settings: _core.StepRequest, network: Network) -> None:
    _options.put(settings, "batch", network.batch)
    _options.put(settings, "precision", network.precision or "")
    _options.put(settings, "dimensions", network.dimensions)
