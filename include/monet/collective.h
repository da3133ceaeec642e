// What one collective costs between the chips of a machine.
#pragma once

#include <monet/expected.h>
#include <monet/machine.h>
#include <monet/text.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct CollectiveOptions {
  Machine machine;         // with a fabric
  std::string kind;        // all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, send
  std::int64_t bytes = 0;  // the whole tensor; docs/parallel.md says whose
  std::int64_t chips = 0;  // 0: all that the machine states
  std::string algorithm;   // empty: the fastest
  // A mesh of the chips, outermost axis first, and the axes along which groups lie. Empty: one group of all chips.
  std::vector<std::pair<std::string, std::int64_t>> mesh;
  std::vector<std::string> over;
};

struct CollectiveLevel {
  std::string name, kind;
  std::int64_t members = 1;  // of the group, in one unit of this level: how many units of the level below
  double bytes = 0;          // that leave a chip here, the mean
  double seconds = 0;        // for which the level is at work
};

struct CollectiveReport {
  std::string machine, kind;
  std::int64_t bytes = 0, chips = 0, group = 0;
  std::string algorithm;  // none: a group of one
  double seconds = 0, bound_seconds = 0, energy_pj = 0;
  double bytes_per_s = 0;               // of a chip, by the measure of others ("bus bandwidth"); 0 for a group of one
  std::vector<CollectiveLevel> levels;  // innermost first
  std::vector<std::pair<std::string, double>> algorithms;  // all that are possible, with their seconds
};

Expected<CollectiveReport> price_collective(const CollectiveOptions& options);

std::string to_json(const CollectiveReport& report);
Text to_text(const CollectiveReport& report);

}  // namespace monet
