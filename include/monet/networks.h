// The networks that come with the library: named wherever a network is expected, with sizes as options.
#pragma once

#include <monet/expected.h>
#include <monet/text.h>

#include <cstdint>
#include <string>
#include <vector>

namespace monet {

struct NetworkSize {
  std::string name, meaning;
  std::int64_t by_default = 0, smallest = 0, largest = 0;
};

struct NetworkSummary {
  std::string name, description;
  std::vector<NetworkSize> sizes;  // as "gpt2:layers=2,width=384" takes them
  // With these sizes.
  std::int64_t parameters = 0;
  std::int64_t macs = 0;  // forward
  std::int64_t operators = 0;
};

// All of them, or the one of that name; fails with the nearest. In the order of their families.
Expected<std::vector<NetworkSummary>> list_networks(const std::string& only = {});

std::string to_json(const std::vector<NetworkSummary>& networks);
// A line for each; of one alone also its sizes, each with its meaning.
Text to_text(const std::vector<NetworkSummary>& networks);

}  // namespace monet
