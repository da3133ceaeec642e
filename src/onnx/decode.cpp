#include "onnx/wire.h"

#include "onnx/model.h"

#include <fmt/format.h>

namespace monet::onnx {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

Text text(pbf_reader& message) {
  const auto view = message.get_view();
  return {view.data(), view.size()};
}

// Repeated numbers come packed or one by one, whatever the schema says.
template <class T, class One, class Packed>
void append(pbf_reader& message, std::vector<T>& values, One one, Packed packed) {
  if (message.wire_type() == pbf_wire_type::length_delimited) {
    for (const auto value : packed(message)) values.push_back(static_cast<T>(value));
  } else {
    values.push_back(static_cast<T>(one(message)));
  }
}

void append_integers(pbf_reader& message, std::vector<std::int64_t>& values) {
  append(
      message, values, [](pbf_reader& m) { return m.get_int64(); }, [](pbf_reader& m) { return m.get_packed_int64(); });
}

void append_reals(pbf_reader& message, std::vector<double>& values) {
  append(
      message, values, [](pbf_reader& m) { return m.get_float(); }, [](pbf_reader& m) { return m.get_packed_float(); });
}

// A value written by itself instead of in a packed run. Tensors beyond this many such values are too large to be kept.
constexpr std::size_t most_single_values = 1 << 16;
// An empty message takes two bytes in a file and a hundred times that in memory: what all messages take together is
// bounded so that no file can exhaust it. The largest networks have some hundred thousand of them.
constexpr std::size_t most_message_bytes = std::size_t{1} << 28;

constexpr int deepest_subgraph = 32;

class Decoder {
 public:
  RawModel decode(std::string_view bytes);

 private:
  // `size`: what the structure takes that it is decoded into.
  pbf_reader child(pbf_reader& message, std::size_t size = sizeof(RawValue)) {
    message_bytes_ += size;
    if (message_bytes_ > most_message_bytes) throw DecodeError("it has too many parts, more than a million");
    return message.get_message();
  }

  std::pair<Text, Text> decode_entry(pbf_reader message) {
    std::pair<Text, Text> entry;
    while (message.next()) {
      switch (message.tag()) {
        case 1: entry.first = text(message); break;
        case 2: entry.second = text(message); break;
        default: message.skip();
      }
    }
    return entry;
  }

  static std::int64_t whole_number(Text digits) {
    std::int64_t value = 0;
    for (char digit : digits) {
      if (digit < '0' || digit > '9' || value > (std::int64_t{1} << 58))
        throw DecodeError("an external tensor has an offset or length that is not a number");
      value = value * 10 + (digit - '0');
    }
    return value;
  }

  void decode_external(pbf_reader message, RawTensor& tensor) {
    const auto [key, value] = decode_entry(message);
    if (key == "location") tensor.location = value;
    if (key == "offset") tensor.offset = whole_number(value);
    if (key == "length") tensor.length = whole_number(value);
  }

  void decode_single_value(pbf_reader& message, RawTensor& tensor) {
    std::uint64_t bits = 0;
    switch (message.wire_type()) {
      case pbf_wire_type::varint: bits = message.get_uint64(); break;
      case pbf_wire_type::fixed32: bits = message.get_fixed32(); break;
      case pbf_wire_type::fixed64: bits = message.get_fixed64(); break;
      default: throw DecodeError("a tensor's values have the wrong wire type");
    }
    if (tensor.single_values.size() <= most_single_values) tensor.single_values.push_back(bits);
  }

  RawTensor decode_tensor(pbf_reader message) {
    RawTensor tensor;
    while (message.next()) {
      switch (message.tag()) {
        case 1: append_integers(message, tensor.dims); break;
        case 2: tensor.data_type = message.get_int32(); break;
        case 4:
        case 5:
        case 7:
        case 10:
        case 11:
          tensor.value_field = static_cast<std::uint8_t>(message.tag());
          if (message.wire_type() == pbf_wire_type::length_delimited) {
            tensor.packed_values.push_back(text(message));
          } else {
            decode_single_value(message, tensor);
          }
          break;
        case 6:
          tensor.has_strings = true;
          message.skip();
          break;
        case 8: tensor.name = text(message); break;
        case 9:
          tensor.raw_data = text(message);
          tensor.has_raw_data = true;
          break;
        case 13: decode_external(child(message), tensor); break;
        case 14: tensor.external = message.get_int32() == 1; break;
        default: message.skip();
      }
    }
    return tensor;
  }

  RawAttribute decode_attribute(pbf_reader message) {
    using Kind = RawAttribute::Kind;
    RawAttribute attribute;
    Kind seen = Kind::none;
    int declared = 0;
    while (message.next()) {
      const auto tag = message.tag();
      switch (tag) {
        case 1: attribute.name = text(message); break;
        case 2:
          attribute.real = static_cast<double>(message.get_float());
          seen = Kind::real;
          break;
        case 3:
          attribute.integer = message.get_int64();
          seen = Kind::integer;
          break;
        case 4:
          attribute.text = text(message);
          seen = Kind::text;
          break;
        case 5:
          attribute.tensors.push_back(decode_tensor(child(message, sizeof(RawTensor))));
          seen = Kind::tensor;
          break;
        case 6:
          attribute.subgraph = decode_subgraph(child(message, sizeof(RawGraph)));
          seen = Kind::graph;
          break;
        case 7:
          append_reals(message, attribute.reals);
          seen = Kind::reals;
          break;
        case 8:
          append_integers(message, attribute.integers);
          seen = Kind::integers;
          break;
        case 9:
          attribute.texts.push_back(text(message));
          seen = Kind::texts;
          break;
        case 10:
          attribute.tensors.push_back(decode_tensor(child(message, sizeof(RawTensor))));
          seen = Kind::tensors;
          break;
        case 11:
          message.skip();
          seen = Kind::graphs;
          break;
        case 20: declared = message.get_int32(); break;
        case 21: attribute.reference = text(message); break;
        default: message.skip();
      }
    }
    // AttributeProto.AttributeType; an empty list leaves no other trace than this.
    static constexpr Kind kinds[] = {Kind::none,   Kind::real,   Kind::integer,  Kind::text,  Kind::tensor,
                                     Kind::graph,  Kind::reals,  Kind::integers, Kind::texts, Kind::tensors,
                                     Kind::graphs, Kind::sparse, Kind::sparse,   Kind::type,  Kind::type};
    const bool known = declared > 0 && declared < static_cast<int>(std::size(kinds));
    attribute.kind = known ? kinds[declared] : seen;
    if (attribute.kind == Kind::tensor && attribute.tensors.empty())
      throw DecodeError("a tensor attribute has no tensor");
    return attribute;
  }

  RawNode decode_node(pbf_reader message) {
    RawNode node;
    while (message.next()) {
      switch (message.tag()) {
        case 1: node.inputs.push_back(text(message)); break;
        case 2: node.outputs.push_back(text(message)); break;
        case 3: node.name = text(message); break;
        case 4: node.op_type = text(message); break;
        case 5: node.attributes.push_back(decode_attribute(child(message, sizeof(RawAttribute)))); break;
        case 7: node.domain = text(message); break;
        case 8: node.overload = text(message); break;
        case 9: node.metadata.push_back(decode_entry(child(message))); break;
        default: message.skip();
      }
    }
    if (node.domain == "ai.onnx") node.domain = "";
    return node;
  }

  RawDimension decode_dimension(pbf_reader message) {
    RawDimension dimension;
    while (message.next()) {
      switch (message.tag()) {
        case 1:
          dimension.value = message.get_int64();
          dimension.has_value = true;
          break;
        case 2: dimension.symbol = text(message); break;
        default: message.skip();
      }
    }
    return dimension;
  }

  void decode_tensor_type(pbf_reader message, RawValue& value) {
    value.is_tensor = true;
    while (message.next()) {
      switch (message.tag()) {
        case 1: value.data_type = message.get_int32(); break;
        case 2: {
          value.has_shape = true;
          pbf_reader shape = child(message);
          while (shape.next()) {
            if (shape.tag() == 1) {
              value.dims.push_back(decode_dimension(child(shape)));
            } else {
              shape.skip();
            }
          }
          break;
        }
        default: message.skip();
      }
    }
  }

  void decode_type(pbf_reader message, RawValue& value) {
    while (message.next()) {
      const auto other = [&](Text kind) {
        value.other_kind = kind;
        message.skip();
      };
      switch (message.tag()) {
        case 1: decode_tensor_type(child(message), value); break;
        case 4: other("sequence"); break;
        case 5: other("map"); break;
        case 7: other("opaque type"); break;
        case 8: other("sparse tensor"); break;
        case 9: other("optional"); break;
        default: message.skip();
      }
    }
  }

  RawValue decode_value(pbf_reader message) {
    RawValue value;
    while (message.next()) {
      switch (message.tag()) {
        case 1: value.name = text(message); break;
        case 2: decode_type(child(message), value); break;
        case 4: value.metadata.push_back(decode_entry(child(message))); break;
        default: message.skip();
      }
    }
    return value;
  }

  // The body of an If or Loop. Such graphs nest; the depth is bounded because each level is a call.
  std::shared_ptr<const RawGraph> decode_subgraph(pbf_reader message) {
    if (++depth_ > deepest_subgraph) throw DecodeError("its graphs are nested too deep");
    auto graph = std::make_shared<const RawGraph>(decode_graph(message));
    --depth_;
    return graph;
  }

  RawGraph decode_graph(pbf_reader message) {
    RawGraph graph;
    while (message.next()) {
      switch (message.tag()) {
        case 1: graph.nodes.push_back(decode_node(child(message, sizeof(RawNode)))); break;
        case 2: graph.name = text(message); break;
        case 5: graph.initializers.push_back(decode_tensor(child(message, sizeof(RawTensor)))); break;
        case 11: graph.inputs.push_back(decode_value(child(message))); break;
        case 12: graph.outputs.push_back(decode_value(child(message))); break;
        case 13: graph.inner_values.push_back(decode_value(child(message))); break;
        case 16: graph.metadata.push_back(decode_entry(child(message))); break;
        case 15:
          graph.has_sparse_initializers = true;
          message.skip();
          break;
        default: message.skip();
      }
    }
    return graph;
  }

  RawOpset decode_opset(pbf_reader message) {
    RawOpset opset;
    while (message.next()) {
      switch (message.tag()) {
        case 1: opset.domain = text(message); break;
        case 2: opset.version = message.get_int64(); break;
        default: message.skip();
      }
    }
    if (opset.domain == "ai.onnx") opset.domain = "";
    return opset;
  }

  RawFunction decode_function(pbf_reader message) {
    RawFunction function;
    while (message.next()) {
      switch (message.tag()) {
        case 1: function.name = text(message); break;
        case 4: function.inputs.push_back(text(message)); break;
        case 5: function.outputs.push_back(text(message)); break;
        case 6: function.attributes.push_back(text(message)); break;
        case 7: function.nodes.push_back(decode_node(child(message, sizeof(RawNode)))); break;
        case 9: function.opsets.push_back(decode_opset(child(message))); break;
        case 10: function.domain = text(message); break;
        case 11: function.attribute_defaults.push_back(decode_attribute(child(message, sizeof(RawAttribute)))); break;
        case 13: function.overload = text(message); break;
        default: message.skip();
      }
    }
    return function;
  }

  std::size_t message_bytes_ = 0;
  int depth_ = 0;
};

RawModel Decoder::decode(std::string_view bytes) {
  RawModel model;
  pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) {
    switch (message.tag()) {
      case 1: model.ir_version = message.get_int64(); break;
      case 2: model.producer = text(message); break;
      case 7:
        model.graph = decode_graph(child(message, sizeof(RawGraph)));
        model.has_graph = true;
        break;
      case 8: model.opsets.push_back(decode_opset(child(message))); break;
      case 14: model.metadata.push_back(decode_entry(child(message))); break;
      case 25: model.functions.push_back(decode_function(child(message, sizeof(RawFunction)))); break;
      default: message.skip();
    }
  }
  return model;
}

}  // namespace

std::string place_of(const RawNode& node) {
  if (!node.name.empty()) return fmt::format("node '{}' ({})", node.name, node.op_type);
  for (Text output : node.outputs) {
    if (!output.empty()) return fmt::format("the node that makes '{}' ({})", output, node.op_type);
  }
  return fmt::format("a node without a name ({})", node.op_type);
}

namespace {

Error malformed(const std::string& why) {
  return {.message = "this is not a well-formed ONNX file" + why,
          .place = {},
          .advice = "it may be truncated, or of another kind; export or copy it again"};
}

}  // namespace

Expected<RawModel> decode_model(std::string_view bytes) {
  RawModel model;
  try {
    model = Decoder().decode(bytes);
  } catch (const DecodeError& problem) {
    return malformed(fmt::format(": {}", problem.what()));
  } catch (const protozero::exception&) {
    return malformed("");  // its words are about the encoding and help nobody
  }
  if (!model.has_graph) {
    return Error{.message = bytes.empty() ? "the file is empty" : "this is not an ONNX model: it has no graph",
                 .place = {},
                 .advice = "give a model exported as .onnx"};
  }
  return model;
}

}  // namespace monet::onnx
