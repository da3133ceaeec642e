"""ONNX files written byte by byte: what no library would write, and large ones quickly."""

from __future__ import annotations

from collections.abc import Iterable

FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def field(number: int, value: int | str | bytes) -> bytes:
    """A number as a varint, text and messages with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    payload = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def fields(number: int, values: Iterable[int | str | bytes]) -> bytes:
    return b"".join(field(number, value) for value in values)


def ints(name: str, values: Iterable[int]) -> bytes:
    """An attribute that is a list of integers."""
    return field(1, name) + field(8, b"".join(map(varint, values))) + field(20, 7)


def integer(name: str, value: int) -> bytes:
    return field(1, name) + field(3, value) + field(20, 2)


def node(op_type: str, inputs: Iterable[str] = (), outputs: Iterable[str] = (), name: str = "", domain: str = "",
         attributes: Iterable[bytes] = ()) -> bytes:
    message = fields(1, inputs) + fields(2, outputs) + field(4, op_type) + fields(5, attributes)
    message += field(3, name) if name else b""
    return message + (field(7, domain) if domain else b"")


def tensor(name: str, values: Iterable[int], dims: Iterable[int] | None = None, data_type: int = INT64) -> bytes:
    """Whole numbers; a vector unless `dims` says otherwise."""
    values = list(values)
    dims = [len(values)] if dims is None else dims
    return (field(8, name) + fields(1, dims) + field(2, data_type) + field(7, b"".join(map(varint, values))))


def weight(name: str, dims: Iterable[int]) -> bytes:
    """A float tensor whose values are absent."""
    return field(8, name) + fields(1, dims) + field(2, FLOAT) + field(13, field(1, "location") + field(2, "w")) + \
        field(14, 1)


def value(name: str, dims: Iterable[int | str] | None = (4, 8), data_type: int = FLOAT) -> bytes:
    shape = b"" if dims is None else field(2, fields(1, (field(1 if isinstance(d, int) else 2, d) for d in dims)))
    return field(1, name) + field(2, field(1, field(1, data_type) + shape))


def function(name: str, inputs: Iterable[str], outputs: Iterable[str], nodes: Iterable[bytes],
             attributes: Iterable[str] = ()) -> bytes:
    opsets = (field(2, 17), field(1, "local") + field(2, 1))
    return (field(1, name) + field(10, "local") + fields(4, inputs) + fields(5, outputs) + fields(6, attributes)
            + fields(7, nodes) + fields(9, opsets))


def model(nodes: Iterable[bytes] = (), inputs: Iterable[bytes] | None = None, outputs: Iterable[str] = (),
          initializers: Iterable[bytes] = (), functions: Iterable[bytes] = (), opset: int = 17,
          graph_tail: bytes = b"") -> bytes:
    inputs = [value("x")] if inputs is None else inputs
    graph = fields(1, nodes) + fields(5, initializers) + fields(11, inputs)
    graph += fields(12, (value(name, None) for name in outputs)) + graph_tail
    return field(1, 8) + field(7, graph) + field(8, field(2, opset)) + fields(25, functions)


def chain(op_type: str, length: int, first: str = "x", last: str = "y") -> list[bytes]:
    names = [first, *(f"t{i}" for i in range(1, length)), last]
    return [node(op_type, [names[i]], [names[i + 1]]) for i in range(length)]
