// The bare problem: operators, what passes between them, and what the rules ask of each.
#pragma once

#include "evaluate/machine/machine.h"
#include "evaluate/tiles/stored_width.h"
#include "graph/graph.h"
#include "optimize/fusion/rules.h"

#include <monet/expected.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monet::fusion {

using Index = std::uint32_t;  // of an operator of the problem

enum class Kind : std::uint8_t { convolution, transposed, product, other };

// Lists in a row: list i is from first[i] to first[i + 1].
template <class T>
struct Lists {
  std::vector<std::uint32_t> first{0};
  std::vector<T> items;

  std::size_t size() const { return first.size() - 1; }
  std::span<const T> operator[](std::size_t i) const {
    return std::span(items).subspan(first[i], first[i + 1] - first[i]);
  }
  void add(std::span<const T> list) {
    items.insert(items.end(), list.begin(), list.end());
    first.push_back(static_cast<std::uint32_t>(items.size()));
  }
};

// A result of an operator that others read, views and what is passed over composed.
struct Read {
  Index maker = 0;
  std::uint32_t tensor = 0;  // in Problem::bytes
  bool operator==(const Read&) const = default;
};

struct Problem {
  // By operator, in an order in which they can run.
  std::vector<NodeId> nodes;
  std::vector<Kind> kinds;
  std::vector<std::int64_t> tilings;  // pieces that it is cut into
  std::vector<std::int64_t> weights;  // bytes on a core, by operator and kind of core; 0: none, or it cannot run there
  Lists<Read> reads;                  // each tensor once
  Lists<Index> readers;               // operators that read one of its results
  Lists<Index> beside;  // operators to which something passes, or from which: more than one number, which joins nothing
  Lists<Index> before, after;            // must run before, after: readers, and who replaces what is read
  std::vector<std::int64_t> capacities;  // by kind of core: of its top memory; negative: no limit

  std::vector<std::int64_t> bytes;  // by tensor
  std::vector<Index> operator_of;   // by node of the graph; none: it is passed over
  static constexpr Index none = 0xffffffffU;

  std::size_t size() const { return nodes.size(); }
};

constexpr std::size_t max_operators = 40000;

// Whether a node is passed over.
bool is_free(const Node& node, const Rules& rules);

// How the published mapping tiles an operator: Conv over all of OY, ConvTranspose over all of IY, products over all
// rows, reductions over all of the last axis but one, the rest over all of the second axis.
std::int64_t tiling_of(const Graph& graph, const Node& node);

// `element_bits` by tensor. Weights are the parameters that convolutions and products read; a Conv's are whole on each
// core, those of the others split over the cores of a kind. Fails for more than max_operators.
Expected<Problem> make_problem(const Graph& graph, const RoutedMachine& machine, const Rules& rules,
                               std::span<const StoredWidth> element_bits);

}  // namespace monet::fusion
