#include "support/zigzag_files.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <sstream>

namespace monet::test {

namespace {

constexpr std::array path_names{"I1", "I2", "O"};
constexpr std::array transfer_names{"fh", "tl", "fl", "th"};

std::size_t index_of(auto& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

Dim dim_of(const std::string& name) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Dim::A0); ++i) {
    if (name_of(static_cast<Dim>(i)) == name) return static_cast<Dim>(i);
  }
  return Dim::A0;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' '; };
  text.erase(text.begin(), std::ranges::find_if_not(text, blank));
  while (!text.empty() && blank(text.back())) text.pop_back();
  return text;
}

std::pair<std::string, std::string> split_at_comma(const std::string& text) {
  const std::size_t comma = text.find(',');
  return {trimmed(text.substr(0, comma)), trimmed(text.substr(comma + 1))};
}

TargetMemory read_memory(const std::string& name, const YAML::Node& from, const std::vector<std::string>& dimensions) {
  TargetMemory memory;
  memory.name = name;
  memory.size_bits = from["size"].as<std::int64_t>();
  memory.read_pj = from["r_cost"].as<double>();
  memory.write_pj = from["w_cost"].as<double>();
  for (auto& path : memory.port) path.fill(no_port);
  YAML::Node ports;
  for (const auto& field : from) {  // where a key stands twice, the last counts, as in Python
    if (field.first.as<std::string>() == "ports") ports.reset(field.second);
  }
  for (const YAML::Node& port : ports) {
    const auto index = static_cast<std::int8_t>(memory.ports.size());
    memory.ports.push_back({port["name"].as<std::string>(), PortKind::read_write,
                            port["bandwidth_min"].as<std::int64_t>(), port["bandwidth_max"].as<std::int64_t>()});
    for (const YAML::Node& link : port["allocation"]) {
      const auto [path, transfer] = split_at_comma(link.as<std::string>());
      memory.port[index_of(path_names, path)][index_of(transfer_names, transfer)] = index;
    }
  }
  for (const YAML::Node& dimension : from["served_dimensions"]) {
    memory.served |= 1U << index_of(dimensions, dimension.as<std::string>());
  }
  return memory;
}

std::string loops_text(const auto& levels, const auto& loops_of) {
  std::vector<std::string> all;
  for (const auto& level : levels) {
    std::vector<std::string> loops;
    for (const auto& loop : loops_of(level)) loops.push_back(loop);
    all.push_back(fmt::format("[{}]", fmt::join(loops, ", ")));
  }
  return fmt::format("[{}]", fmt::join(all, ", "));
}

}  // namespace

Target read_zigzag_target(const std::string& yaml) {
  const YAML::Node file = YAML::Load(yaml);
  Target target;
  const YAML::Node array = file["operational_array"];
  std::vector<std::string> dimensions;
  for (std::size_t i = 0; i < array["dimensions"].size(); ++i) {
    dimensions.push_back(array["dimensions"][i].as<std::string>());
    target.unit.dimensions.push_back({dimensions.back(), array["sizes"][i].as<std::int64_t>(), {}});
  }
  target.unit.energy_pj[static_cast<std::size_t>(Count::mac)] = array["unit_energy"].as<double>();
  for (const auto& memory : file["memories"]) {
    target.memories.push_back(read_memory(memory.first.as<std::string>(), memory.second, dimensions));
  }
  return target;
}

ZigzagMapping read_zigzag_mapping(const std::string& yaml, const std::string& layer, const std::string& type) {
  const YAML::Node file = YAML::Load(yaml);
  YAML::Node entry;
  for (const std::string& name : {std::string("default"), type, layer}) {
    for (const YAML::Node& each : file) {
      if (each["name"].as<std::string>() != name) continue;
      entry.reset(each);
      break;
    }
  }
  ZigzagMapping mapping;
  if (const YAML::Node spatial = entry["spatial_mapping"]; spatial.IsDefined() && spatial.IsMap()) {
    for (const auto& dimension : spatial) {
      auto& [name, unrolls] =
          mapping.spatial.emplace_back(dimension.first.as<std::string>(), std::vector<ZigzagUnroll>{});
      for (const YAML::Node& unroll : dimension.second) {
        const auto [loop, size] = split_at_comma(unroll.as<std::string>());
        unrolls.push_back({dim_of(loop), std::stoll(size)});
      }
    }
  }
  for (const auto& dimension : entry["spatial_mapping_hint"]) {
    auto& [name, hints] = mapping.hints.emplace_back(dimension.first.as<std::string>(), std::vector<Dim>{});
    for (const YAML::Node& hint : dimension.second) hints.push_back(dim_of(hint.as<std::string>()));
  }
  for (const YAML::Node& line : entry["temporal_ordering"]) {
    const auto loop = line[0].as<std::string>();
    const auto size = line[1].as<std::string>();
    mapping.temporal.push_back({loop == "*" ? std::nullopt : std::optional(dim_of(loop)),
                                size == "*" ? std::nullopt : std::optional<std::int64_t>(std::stoll(size))});
  }
  if (const YAML::Node links = entry["memory_operand_links"]; links.IsDefined() && links.IsMap()) {
    mapping.input_path = static_cast<Path>(index_of(path_names, links["I"].as<std::string>()));
    mapping.weight_path = static_cast<Path>(index_of(path_names, links["W"].as<std::string>()));
    mapping.output_path = static_cast<Path>(index_of(path_names, links["O"].as<std::string>()));
  }
  return mapping;
}

std::vector<ZigzagLayer> read_zigzag_layers(const std::string& yaml) {
  std::vector<ZigzagLayer> layers;
  for (const YAML::Node& from : YAML::Load(yaml)) {
    ZigzagLayer& layer = layers.emplace_back();
    layer.name = from["name"].as<std::string>();
    layer.type = from["operator_type"].as<std::string>();
    for (std::size_t i = 0; i < from["loop_dims"].size(); ++i) {
      layer.loops.push_back({dim_of(from["loop_dims"][i].as<std::string>()), from["loop_sizes"][i].as<std::int64_t>()});
    }
    const auto loop_of = [&](const std::string& name) {
      const auto found = std::ranges::find(layer.loops, dim_of(name), &Loop::name);
      return static_cast<std::uint8_t>(found - layer.loops.begin());
    };
    for (std::size_t w = 0; w < from["dimension_relations"].size(); ++w) {
      const auto relation = from["dimension_relations"][w].as<std::string>();
      std::smatch part;
      std::regex_match(relation, part, std::regex(R"((\w+)=(\d+)\*(\w+)\+(\d+)\*(\w+))"));
      layer.windows.push_back({dim_of(upper(part[1])), loop_of(upper(part[3])), loop_of(upper(part[5])),
                               std::stoll(part[2]), std::stoll(part[4]), from["pr_loop_sizes"][w].as<std::int64_t>()});
    }
    const auto equation = from["equation"].as<std::string>();
    const std::regex operand_pattern(R"(([OWI])((\[\w+\])+))");
    const std::regex loop_pattern(R"(\w+)");
    std::size_t o = 0;
    for (std::sregex_iterator each(equation.begin(), equation.end(), operand_pattern), end; each != end; ++each, ++o) {
      ZigzagOperand& operand = layer.operands[o];
      operand.name = (*each)[1].str()[0];
      operand.bits = from["operand_precision"][(*each)[1].str()].as<std::int64_t>();
      const std::string indices = (*each)[2];
      for (std::sregex_iterator index(indices.begin(), indices.end(), loop_pattern); index != end; ++index) {
        const std::string name = upper(index->str());
        if (name == "IX" || name == "IY") {
          operand.windows = true;
        } else {
          operand.loops.push_back(loop_of(name));
        }
      }
    }
    layer.final_bits = from["operand_precision"]["O_final"].as<std::int64_t>();
  }
  return layers;
}

std::vector<std::map<std::string, std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.push_back({""});
    } else if (c != '\r') {
      rows.back().back() += c;
    }
  }
  std::vector<std::map<std::string, std::string>> table;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (rows[r].size() < rows[0].size()) continue;
    auto& row = table.emplace_back();
    for (std::size_t c = 0; c < rows[0].size(); ++c) row[rows[0][c]] = rows[r][c];
  }
  return table;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string accesses_text(const ZigzagResult& result) {
  constexpr std::array<std::pair<Transfer, const char*>, transfer_count> names{
      {{Transfer::to_low, "rd_out_to_low"},
       {Transfer::from_low, "wr_in_by_low"},
       {Transfer::to_high, "rd_out_to_high"},
       {Transfer::from_high, "wr_in_by_high"}}};
  std::vector<std::string> operands;
  for (const auto& operand : result.operands) {
    std::vector<std::string> levels;
    for (const ZigzagLevel& level : operand.levels) {
      std::vector<std::string> links;
      for (const auto& [transfer, name] : names) {
        links.push_back(fmt::format("{}={:.0f}", name, level.accesses[static_cast<std::size_t>(transfer)]));
      }
      levels.push_back(fmt::format("{}", fmt::join(links, ",")));
    }
    operands.push_back(fmt::format("{}:{}", operand.name, fmt::join(levels, "|")));
  }
  return fmt::format("{}", fmt::join(operands, ";"));
}

std::string temporal_text(const ZigzagResult& result) {
  std::vector<std::string> operands;
  for (const auto& operand : result.operands) {
    operands.push_back(fmt::format("{}: {}", operand.name, loops_text(operand.levels, [](const ZigzagLevel& level) {
                                     std::vector<std::string> loops;
                                     for (const Loop& loop : level.loops) {
                                       loops.push_back(fmt::format("({}, {})", name_of(loop.name), loop.size));
                                     }
                                     return loops;
                                   })));
  }
  return fmt::format("{{{}}}", fmt::join(operands, ", "));
}

std::string spatial_text(const ZigzagResult& result) {
  std::vector<std::string> operands;
  for (char name : {'O', 'W', 'I'}) {  // the order of the mapping file
    const auto& operand = *std::ranges::find(result.operands, name, &ZigzagOperandResult::name);
    operands.push_back(
        fmt::format("{}: {}", operand.name, loops_text(operand.whole, [](const std::vector<ZigzagLane>& lanes) {
                      std::vector<std::string> loops;
                      for (const ZigzagLane& lane : lanes) {
                        loops.push_back(fmt::format("({}, {})", name_of(lane.loop), lane.size));
                      }
                      return loops;
                    })));
  }
  return fmt::format("{{{}}}", fmt::join(operands, ", "));
}

}  // namespace monet::test
