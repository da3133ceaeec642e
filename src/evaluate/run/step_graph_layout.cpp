#include "evaluate/run/step_graph_layout.h"

#include "graph/graph.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

namespace monet {

namespace {

enum class Band : std::uint8_t { forward, recomputed, backward, optimizer };
constexpr std::size_t band_count = 4;

// By node: the nodes that make what it reads, as often as it reads it.
class NodeMakers {
 public:
  explicit NodeMakers(const Graph& graph);
  std::span<const std::uint32_t> of(std::size_t node) const {
    return std::span(makers_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<std::size_t> first_ = {0};
  std::vector<std::uint32_t> makers_;
};

struct StepRows {
  std::vector<Band> band;       // by node
  std::vector<std::int64_t> y;  // by node
};

constexpr std::int64_t nowhere = -1;

Band band_of(const Node& node) {
  if (node.phase == Phase::forward) return Band::forward;
  if (node.phase == Phase::optimizer) return Band::optimizer;
  return node.recomputed ? Band::recomputed : Band::backward;
}

// Ranks: forward nodes by the longest path to them. Every other node gets the rank of a forward node beside which it
// lies. A rank is as many rows high as the longest chain of backward nodes of that rank.
class LayerRows {
 public:
  LayerRows(const Graph& graph, std::span<const NodeId> repeats, const NodeMakers& makers)
      : graph_(graph), repeats_(repeats), makers_(makers), rank_(graph.nodes().size(), 0), readers_(graph) {
    for (const Node& node : graph.nodes()) rows_.band.push_back(band_of(node));
    rows_.y.assign(rank_.size(), 0);
  }

  StepRows run() {
    rank_forward();
    gather_touching();
    rank_recomputed();
    rank_backward();
    set_rows();
    lower_sources();
    set_optimizer_rows();
    return std::move(rows_);
  }

 private:
  std::size_t count() const { return rank_.size(); }
  Band band(std::size_t node) const { return rows_.band[node]; }

  template <class Visit>
  void each_maker(std::size_t node, Band of, const Visit& visit) const {
    for (const std::uint32_t maker : makers_.of(node)) {
      if (band(maker) == of) visit(static_cast<std::size_t>(maker));
    }
  }

  // From the top; what leads from weights alone into the data lies just above where it is read.
  void rank_forward() {
    std::vector<bool> of_data(count(), false);
    for (std::size_t i = 0; i < count(); ++i) {
      if (band(i) != Band::forward) continue;
      for (const TensorId id : graph_.nodes()[i].inputs) {
        if (id.valid() && graph_[id].role == Role::input) of_data[i] = true;
      }
      each_maker(i, Band::forward, [&](std::size_t maker) {
        rank_[i] = std::max(rank_[i], rank_[maker] + 1);
        of_data[i] = of_data[i] || of_data[maker];
      });
      last_ = std::max(last_, rank_[i]);
    }
    std::vector<std::int64_t> latest(count(), std::numeric_limits<std::int64_t>::max());
    for (std::size_t i = count(); i-- > 0;) {
      if (band(i) != Band::forward) continue;
      if (!of_data[i] && latest[i] != std::numeric_limits<std::int64_t>::max()) rank_[i] = latest[i];
      each_maker(i, Band::forward, [&](std::size_t maker) { latest[maker] = std::min(latest[maker], rank_[i] - 1); });
    }
  }

  // By tensor: ranks of the forward nodes that make or read it, in order. Constants tell nothing: anybody reads them.
  void gather_touching() {
    touching_.resize(graph_.tensors().size());
    for (std::size_t i = 0; i < touching_.size(); ++i) {
      const Tensor& tensor = graph_.tensors()[i];
      if (tensor.role == Role::constant) continue;
      const auto add = [&](NodeId node) {
        if (band(node.index()) == Band::forward) touching_[i].push_back(rank_[node.index()]);
      };
      if (tensor.producer.valid()) add(tensor.producer);
      for (const NodeId reader : readers_.of(TensorId(i))) add(reader);
      std::ranges::sort(touching_[i]);
    }
  }

  // The deepest forward node, not below `limit`, that makes or reads what this one reads.
  std::int64_t touched(std::size_t node, std::int64_t limit) const {
    std::int64_t deepest = nowhere;
    for (const TensorId id : graph_.nodes()[node].inputs) {
      if (!id.valid()) continue;
      const std::vector<std::int64_t>& ranks = touching_[id.index()];
      const auto after = std::ranges::upper_bound(ranks, limit);
      if (after != ranks.begin()) deepest = std::max(deepest, *std::prev(after));
    }
    return deepest;
  }

  void rank_recomputed() {
    for (std::size_t i = 0; i < count(); ++i) {
      if (band(i) != Band::recomputed) continue;
      if (!repeats_.empty() && repeats_[i].valid()) {
        rank_[i] = rank_[repeats_[i].index()];
        continue;
      }
      rank_[i] = std::max<std::int64_t>(0, touched(i, last_));
      each_maker(i, Band::recomputed, [&](std::size_t maker) { rank_[i] = std::max(rank_[i], rank_[maker]); });
    }
  }

  // No deeper than the gradients that it is made from.
  void rank_backward() {
    for (std::size_t i = 0; i < count(); ++i) {
      if (band(i) != Band::backward) continue;
      std::int64_t limit = last_;
      each_maker(i, Band::backward, [&](std::size_t maker) { limit = std::min(limit, rank_[maker]); });
      std::int64_t rank = touched(i, limit);
      each_maker(i, Band::recomputed, [&](std::size_t maker) {
        if (rank_[maker] < limit) rank = std::max(rank, rank_[maker] + 1);
      });
      rank_[i] = rank == nowhere ? limit : rank;
    }
  }

  void set_rows() {
    std::vector<std::int64_t> depth(count(), 0), top(static_cast<std::size_t>(last_) + 2, 0);
    std::vector<std::int64_t> height(static_cast<std::size_t>(last_) + 1, 1);
    for (std::size_t i = 0; i < count(); ++i) {
      if (band(i) != Band::backward) continue;
      each_maker(i, Band::backward, [&](std::size_t maker) {
        if (rank_[maker] == rank_[i]) depth[i] = std::max(depth[i], depth[maker] + 1);
      });
      std::int64_t& rows = height[static_cast<std::size_t>(rank_[i])];
      rows = std::max(rows, depth[i] + 1);
    }
    for (std::size_t rank = 0; rank < height.size(); ++rank) top[rank + 1] = top[rank] + height[rank];
    for (std::size_t i = 0; i < count(); ++i) {
      const auto rank = static_cast<std::size_t>(rank_[i]);
      rows_.y[i] = band(i) == Band::backward ? top[rank + 1] - 1 - depth[i] : top[rank];
    }
    top_ = std::move(top);
  }

  // Views of weights and of what was saved lie just below where they are read.
  void lower_sources() {
    std::vector<std::int64_t> below(count(), nowhere);
    for (std::size_t i = 0; i < count(); ++i) {
      if (band(i) != Band::backward) continue;
      each_maker(i, Band::backward, [&](std::size_t maker) { below[maker] = std::max(below[maker], rows_.y[i] + 1); });
    }
    for (std::size_t i = 0; i < count(); ++i) {
      bool source = band(i) == Band::backward && below[i] != nowhere;
      each_maker(i, Band::backward, [&](std::size_t) { source = false; });
      if (source) rows_.y[i] = below[i];
    }
  }

  // Beside the gradient that it reads, else the weight, else what it continues, else what reads it.
  void set_optimizer_rows() {
    std::vector<std::int64_t> row(count(), nowhere);
    for (std::size_t i = 0; i < count(); ++i) {
      if (band(i) != Band::optimizer) continue;
      const auto take = [&](std::size_t maker) {
        if (row[i] == nowhere) row[i] = band(maker) == Band::optimizer ? row[maker] : rows_.y[maker];
      };
      each_maker(i, Band::backward, take);
      each_maker(i, Band::optimizer, take);
      const std::int64_t rank = row[i] == nowhere ? touched(i, last_) : nowhere;
      if (rank != nowhere) row[i] = top_[static_cast<std::size_t>(rank)];
    }
    for (std::size_t i = count(); i-- > 0;) {
      if (band(i) != Band::optimizer) continue;
      rows_.y[i] = std::max<std::int64_t>(0, row[i]);
      each_maker(i, Band::optimizer, [&](std::size_t maker) {
        if (row[maker] == nowhere) row[maker] = rows_.y[i];
      });
    }
  }

  const Graph& graph_;
  std::span<const NodeId> repeats_;
  const NodeMakers& makers_;
  StepRows rows_;
  std::vector<std::int64_t> rank_;  // by node
  std::int64_t last_ = 0;           // rank
  Readers readers_;
  std::vector<std::vector<std::int64_t>> touching_;
  std::vector<std::int64_t> top_;  // by rank, and one more: its first row
};

NodeMakers::NodeMakers(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    for (const TensorId id : node.inputs) {
      if (id.valid() && graph[id].producer.valid())
        makers_.push_back(static_cast<std::uint32_t>(graph[id].producer.index()));
    }
    first_.push_back(makers_.size());
  }
}

// `repeats`: as node_places() takes it. Within the forward band every edge goes down, within the backward band up.
StepRows step_rows(const Graph& graph, std::span<const NodeId> repeats, const NodeMakers& makers) {
  return LayerRows(graph, repeats, makers).run();
}

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
