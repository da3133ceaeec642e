#include "remat/reader.h"

#include "base/try.h"
#include "remat/graph_parts.h"
#include "remat/json_fields.h"

#include <fmt/format.h>

#include <cmath>

namespace monet::remat {

namespace {

enum class Format { checkmate, moccasin, poet };

Expected<Format> format_of(const Field& node) {
  if (node.has("flop") || node.has("out_elems")) return Format::poet;
  if (node.has("cost_cpu") || node.has("cost_ram")) return Format::checkmate;
  if (node.has("duration") || node.has("out_cost")) return Format::moccasin;
  return node.wrong(
      "this node has no costs",
      "give cost_cpu and cost_ram (as Checkmate's graphs), duration and out_cost (as Moccasin's), or flop "
      "and out_elems (as POET's)");
}

Expected<bool> recomputable(const Field& node) {
  if (!node.has("recompute")) return true;
  MONET_TRY(const Field field, node.at("recompute"));
  if (!field.value().is_boolean()) return field.wrong("true or false is expected here", "give true or false");
  return field.value().get<bool>();
}

// "block1_conv1", or the id.
std::string name_of(const Field& node, const std::string& id) {
  if (!node.has("name") || !node.value()["name"].is_string()) return id;
  return node.value()["name"].get<std::string>();
}

// Nodes and links as networkx writes them.
class NetworkxReader {
 public:
  NetworkxReader(const Field& root, Format format) : root_(root), checkmate_(format == Format::checkmate) {}

  Expected<GraphParts> read() {
    MONET_TRY(const Field nodes, root_.at("nodes"));
    for (std::size_t i = 0; i < nodes.value().size(); ++i) MONET_RETURN_IF_ERROR(read_node(nodes.at(i)));
    const char* const key = root_.has("links") || !root_.has("edges") ? "links" : "edges";
    MONET_TRY(const Field links, root_.at(key));
    MONET_TRY(const std::size_t count, links.list_size(most_links));
    for (std::size_t i = 0; i < count; ++i) MONET_RETURN_IF_ERROR(read_link(links.at(i)));
    MONET_RETURN_IF_ERROR(read_order());
    return std::move(parts_);
  }

 private:
  Status read_node(const Field& field) {
    GraphParts::Part part{.place = field.place()};
    MONET_TRY(const Field id, field.at(field.has("id") || !field.has("name") ? "id" : "name"));
    MONET_TRY(part.id, id.id());
    part.node.name = name_of(field, part.id);
    MONET_TRY(const Field time, field.at(checkmate_ ? "cost_cpu" : "duration"));
    MONET_TRY(part.node.time, time.amount());
    MONET_TRY(const Field bytes, field.at(checkmate_ ? "cost_ram" : "out_cost"));
    MONET_TRY(part.node.bytes, bytes.bytes());
    MONET_TRY(part.node.recomputable, recomputable(field));
    parts_.nodes.push_back(std::move(part));
    return Done{};
  }

  Status read_link(const Field& field) {
    const bool numbered = field.has("0") || field.has("1");
    MONET_TRY(const Field from, field.at(numbered ? "0" : "source"));
    MONET_TRY(const Field to, field.at(numbered ? "1" : "target"));
    GraphParts::Link link{.place = field.place()};
    MONET_TRY(link.from, from.id());
    MONET_TRY(link.to, to.id());
    parts_.links.push_back(std::move(link));
    return Done{};
  }

  Status read_order() {
    if (!root_.has("graph") || !root_.value()["graph"].is_object() || !root_.value()["graph"].contains("order"))
      return Done{};
    MONET_TRY(const Field graph, root_.at("graph"));
    MONET_TRY(const Field order, graph.at("order"));
    MONET_TRY(const std::size_t count, order.list_size(most_nodes));
    parts_.order_place = order.place();
    for (std::size_t i = 0; i < count; ++i) {
      MONET_TRY(std::string id, order.at(i).id());
      parts_.order.push_back(std::move(id));
    }
    return Done{};
  }

  const Field& root_;
  bool checkmate_;
  GraphParts parts_;
};

Status read_poet_node(const Field& field, const Device& device, GraphParts& parts) {
  GraphParts::Part part{.place = field.place()};
  MONET_TRY(const Field id, field.at("id"));
  MONET_TRY(part.id, id.id());
  const bool named = field.has("op") && field.value()["op"].is_string();
  part.node.name = named ? fmt::format("{}_{}", field.value()["op"].get<std::string>(), part.id) : part.id;
  MONET_TRY(const Field flop, field.at("flop"));
  MONET_TRY(const double operations, flop.amount());
  part.node.time = operations / device.flop_per_s;
  part.node.energy_j = operations / device.flop_per_j;
  MONET_TRY(const Field elements, field.at("out_elems"));
  MONET_TRY(const std::int64_t count, elements.bytes());
  const double bytes = std::ceil(static_cast<double>(count) * device.element_bytes);
  if (bytes > 0x1p53) return elements.wrong("its output has more than 2^53 bytes", "give fewer elements");
  part.node.bytes = static_cast<std::int64_t>(bytes);
  MONET_TRY(part.node.recomputable, recomputable(field));
  MONET_TRY(const Field operands, field.at("deps"));
  MONET_TRY(const std::size_t operand_count, operands.list_size(most_nodes));
  for (std::size_t i = 0; i < operand_count; ++i) {
    const Field operand = operands.at(i);
    MONET_TRY(std::string from, operand.id());
    parts.links.push_back({std::move(from), part.id, operand.place()});
  }
  if (parts.links.size() > most_links)
    return operands.wrong(fmt::format("there are more than {} operands", most_links), "give a smaller graph");
  parts.nodes.push_back(std::move(part));
  return Done{};
}

Expected<GraphFile> read_poet(const Field& nodes, const std::string& file, const Device* device) {
  if (device == nullptr)
    return Error{.message = "the nodes have operation counts, not times",
                 .place = file,
                 .advice = "give a device with --profiles FILE --device NAME"};
  GraphParts parts;
  for (std::size_t i = 0; i < nodes.value().size(); ++i)
    MONET_RETURN_IF_ERROR(read_poet_node(nodes.at(i), *device, parts));
  Problem problem;
  problem.time_unit = TimeUnit::second;
  problem.has_energy = true;
  problem.channel = device->channel;
  return assemble(std::move(parts), std::move(problem), file);
}

}  // namespace

Expected<GraphFile> read_graph(std::string_view text, const std::string& file, const Device* device) {
  MONET_TRY(const Json json, parse_json(text, file));
  const Field root(json, file);
  MONET_TRY(const Field nodes, root.at("nodes"));
  MONET_TRY(const std::size_t count, nodes.list_size(most_nodes));
  if (count == 0) return nodes.wrong("there are no nodes", "give a graph with at least one node");
  MONET_TRY(const Format format, format_of(nodes.at(std::size_t{0})));
  if (format == Format::poet) return read_poet(nodes, file, device);
  if (device != nullptr)
    return Error{.message = "the nodes have times of their own, not operation counts",
                 .place = file,
                 .advice = "leave out --profiles and --device"};
  MONET_TRY(GraphParts parts, NetworkxReader(root, format).read());
  return assemble(std::move(parts), Problem{}, file);
}

}  // namespace monet::remat
