// Products as sizes, and the cycles that a core's rule gives for them.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"
#include "mapping/target.h"

#include <monet/expected.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace monet {

// `batch` products of [rows, depth] by [depth, columns].
struct Product {
  std::int64_t rows = 1, depth = 1, columns = 1, batch = 1;

  auto operator<=>(const Product&) const = default;
  Product turned() const { return {.rows = columns, .depth = depth, .columns = rows, .batch = batch}; }
  double macs() const {
    return static_cast<double>(rows) * static_cast<double>(depth) * static_cast<double>(columns) *
           static_cast<double>(batch);
  }
};

struct NodeProduct {
  std::string node;
  Op op = Op::MatMul;
  Product sizes;
};

// Every nest of the graph that multiplies and accumulates, as a cycle rule sees it (docs/hardware.md): a convolution
// has a row for each pixel and a depth of channels times filter.
std::vector<NodeProduct> products_of(const Graph& graph);

// The first core of a machine whose file states a cycle rule.
class RuledCore {
 public:
  // Fails when the machine cannot be read, or has no such core.
  static Expected<RuledCore> open(const std::string& hardware,
                                  const std::vector<std::pair<std::string, std::string>>& parameters = {});

  struct Cost {
    double cycles = 0, pj = 0;  // of the unit alone
  };
  // As the mapping has them; nothing is searched, since no mapping changes what a rule gives.
  Expected<Cost> cost(const Product& product, const std::string& precision);
  Expected<double> cycles(const Product& product, const std::string& precision);

  double clock_hz() const { return target_.clock_hz; }
  // MACs a cycle at best; 0: the precision is not among those of the core.
  double peak_macs(const std::string& precision) const;

 private:
  explicit RuledCore(Target target) : target_(std::move(target)) {}

  Target target_;
  std::map<std::pair<Product, std::string>, Cost> known_;
};

}  // namespace monet
