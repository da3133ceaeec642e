"""Reads a Chakra execution trace with Google's protobuf; field numbers as published in et_def.proto of
github.com/mlcommons/chakra (MIT licence), of which only what is written is declared here."""

from __future__ import annotations

from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields

MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV = 2, 3, 4, 5, 6

_TYPES = {name: getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{name.upper()}")
          for name in ("string", "uint64", "int64", "int32", "double", "bool", "message")}  # fmt: skip

_MESSAGES = {
    "AttributeProto": [("name", 1, "string"), ("double_val", 3, "double"), ("int32_val", 7, "int32"),
                       ("int64_val", 9, "int64"), ("uint64_val", 13, "uint64"), ("bool_val", 27, "bool"),
                       ("string_val", 29, "string")],
    "GlobalMetadata": [("version", 1, "string"), ("attr", 2, "message")],
    "Node": [("id", 1, "uint64"), ("name", 2, "string"), ("type", 3, "int32"), ("ctrl_deps", 4, "uint64"),
             ("data_deps", 5, "uint64"), ("start_time_micros", 6, "uint64"), ("duration_micros", 7, "uint64"),
             ("attr", 10, "message")],
}  # fmt: skip
_REPEATED = {"attr", "ctrl_deps", "data_deps"}


def _classes() -> dict[str, type]:
    file = descriptor_pb2.FileDescriptorProto(name="et.proto", package="chakra_test", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, number, kind in fields:
            field = message.field.add(name=field_name, number=number, type=_TYPES[kind], label=1)
            if field_name in _REPEATED:
                field.label = 3
            if kind == "message":
                field.type_name = ".chakra_test.AttributeProto"
            elif name == "AttributeProto" and field_name != "name":
                if not message.oneof_decl:
                    message.oneof_decl.add(name="value")
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"chakra_test.{name}"))
            for name in _MESSAGES}  # fmt: skip


def _messages(data: bytes) -> list[bytes]:
    """Each after its length."""
    found, at = [], 0
    while at < len(data):
        length = shift = 0
        while True:
            byte = data[at]
            length |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                break
        found.append(data[at : at + length])
        assert len(found[-1]) == length, "the file ends within a message"
        at += length
    return found


def attributes(message) -> dict:
    return {one.name: getattr(one, one.WhichOneof("value")) for one in message.attr}


def read_chakra(path: Path) -> tuple[object, list]:
    """The metadata and all nodes. Nothing is left over that the declarations do not know."""
    classes = _classes()
    first, *rest = _messages(path.read_bytes())
    metadata = classes["GlobalMetadata"].FromString(first)
    nodes = [classes["Node"].FromString(one) for one in rest]
    for message in [metadata, *nodes]:
        for part in (message, *message.attr):
            assert not unknown_fields.UnknownFieldSet(part), "a field is not in the schema"
    return metadata, nodes
