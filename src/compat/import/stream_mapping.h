// Stream's mapping files, of both generations: where each layer may run, and how it is cut.
#pragma once

#include "compat/import/stream.h"

#include <optional>

namespace monet {

// How a loop is cut.
struct StreamTiling {
  enum class Parts : std::uint8_t { number, all, any };  // so many; as many as there are steps; to be chosen ("*")
  std::string layer;                                     // of a fused group: the layer whose loop it is
  std::string loop;                                      // "K", "OY", "D0" …
  Parts parts = Parts::number;
  std::int64_t count = 1;  // of parts, or (size_given) the size of one part
  bool size_given = false;
  bool operator==(const StreamTiling&) const = default;
};

struct StreamLayer {
  std::string name;  // of a layer, of an operator, or "default"
  // Cores it may run on. Several lists: alternatives. Ids are those of the system's file.
  std::vector<std::vector<std::int64_t>> cores;
  std::vector<std::vector<StreamTiling>> inter_core;                       // cuts over cores, for each alternative
  std::vector<StreamTiling> intra_core;                                    // cuts in time
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> spatial;  // by dimension of the array, D1 first
};

struct StreamGroup {
  std::string name;
  std::vector<std::string> layers;
  std::vector<StreamTiling> intra_core;
};

struct StreamMapping {
  std::vector<StreamLayer> layers;
  std::vector<StreamGroup> fused_groups;

  // The entry of that name, else of the operator, else "default"; null: none.
  const StreamLayer* find(std::string_view layer, std::string_view op) const;
};

Expected<StreamMapping> read_stream_mapping(const YamlDocument& document);

// Fills Core::operators: for each core the operators that the mapping gives it; where it gives it "default", all ("*")
// but those named elsewhere ("!Add"). Fails for core ids that the system does not have.
Status assign_operators(StreamSystem& system, const StreamMapping& mapping, const std::string& path);

}  // namespace monet
