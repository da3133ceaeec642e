#include "base/embedded.h"
#include "hardware/derive/costs.h"
#include "hardware/derive/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace monet {

namespace {

const CostTable& dram_table() {
  static const CostTable table(embedded_text("data/hardware/dram.csv"));
  return table;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::optional<DramCosts> dram_costs(std::string_view type) {
  const CostTable& table = dram_table();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!same_word(table.text(row, "type"), type)) continue;
    const std::string source = fmt::format("{}: {}", table.text(row, "type"), table.text(row, "source"));
    const char confidence = table.text(row, "confidence").front();
    return DramCosts{{table.number(row, "read_pj_per_bit"), source, confidence},
                     {table.number(row, "write_pj_per_bit"), source, confidence}};
  }
  return std::nullopt;
}

const std::vector<std::string>& dram_types() {
  static const auto types = [] {
    std::vector<std::string> names;
    for (std::size_t row = 0; row < dram_table().rows(); ++row) names.push_back(dram_table().text(row, "type"));
    return names;
  }();
  return types;
}

}  // namespace monet
