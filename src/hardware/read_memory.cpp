#include "base/try.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::size_t max_ports = 16;

struct Range {
  double least = 0;
  double most = 0;
  bool per_second = false;  // written as a bandwidth in bits a second
};

// One value of a range. In [64, 512 bit/cycle] the unit of the last holds for the first.
Expected<Quantity> value_of(const Fields& fields, const Yaml& value, bool by_default) {
  return by_default ? fields.parameters().evaluate_default(value) : fields.parameters().evaluate(value);
}

Expected<Quantity> text_value(std::string_view number, std::string_view unit_text, const Place& place) {
  while (!number.empty() && number.front() == ' ') number.remove_prefix(1);
  const std::size_t length = number_length(number);
  if (length == 0) {
    return Error{.message = fmt::format("'{}' does not start with a number", shown(number)), .place = place.text()};
  }
  auto value = parse_quantity(fmt::format("{} {}", number.substr(0, length), unit_text));
  if (!value) return placed(std::move(value).error(), place);
  return value;
}

// "64..512 bit/cycle" and "[64, 512] bit/cycle", which has to be quoted: both numbers and the unit.
Expected<std::vector<Quantity>> split_range(const Yaml& node) {
  std::string_view text = node.scalar;
  std::string_view separator = "..";
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    separator = ",";
  }
  const std::size_t middle = text.find(separator);
  if (middle == std::string_view::npos) {
    return Error{.message = fmt::format("'{}' is not a range", shown(node.scalar)),
                 .place = node.place.text(),
                 .advice = "write 64..512 bit/cycle"};
  }
  std::string_view second = text.substr(middle + separator.size());
  while (!second.empty() && second.front() == ' ') second.remove_prefix(1);
  std::string_view unit = second.substr(number_length(second));
  if (separator == "," && unit.starts_with(']')) unit.remove_prefix(1);
  MONET_TRY(const Quantity least, text_value(text.substr(0, middle), unit, node.place));
  MONET_TRY(const Quantity most, text_value(second, unit, node.place));
  return std::vector<Quantity>{least, most};
}

Expected<std::vector<Quantity>> range_values(const Fields& fields, const Yaml& node, bool by_default) {
  if (node.is_scalar()) {
    const bool two =
        !is_expression(node) && (node.scalar.find("..") != std::string::npos || node.scalar.starts_with('['));
    if (two) return split_range(node);
    MONET_TRY(const Quantity value, value_of(fields, node, by_default));
    return std::vector<Quantity>{value};
  }
  if (node.items.size() != 2) {
    return Error{.message = fmt::format("a list of {} where two should be", node.items.size()),
                 .place = node.place.text(),
                 .advice = "write the smallest access and the whole word"};
  }
  MONET_TRY(Quantity least, value_of(fields, *node.items[0], by_default));
  MONET_TRY(const Quantity most, value_of(fields, *node.items[1], by_default));
  if (least.dimension.is_number() && !most.dimension.is_number() && !is_expression(*node.items[0])) {
    const std::string& last = node.items[1]->scalar;
    if (!is_expression(*node.items[1])) {
      MONET_TRY(least, text_value(node.items[0]->scalar, last.substr(number_length(last)), node.items[0]->place));
    }
  }
  return std::vector<Quantity>{least, most};
}

Expected<std::optional<Range>> read_range(const Fields& fields, std::string_view key, Measure measure,
                                          bool by_default) {
  const Yaml* node = fields.find(key);
  if (node == nullptr) return std::optional<Range>();
  MONET_TRY(const std::vector<Quantity> values, range_values(fields, *node, by_default));
  Range range;
  std::vector<double> converted;
  for (const Quantity& value : values) {
    auto number = convert(value, measure, fields.context().clock_hz);
    if (!number) return placed(std::move(number).error(), node->place);
    if (*number <= 0 || *number > 0x1p40) {
      return fields.error(key,
                          fmt::format("the {} is {}", key, *number <= 0 ? "not positive" : "more than any machine has"),
                          fmt::format("write {}", expected_form(measure)));
    }
    converted.push_back(*number);
    range.per_second |= value.dimension.second != 0;
  }
  range.least = converted.front();
  range.most = converted.back();
  if (range.least > range.most) {
    return fields.error(
        key, fmt::format("the smallest {} ({:.12g}) is more than the largest ({:.12g})", key, range.least, range.most),
        "write the smaller first");
  }
  return std::optional(range);
}

// Word and words a cycle of the block's clock.
struct Access {
  double least_bits = 0;
  double word_bits = 0;
  double words_per_cycle = 1;
};

Expected<Access> read_access(const Fields& port, bool by_default) {
  MONET_TRY(const auto width, read_range(port, "width", Measure::bandwidth, by_default));
  MONET_TRY(const auto word, read_range(port, "word", Measure::size, by_default));
  if (!width) return port.error("width", "a port without a width", "write width: 64 bit/cycle");
  Access access{.least_bits = width->least, .word_bits = width->most};
  if (word) {
    access = {.least_bits = word->least, .word_bits = word->most, .words_per_cycle = width->most / word->most};
  } else if (width->per_second) {
    access.word_bits = std::ceil(width->most);
    access.least_bits = std::min(std::ceil(width->least), access.word_bits);
    access.words_per_cycle = width->most / access.word_bits;
  }
  if (access.least_bits != std::floor(access.least_bits) || access.word_bits != std::floor(access.word_bits)) {
    return port.error(word ? "word" : "width", "not a whole number of bits",
                      "write width: 1.5 bit/cycle, word: 32 bit for a word that takes several cycles");
  }
  return access;
}

PortKind port_kind(const std::string& text) {
  if (text == "read") return PortKind::read;
  return text == "write" ? PortKind::write : PortKind::read_write;
}

MemoryKind memory_kind(const std::string& text) {
  if (text == "registers") return MemoryKind::registers;
  if (text == "dram") return MemoryKind::dram;
  return text == "storage" ? MemoryKind::storage : MemoryKind::sram;
}

Status read_ports(const ReadState& state, const Fields& fields, MemoryPrototype& result, DefaultSize& by_default) {
  const Yaml* table = fields.find("ports");
  if (table == nullptr || table->entries.empty()) {
    return fields.error("ports", fmt::format("the memory '{}' has no ports", result.name),
                        "write ports: {rw: {kind: read_write, width: 64 bit/cycle}}");
  }
  if (table->entries.size() > max_ports) return fields.error("ports", fmt::format("more than {} ports", max_ports));
  for (const Yaml::Entry& entry : table->entries) {
    MONET_TRY(const Fields port,
              state.open(*entry.value, port_block(), fields.context(), fmt::format("port {}", entry.key)));
    MONET_TRY(const Access access, read_access(port, false));
    MONET_TRY(const Access original, read_access(port, true));
    by_default.width_bits = std::max(by_default.width_bits, original.word_bits);
    Port made{.name = entry.key, .kind = port_kind(port.text("kind"))};
    made.min_bits = static_cast<std::int64_t>(access.least_bits);
    made.max_bits = static_cast<std::int64_t>(access.word_bits);
    made.words_per_cycle = access.words_per_cycle / state.cycle_scale(fields.context().clock_hz);
    port.note("width", fmt::format("{:.12g} bit/cycle", access.word_bits * access.words_per_cycle),
              port.node().find("width"));
    result.memory.ports.push_back(std::move(made));
    result.port_places.push_back(entry.place);
    result.moves.push_back(port.find("moves"));
  }
  return Done{};
}

Expected<std::int64_t> whole_bits(const Fields& fields, std::string_view key, double bits) {
  if (bits != std::floor(bits)) {
    return fields.error(key, fmt::format("'{}' is not a whole number of bits: {:.12g}", key, bits));
  }
  return static_cast<std::int64_t>(bits);
}

}  // namespace

Expected<MemoryPrototype> read_memory(const ReadState& state, const Fields& fields, const std::string& name) {
  MemoryPrototype result;
  result.name = name;
  result.place = fields.node().place;
  Memory& memory = result.memory;
  memory.kind = memory_kind(fields.text("kind"));

  DefaultSize by_default;
  MONET_TRY(const auto size, fields.quantity("size"));
  if (!size || *size <= 0) {
    return fields.error("size", fmt::format("the memory '{}' has no size", name), "write size: 2 MiB");
  }
  MONET_TRY(memory.size_bits, whole_bits(fields, "size", *size));
  MONET_TRY(const Quantity default_size, fields.parameters().evaluate_default(*fields.find("size")));
  by_default.size_bits = default_size.value;
  MONET_RETURN_IF_ERROR(read_ports(state, fields, result, by_default));

  const double scale = state.cycle_scale(fields.context().clock_hz);
  MONET_TRY(const auto latency, fields.quantity("latency"));
  MONET_TRY(const auto read_latency, fields.quantity("read_latency"));
  MONET_TRY(const auto write_latency, fields.quantity("write_latency"));
  memory.latency_cycles = latency.value_or(0) * scale;
  memory.read_latency_cycles = read_latency.value_or(0) * scale;
  memory.write_latency_cycles = write_latency.value_or(0) * scale;
  if (!latency && !read_latency && !write_latency) {
    fields.note_derived("latency", 0, Measure::time, "left out: counted as 0", 'D');
  }
  MONET_TRY(const auto page, fields.quantity("page"));
  MONET_TRY(memory.page_bits, whole_bits(fields, "page", page.value_or(0)));
  MONET_TRY(memory.double_buffered, fields.boolean("double_buffered", false));
  MONET_TRY(const auto network, fields.quantity("network_energy"));
  memory.network_pj_per_bit = network.value_or(0);
  if (!network) fields.note_derived("network_energy", 0, Measure::energy_per_bit, "left out: counted as 0", 'D');
  MONET_RETURN_IF_ERROR(read_memory_costs(state, fields, by_default, memory));
  return result;
}

}  // namespace monet
