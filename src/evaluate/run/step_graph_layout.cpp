#include "evaluate/run/step_graph_layout.h"

#include "evaluate/run/step_graph_rows.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace monet {

namespace {

class Columns {
 public:
  Columns(const Graph& graph, std::span<const NodeId> repeats, const NodeMakers& makers)
      : makers_(makers),
        rows_(step_rows(graph, repeats, makers)),
        places_(graph.nodes().size()),
        height_(graph.nodes().size(), 0) {}

  std::vector<NodePlace> run() {
    for (std::size_t i = height_.size(); i-- > 0;) {
      each_maker(i, [&](std::size_t maker) { height_[maker] = std::max(height_[maker], height_[i] + 1); });
    }
    std::int64_t left = 0;
    for (std::size_t band = 0; band < band_count; ++band) left = place_band(static_cast<Band>(band), left);
    return std::move(places_);
  }

 private:
  // Of its own band.
  template <class Visit>
  void each_maker(std::size_t node, const Visit& visit) const {
    for (const std::uint32_t maker : makers_.of(node)) {
      if (rows_.band[maker] == rows_.band[node]) visit(static_cast<std::size_t>(maker));
    }
  }

  // From column `left` on; gives the first column behind it and a gap.
  std::int64_t place_band(Band band, std::int64_t left) {
    std::vector<std::size_t> nodes;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (rows_.band[i] != band) continue;
      places_[i] = {nowhere, rows_.y[i]};
      nodes.push_back(i);
    }
    if (nodes.empty()) return left;
    std::ranges::stable_sort(nodes, [&](std::size_t a, std::size_t b) {
      return band == Band::backward ? rows_.y[a] > rows_.y[b] : rows_.y[a] < rows_.y[b];
    });
    std::int64_t right = left;
    for (auto first = nodes.begin(); first != nodes.end();) {
      const auto last = std::find_if(first, nodes.end(), [&](std::size_t i) { return rows_.y[i] != rows_.y[*first]; });
      if (band == Band::optimizer) {
        for (auto node = first; node != last; ++node) places_[*node].x = left + (node - first);
        right = std::max(right, left + (last - first));
      } else {
        right = std::max(right, place_row(std::span(first, last), left));
      }
      first = last;
    }
    return right + 1;
  }

  // Under the leftmost of what it continues, the longest way first, so that chains are straight; then what begins here.
  std::int64_t place_row(std::span<const std::size_t> row, std::int64_t left) {
    struct Wish {
      bool begins = true;
      std::int64_t x = 0, height = 0;
      std::size_t node = 0;
    };
    std::vector<Wish> wishes;
    for (const std::size_t node : row) {
      Wish wish{.begins = true, .x = left, .height = -height_[node], .node = node};
      each_maker(node, [&](std::size_t maker) {
        if (places_[maker].x == nowhere) return;
        wish.x = wish.begins ? places_[maker].x : std::min(wish.x, places_[maker].x);
        wish.begins = false;
      });
      wishes.push_back(wish);
    }
    std::ranges::sort(wishes, {},
                      [](const Wish& wish) { return std::tuple(wish.begins, wish.x, wish.height, wish.node); });
    std::int64_t next = left;
    for (const Wish& wish : wishes) {
      places_[wish.node].x = std::max(next, wish.x);
      next = places_[wish.node].x + 1;
    }
    return next;
  }

  static constexpr std::int64_t nowhere = -1;

  const NodeMakers& makers_;
  StepRows rows_;
  std::vector<NodePlace> places_;
  std::vector<std::int64_t> height_;  // nodes that follow one another after it, in its band
};

}  // namespace

std::vector<NodePlace> node_places(const Graph& graph, std::span<const NodeId> repeats) {
  const NodeMakers makers(graph);
  return Columns(graph, repeats, makers).run();
}

}  // namespace monet
