#include "validate/products.h"

#include "base/try.h"
#include "evaluate/open/hardware.h"
#include "graph/builder.h"
#include "mapping/extract.h"
#include "mapping/frame.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

// By which of its operands depend on a loop: that is what rows, columns and depth mean.
Product sizes_of(const Problem& problem) {
  std::uint32_t first = 0, second = 0, written = 0;
  for (const ProblemOperand& operand : problem.operands) {
    (operand.written ? written : operand.path == Path::weight ? second : first) |= operand.relevant();
  }
  Product sizes;
  for (std::size_t i = 0; i < problem.loops.size(); ++i) {
    const auto in = [i](std::uint32_t loops) { return (loops >> i & 1U) != 0; };
    std::int64_t& size = !in(written)              ? sizes.depth
                         : in(first) && in(second) ? sizes.batch
                         : in(first)               ? sizes.rows
                                                   : sizes.columns;
    size *= problem.loops[i].size;
  }
  return sizes;
}

Expected<Problem> problem_of(const Product& product, const std::string& precision) {
  GraphBuilder builder("product");
  const bool many = product.batch > 1;
  const auto shape = [&](std::int64_t rows, std::int64_t columns) {
    return many ? Shape{product.batch, rows, columns} : Shape{rows, columns};
  };
  const TensorId a = builder.input("a", shape(product.rows, product.depth));
  const TensorId b = builder.parameter("b", shape(product.depth, product.columns));
  builder.output(builder.add(Op::MatMul, "product", {a, b},
                             {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
  MONET_TRY(const Graph graph, builder.finish());
  return problems_of(graph, graph.nodes().front(), {.precision = precision, .products = {}}).front();
}

}  // namespace

std::vector<NodeProduct> products_of(const Graph& graph) {
  std::vector<NodeProduct> products;
  for (const Node& node : graph.nodes()) {
    for (const Problem& problem : problems_of(graph, node)) {
      if (problem.per_point[Count::mac] > 0) products.push_back({node.name, node.op, sizes_of(problem)});
    }
  }
  return products;
}

Expected<RuledCore> RuledCore::open(const std::string& hardware,
                                    const std::vector<std::pair<std::string, std::string>>& parameters) {
  MONET_TRY(const Hardware machine, open_hardware(hardware, {.parameters = parameters}));
  for (std::size_t core = 0; core < machine.cores.size(); ++core) {
    const std::vector<Unit>& units = machine.cores[core].units;
    const auto ruled = std::ranges::find_if(units, [](const Unit& unit) { return unit.cycle_rule.has_value(); });
    if (ruled == units.end()) continue;
    MONET_TRY(Target target, target_of(machine, CoreId(core), static_cast<std::size_t>(ruled - units.begin())));
    return RuledCore(std::move(target));
  }
  return Error{.message = "no core of it states a cycle rule", .place = hardware, .advice = "give it a cycle_rule"};
}

Expected<RuledCore::Cost> RuledCore::cost(const Product& product, const std::string& precision) {
  if (const auto known = known_.find({product, precision}); known != known_.end()) return known->second;
  MONET_TRY(const Problem problem, problem_of(product, precision));
  const Unrolling unrolling = unrolling_of(problem, {});
  const Frame frame = make_frame(problem, target_, unrolling);
  if (!frame.infeasible.empty()) {
    return Error{.kind = ErrorKind::infeasible, .message = frame.infeasible, .place = target_.unit.name, .advice = {}};
  }
  const Cost cost{.cycles = frame.cycles_per_point * frame.iterations, .pj = frame.compute_pj};
  known_.emplace(std::pair(product, precision), cost);
  return cost;
}

Expected<double> RuledCore::cycles(const Product& product, const std::string& precision) {
  MONET_TRY(const Cost all, cost(product, precision));
  return all.cycles;
}

double RuledCore::peak_macs(const std::string& precision) const {
  const PrecisionRate* rate = target_.unit.precision(precision);
  return rate == nullptr ? 0 : rate->rate * static_cast<double>(target_.unit.lanes());
}

}  // namespace monet
