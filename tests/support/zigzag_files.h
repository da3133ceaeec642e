// Targets, mappings and results from ZigZag's own files, as far as tests need them. Requires well-formed files.
#pragma once

#include "compat/zigzag/search.h"
#include "mapping/target.h"

#include <map>
#include <string>
#include <vector>

namespace monet::test {

Target read_zigzag_target(const std::string& yaml);

// Entry for a layer: by its name, else by its operator, else "default".
ZigzagMapping read_zigzag_mapping(const std::string& yaml, const std::string& layer, const std::string& type);

// Layers of a workload file. Every window must have its size under pr_loop_sizes.
std::vector<ZigzagLayer> read_zigzag_layers(const std::string& yaml);

// Rows by column name.
std::vector<std::map<std::string, std::string>> read_csv(const std::string& text);

std::string file_text(const std::string& path);

// As ZigZag's tool prints them: "O:rd_out_to_low=…,…|…;W:…" and "{O: [[(C, 2)], …], …}".
std::string accesses_text(const ZigzagResult& result);
std::string temporal_text(const ZigzagResult& result);
std::string spatial_text(const ZigzagResult& result);

}  // namespace monet::test
