// Chakra's execution trace, version 0.0.4: messages of github.com/mlcommons/chakra, schema/protobuf/et_def.proto, each
// after its length as a varint (src/third_party/utils/protolib.py there): one GlobalMetadata, then the nodes. What
// attributes are called and which type they have is what the readers take: src/feeder/et_feeder_node.cpp there, and
// astra-sim/workload/Workload.cc of github.com/astra-sim/astra-sim.
#include "onnx/wire.h"

#include <monet/evaluate.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace monet {

namespace {

using protozero::pbf_writer;

namespace field {
constexpr protozero::pbf_tag_type version = 1, metadata_attribute = 2;
constexpr protozero::pbf_tag_type id = 1, name = 2, type = 3, control_dependencies = 4, data_dependencies = 5,
                                  start_micros = 6, duration_micros = 7, attribute = 10;
constexpr protozero::pbf_tag_type attribute_name = 1, double_value = 3, int32_value = 7, int64_value = 9,
                                  uint64_value = 13, bool_value = 27, string_value = 29;
}  // namespace field

enum NodeType { mem_load = 2, mem_store = 3, comp = 4, comm_send = 5, comm_recv = 6 };

NodeType type_of(const TraceEvent& event) {
  if (event.kind == "fetch" || event.kind == "page in") return mem_load;
  if (event.kind == "write back" || event.kind == "page out") return mem_store;
  return event.kind == "core to core" ? comm_send : comp;
}

// What the share of tile `index` of `count` is, so that all shares add up to the whole.
std::int64_t share(double whole, std::int64_t index, std::int64_t count) {
  const auto below = [&](std::int64_t i) {
    return std::floor(whole * (static_cast<double>(i) / static_cast<double>(count)));
  };
  const double part = below(index + 1) - below(index);
  return part < 9e18 ? static_cast<std::int64_t>(part) : std::numeric_limits<std::int64_t>::max();
}

class ChakraNode {
 public:
  ChakraNode(std::uint64_t id, const std::string& name, NodeType type) : writer_(data_) {
    writer_.add_uint64(field::id, id);
    writer_.add_string(field::name, name);
    writer_.add_enum(field::type, type);
  }

  void depend(protozero::pbf_tag_type how, std::uint64_t on) { writer_.add_packed_uint64(how, &on, &on + 1); }

  void set_time(std::uint64_t start_micros, std::uint64_t end_micros) {
    writer_.add_uint64(field::start_micros, start_micros);
    writer_.add_uint64(field::duration_micros, end_micros - start_micros);
  }

  void add(std::string_view name, const std::string& value) {
    pbf_writer attribute = begin(name);
    attribute.add_string(field::string_value, value);
  }
  void add_bool(std::string_view name, bool value) {
    pbf_writer attribute = begin(name);
    attribute.add_bool(field::bool_value, value);
  }
  void add_double(std::string_view name, double value) {
    pbf_writer attribute = begin(name);
    attribute.add_double(field::double_value, value);
  }
  void add_int32(std::string_view name, std::size_t value) {
    pbf_writer attribute = begin(name);
    attribute.add_int32(field::int32_value, static_cast<std::int32_t>(value & 0x7fffffff));
  }
  void add_int64(std::string_view name, std::int64_t value) {
    pbf_writer attribute = begin(name);
    attribute.add_int64(field::int64_value, value);
  }
  void add_uint64(std::string_view name, std::int64_t value) {
    pbf_writer attribute = begin(name);
    attribute.add_uint64(field::uint64_value, static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)));
  }

  const std::string& data() const { return data_; }

 private:
  pbf_writer begin(std::string_view name) {
    pbf_writer attribute(writer_, field::attribute);
    attribute.add_string(field::attribute_name, name.data(), name.size());
    return attribute;
  }

  std::string data_;
  pbf_writer writer_;
};

class ChakraWriter {
 public:
  ChakraWriter(const Evaluation& evaluation, std::ostream& out) : evaluation_(evaluation), out_(out) {}

  void write() {
    write_metadata();
    order_events();
    link_cores();
    for (const std::uint32_t i : order_) write(i);
  }

 private:
  const TraceEvent& event(std::size_t i) const { return evaluation_.trace[i]; }
  auto key(std::size_t i) const { return std::tuple(event(i).start, event(i).end, i); }
  bool is_tile(std::size_t i) const { return type_of(event(i)) == comp; }

  void write_message(const std::string& data) {
    std::string length;
    protozero::add_varint_to_buffer(&length, data.size());
    out_ << length << data;
  }

  void write_metadata() {
    std::string data;
    pbf_writer metadata(data);
    metadata.add_string(field::version, "0.0.4");
    const auto text = [&](const char* name, const std::string& value) {
      pbf_writer attribute(metadata, field::metadata_attribute);
      attribute.add_string(field::attribute_name, name);
      attribute.add_string(field::string_value, value);
    };
    text("schema", "1.0.2-chakra.0.0.4");
    text("model", evaluation_.model);
    text("hardware", evaluation_.hardware);
    text("step", evaluation_.inference ? "inference" : "training");
    {
      pbf_writer attribute(metadata, field::metadata_attribute);
      attribute.add_string(field::attribute_name, "clock_hz");
      attribute.add_double(field::double_value, evaluation_.clock_hz);
    }
    write_message(data);
  }

  // Every dependency goes from an event to a later one in this order: there are no rings.
  void order_events() {
    order_.resize(evaluation_.trace.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::ranges::sort(order_, {}, [&](std::uint32_t i) { return key(i); });
  }

  void link_cores() {
    for (const ResourceResult& resource : evaluation_.resources)
      if (resource.kind == "core") rank_of_.try_emplace(resource.name, rank_of_.size());
    previous_.assign(order_.size(), none);
    std::unordered_map<std::string_view, std::uint32_t> last_on;
    std::uint64_t next = order_.size();
    received_.assign(order_.size(), none);
    for (const std::uint32_t i : order_) {
      if (type_of(event(i)) == comm_send) received_[i] = next++;
      if (!is_tile(i)) continue;
      const auto [last, is_first] = last_on.try_emplace(event(i).track, i);
      if (!is_first) previous_[i] = last->second;
      last->second = i;
    }
  }

  // Cores are counted in the order of the machine: "pe0_1/sram" belongs to the second one.
  void add_core(ChakraNode& node, std::string_view name, const std::string& memory) const {
    for (std::size_t end = memory.rfind('/'); end != std::string::npos && end > 0; end = memory.rfind('/', end - 1)) {
      const auto found = rank_of_.find(memory.substr(0, end));
      if (found != rank_of_.end()) return node.add_int32(name, found->second);
    }
  }

  // The event whose result this one waited for; none: it did not wait for data.
  std::uint64_t source_of(std::size_t i) const {
    const std::int64_t from = event(i).flow_from();
    if (from < 0 || static_cast<std::size_t>(from) >= order_.size()) return none;
    const auto source = static_cast<std::size_t>(from);
    return key(source) < key(i) ? source : none;
  }

  std::uint64_t micros(double cycles) const {
    const double time = evaluation_.clock_hz > 0 ? cycles / evaluation_.clock_hz * 1e6 : cycles;
    return static_cast<std::uint64_t>(std::llround(std::clamp(std::isnan(time) ? 0 : time, 0.0, 9e18)));
  }

  void write(std::uint32_t i) {
    const TraceEvent& what = event(i);
    const NodeType type = type_of(what);
    ChakraNode node(i, label_of(what), type);
    if (previous_[i] != none) node.depend(field::control_dependencies, previous_[i]);
    const std::uint64_t source = source_of(i);
    if (source != none) node.depend(field::data_dependencies, received_[source] != none ? received_[source] : source);
    node.set_time(micros(what.start), std::max(micros(what.start), micros(what.end)));
    node.add_bool("is_cpu_op", false);
    if (type == comp) {
      describe_tile(node, i);
    } else {
      node.add("kind", what.kind);
      node.add_uint64("tensor_size", what.bytes);
      node.add("from", what.from);
      node.add("to", what.to);
    }
    if (type == comm_send) describe_sending(node, i);
    // Whole microseconds are coarse for a tile.
    node.add_double("start_cycle", what.start);
    node.add_double("cycles", what.end - what.start);
    node.add("resource", what.track);
    const std::string cause = cause_of(what, evaluation_);
    if (!cause.empty()) node.add("waited_for", cause);
    write_message(node.data());
    if (type == comm_send) write_receiving(i);
  }

  void describe_tile(ChakraNode& node, std::uint32_t i) {
    const TraceEvent& what = event(i);
    node.add("phase", what.kind);
    if (what.operator_row < 0 || static_cast<std::size_t>(what.operator_row) >= evaluation_.operators.size()) return;
    const OperatorResult& row = evaluation_.operators[static_cast<std::size_t>(what.operator_row)];
    const std::int64_t part = std::max<std::int64_t>(0, what.part), tiles = std::max<std::int64_t>(1, row.tiles);
    node.add_int64("num_ops", share(2 * row.macs, part, tiles));
    node.add_uint64("tensor_size", share(row.home_read_bytes + row.home_write_bytes, part, tiles));
    node.add("op", row.op);
    node.add("operator", row.name);
    node.add("stack", row.stack);
    if (row.recomputed) node.add_bool("recomputed", true);
  }

  void describe_sending(ChakraNode& node, std::uint32_t i) const {
    node.add_int64("comm_size", event(i).bytes);
    node.add_int32("comm_tag", i);
    add_core(node, "comm_src", event(i).from);
    add_core(node, "comm_dst", event(i).to);
  }

  // The other end: it is there when all of it has been sent.
  void write_receiving(std::uint32_t i) {
    const TraceEvent& what = event(i);
    ChakraNode node(received_[i], label_of(what), comm_recv);
    node.depend(field::data_dependencies, i);
    node.set_time(micros(what.end), micros(what.end));
    node.add_bool("is_cpu_op", false);
    describe_sending(node, i);
    write_message(node.data());
  }

  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  const Evaluation& evaluation_;
  std::ostream& out_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> previous_;  // the tile before it on its core
  std::vector<std::uint64_t> received_;  // of what is sent: the node at its other end
  std::unordered_map<std::string, std::uint64_t> rank_of_;
};

}  // namespace

void write_chakra(const Evaluation& evaluation, std::ostream& out) { ChakraWriter(evaluation, out).write(); }

}  // namespace monet
