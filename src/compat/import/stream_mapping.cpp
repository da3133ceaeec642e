#include "compat/import/stream_mapping.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::int64_t most_allocated_id = 4096;
constexpr std::int64_t most_parts = std::int64_t{1} << 40;

Expected<std::string> read_loop(const YamlNode& at, const std::string& text) {
  const bool fits = !text.empty() && text.size() <= 64 &&
                    text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == std::string::npos;
  if (fits && text[0] >= 'A') return text;
  return at.error(fmt::format("'{}' is not the name of a loop", text.substr(0, 64)),
                  "loops are B, K, C, OX, OY, FX, FY, G, D, H, D0, D1 …");
}

Expected<StreamTiling> read_parts(const YamlNode& at, StreamTiling tiling, const std::string& text,
                                  const std::string& what) {
  if (text == "*") {
    tiling.parts = StreamTiling::Parts::any;
  } else if (text == "all") {
    tiling.parts = StreamTiling::Parts::all;
  } else {
    YamlNode number = at;
    number.kind = YamlNode::Kind::scalar;
    number.text = text;
    MONET_TRY(tiling.count, yaml_integer(number, what, 1, most_parts));
  }
  return tiling;
}

// "K, 4", or {dim: D2, split: 4}, or {dim: Gemm.D0, tile: 256}.
Expected<StreamTiling> read_tiling(const YamlNode& node, const std::string& what) {
  StreamTiling tiling;
  if (!node.is_map()) {
    MONET_TRY(const auto parts, yaml_parts(node, what));
    if (parts.size() != 2) return node.error(fmt::format("{} is not a loop and a number", what), "write 'K, 4'");
    MONET_TRY(tiling.loop, read_loop(node, parts[0]));
    return read_parts(node, std::move(tiling), parts[1], what);
  }
  static const std::vector<std::string> keys = {"dim", "split", "tile"};
  MONET_RETURN_IF_ERROR(allow_keys(node, what, keys));
  MONET_TRY(const YamlNode* dim, require_key(node, what, "dim"));
  MONET_TRY(std::string loop, yaml_word(*dim, "dim"));
  if (const std::size_t dot = loop.rfind('.'); dot != std::string::npos) {
    tiling.layer = loop.substr(0, dot);
    loop = loop.substr(dot + 1);
  }
  MONET_TRY(tiling.loop, read_loop(*dim, loop));
  tiling.size_given = node.find("tile") != nullptr;
  MONET_TRY(const YamlNode* number, require_key(node, what, tiling.size_given ? "tile" : "split"));
  MONET_TRY(const std::string text, yaml_word(*number, what));
  return read_parts(*number, std::move(tiling), text, what);
}

Expected<std::vector<StreamTiling>> read_tilings(const YamlNode& node, const std::string& what) {
  MONET_RETURN_IF_ERROR(expect_sequence(node, what));
  std::vector<StreamTiling> tilings;
  for (const YamlNode& item : node.items) {
    MONET_TRY(StreamTiling tiling, read_tiling(item, what));
    tilings.push_back(std::move(tiling));
  }
  return tilings;
}

Expected<std::vector<std::int64_t>> read_cores(const YamlNode& node) {
  MONET_RETURN_IF_ERROR(expect_sequence(node, "core_allocation"));
  std::vector<std::int64_t> ids;
  for (const YamlNode& item : node.items) {
    MONET_TRY(const std::int64_t id, yaml_integer(item, "a core of core_allocation", 0, most_allocated_id));
    ids.push_back(id);
  }
  return ids;
}

bool nested(const YamlNode& node) { return node.is_sequence() && !node.items.empty() && node.items[0].is_sequence(); }

const YamlNode* given(const YamlNode& node, std::string_view key) {
  const YamlNode* value = node.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Status read_spatial(StreamLayer& layer, const YamlNode& node) {
  static const std::vector<std::string> dimensions = {"D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8"};
  MONET_RETURN_IF_ERROR(allow_keys(node, "spatial_mapping", dimensions));
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const auto index = static_cast<std::size_t>(std::find(dimensions.begin(), dimensions.end(), node.keys[i].text) -
                                                dimensions.begin());
    if (layer.spatial.size() <= index) layer.spatial.resize(index + 1);
    MONET_TRY(const auto tilings, read_tilings(node.items[i], "a spatial mapping"));
    for (const StreamTiling& tiling : tilings) {
      if (tiling.parts != StreamTiling::Parts::number)
        return node.items[i].error("the size of a spatial mapping must be a number", "write 'K, 32'");
      layer.spatial[index].emplace_back(tiling.loop, tiling.count);
    }
  }
  return Done{};
}

Expected<StreamLayer> read_layer(const YamlNode& node) {
  static const std::vector<std::string> keys = {"name",
                                                "core_allocation",
                                                "core_allocation_is_fixed",
                                                "inter_core_tiling",
                                                "intra_core_tiling",
                                                "spatial_mapping",
                                                "memory_operand_links",
                                                "spatial_mapping_hint",
                                                "temporal_ordering",
                                                "layer_dimension_names",
                                                "kernel"};
  MONET_RETURN_IF_ERROR(allow_keys(node, "an entry of the mapping", keys));
  StreamLayer layer;
  MONET_TRY(const YamlNode* name, require_key(node, "an entry of the mapping", "name"));
  MONET_TRY(layer.name, yaml_word(*name, "name"));
  if (const YamlNode* cores = given(node, "core_allocation")) {
    MONET_RETURN_IF_ERROR(expect_sequence(*cores, "core_allocation"));
    for (const YamlNode& list : nested(*cores) ? cores->items : std::vector<YamlNode>{*cores}) {
      MONET_TRY(auto ids, read_cores(list));
      layer.cores.push_back(std::move(ids));
    }
  } else {
    layer.cores = {{0}};
  }
  if (const YamlNode* tilings = given(node, "inter_core_tiling")) {
    for (const YamlNode& list : nested(*tilings) ? tilings->items : std::vector<YamlNode>{*tilings}) {
      MONET_TRY(auto cuts, read_tilings(list, "inter_core_tiling"));
      layer.inter_core.push_back(std::move(cuts));
    }
  }
  if (const YamlNode* tilings = given(node, "intra_core_tiling")) {
    MONET_TRY(layer.intra_core, read_tilings(*tilings, "intra_core_tiling"));
  }
  if (const YamlNode* spatial = given(node, "spatial_mapping")) MONET_RETURN_IF_ERROR(read_spatial(layer, *spatial));
  return layer;
}

Expected<StreamGroup> read_group(const YamlNode& node, const StreamMapping& mapping) {
  static const std::vector<std::string> keys = {"name", "layers", "intra_core_tiling"};
  MONET_RETURN_IF_ERROR(allow_keys(node, "a fused group", keys));
  StreamGroup group;
  MONET_TRY(const YamlNode* name, require_key(node, "a fused group", "name"));
  MONET_TRY(group.name, yaml_word(*name, "name"));
  MONET_TRY(const YamlNode* layers, require_key(node, "a fused group", "layers"));
  MONET_TRY(group.layers, yaml_words(*layers, "layers"));
  std::vector<std::string> names;
  for (const StreamLayer& layer : mapping.layers) names.push_back(layer.name);
  for (std::size_t i = 0; i < group.layers.size(); ++i) {
    if (std::find(names.begin(), names.end(), group.layers[i]) == names.end())
      return layers->items[i].error(fmt::format("there is no layer '{}'", group.layers[i]),
                                    advise_choice(group.layers[i], names));
  }
  if (const YamlNode* tilings = given(node, "intra_core_tiling")) {
    MONET_TRY(group.intra_core, read_tilings(*tilings, "intra_core_tiling"));
  }
  return group;
}

}  // namespace

const StreamLayer* StreamMapping::find(std::string_view layer, std::string_view op) const {
  for (const std::string_view name : {layer, op, std::string_view("default")}) {
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const StreamLayer& entry) { return entry.name == name; });
    if (found != layers.end()) return &*found;
  }
  return nullptr;
}

Expected<StreamMapping> read_stream_mapping(const YamlDocument& document) {
  const YamlNode& root = document.root;
  const YamlNode* list = &root;
  if (root.is_map()) {
    static const std::vector<std::string> keys = {"layers", "fused_groups", "runtime_args", "name"};
    MONET_RETURN_IF_ERROR(allow_keys(root, "a mapping file", keys));
    MONET_TRY(list, require_key(root, "a mapping file", "layers"));
  }
  MONET_RETURN_IF_ERROR(expect_sequence(*list, "a mapping"));
  StreamMapping mapping;
  for (const YamlNode& node : list->items) {
    MONET_TRY(StreamLayer layer, read_layer(node));
    for (const StreamLayer& other : mapping.layers) {
      if (other.name == layer.name)
        return node.error(fmt::format("the mapping has two entries '{}'", layer.name), "remove one of them");
    }
    mapping.layers.push_back(std::move(layer));
  }
  if (mapping.layers.empty())
    return list->error("the mapping has no entry", "write '- name: default' and what follows");
  if (const YamlNode* groups = given(root, "fused_groups")) {
    MONET_RETURN_IF_ERROR(expect_sequence(*groups, "fused_groups"));
    for (const YamlNode& node : groups->items) {
      MONET_TRY(StreamGroup group, read_group(node, mapping));
      mapping.fused_groups.push_back(std::move(group));
    }
  }
  return mapping;
}

}  // namespace monet
