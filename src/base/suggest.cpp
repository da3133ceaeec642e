#include "base/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace monet {

namespace {

// Levenshtein's distance: the fewest insertions, deletions and substitutions.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  // Two slips in a short word, one more for every five letters.
  std::size_t best_distance = 3 + word.size() / 5;
  if (word.size() > 200) return {};
  std::string best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word.size() + best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace monet
