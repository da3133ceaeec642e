#include "mapping/extract.h"

#include "mapping/precision.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// Bits of one element, with its share of the scales, be they of groups or of the tensor, and of what fills groups up.
double element_bits(const TensorType& type) {
  const std::int64_t elements = element_count(type.shape);
  if (!type.format.is_scaled() || elements == 0) return stored_bits(type.format);
  return 8.0 * static_cast<double>(bytes(type.shape, type.format)) / static_cast<double>(elements);
}

// The same of a tensor as it is stored: what fills groups up follows from the shape that was quantized, not from that
// of a view of it. Of views that join tensors, the widest.
double stored_element_bits(const Graph& graph, TensorId tensor) {
  const Tensor& shown = graph[tensor];
  if (!shown.type.format.is_scaled()) return element_bits(shown.type);
  if (!shown.producer.valid() || family_of(graph[shown.producer].op) != OpFamily::view) return element_bits(shown.type);
  double widest = 0;
  for (const TensorId input : graph[shown.producer].inputs) {
    if (input.valid() && graph[input].type.format.is_scaled())
      widest = std::max(widest, stored_element_bits(graph, input));
  }
  return widest > 0 ? widest : element_bits(shown.type);
}

// Tensors an access can name: the node's, and the scratch of its nests.
struct Sites {
  const Graph& graph;
  const Node& node;
  const OperatorNests& nests;

  const TensorType& type(const Access& access) const {
    switch (access.kind) {
      case OperandKind::input: return graph[node.inputs[access.operand]].type;
      case OperandKind::output: return graph[node.outputs[access.operand]].type;
      case OperandKind::scratch: break;
    }
    return nests.scratch[access.operand];
  }
  double bits(const Access& access) const {
    if (access.kind == OperandKind::input) return stored_element_bits(graph, node.inputs[access.operand]);
    return element_bits(type(access));
  }
  Role role(const Access& access) const {
    switch (access.kind) {
      case OperandKind::input: return graph[node.inputs[access.operand]].role;
      case OperandKind::output: return graph[node.outputs[access.operand]].role;
      case OperandKind::scratch: break;
    }
    return Role::workspace;
  }
  bool same(const Access& a, const Access& b) const {
    if (a.kind != b.kind || a.axes != b.axes) return false;
    if (a.kind == OperandKind::input) return node.inputs[a.operand] == node.inputs[b.operand];
    return a.operand == b.operand;
  }
};

bool takes_weight_path(Role role) {
  return role == Role::weight || role == Role::master_weight || role == Role::optimizer_state;
}

// New numbers of the loops that are longer than one iteration.
std::vector<std::uint8_t> kept_loops(const Nest& nest, std::vector<Loop>& loops) {
  std::vector<std::uint8_t> number(nest.loops.size(), 0xff);
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    if (nest.loops[i].size == 1) continue;
    number[i] = static_cast<std::uint8_t>(loops.size());
    loops.push_back(nest.loops[i]);
  }
  return number;
}

ProblemAxis axis_of(const AxisIndex& index, std::int64_t size, const std::vector<std::uint8_t>& number) {
  ProblemAxis axis{.terms = {}, .divisor = index.divisor, .span = std::min(index.span, size), .limit = size};
  for (const Term& term : index.terms) {
    if (number[term.loop] != 0xff && term.factor != 0) axis.terms.push_back({number[term.loop], term.factor});
  }
  return axis;
}

ProblemOperand operand_of(const Sites& sites, const Access& access, bool written,
                          const std::vector<std::uint8_t>& number, std::size_t loops, const ExtractOptions& options) {
  const TensorType& type = sites.type(access);
  ProblemOperand operand{
      .path = written ? Path::output : Path::input, .written = written, .accumulates = access.accumulate};
  if (!written && takes_weight_path(sites.role(access))) operand.path = Path::weight;
  operand.bits =
      options.precision.empty() ? sites.bits(access) : static_cast<double>(bits_of_precision(options.precision));
  const int own = bits_of(type.format.element);
  if (options.precision.empty() && operand.bits > own) operand.register_bits = static_cast<std::uint16_t>(own);
  operand.partial_bits = operand.bits_in(MemoryKind::registers) > 32 ? 64 : 32;

  std::uint32_t used = 0;
  std::vector<std::size_t> anywhere;
  for (std::size_t i = 0; i < access.axes.size(); ++i) {
    const std::int64_t size = type.shape[i];
    if (access.axes[i].anywhere) {
      anywhere.push_back(operand.axes.size());
      operand.axes.push_back({.terms = {}, .divisor = 1, .span = 1, .limit = size, .scattered = true});
      continue;
    }
    ProblemAxis axis = axis_of(access.axes[i], size, number);
    for (const Term& term : axis.terms) used |= 1U << term.loop;
    if (!axis.terms.empty() || axis.span > 1) operand.axes.push_back(std::move(axis));
  }
  // A position that depends on data may be another one at each point of the loops that no other axis follows.
  for (std::size_t i : anywhere) {
    for (std::size_t loop = 0; loop < loops; ++loop) {
      if ((used >> loop & 1U) == 0) operand.axes[i].terms.push_back({static_cast<std::uint8_t>(loop), 1});
    }
  }
  return operand;
}

// A product reads its two factors by the two paths.
void separate_factors(std::vector<ProblemOperand>& operands) {
  std::vector<ProblemOperand*> reads;
  for (ProblemOperand& operand : operands) {
    if (!operand.written) reads.push_back(&operand);
  }
  if (reads.size() != 2 || reads[0]->path != reads[1]->path) return;
  reads[0]->path = Path::input;
  reads[1]->path = Path::weight;
}

// Integers whose scales are powers of two, from which it makes others: by integers alone. A number that is not one of
// many (a learning rate) is a shift and a product of integers then, and what passes between the nests is an integer.
bool works_in_integers(const Sites& sites) {
  bool shifts = false;
  const auto is_integer_too = [&](TensorId id) {
    if (!id.valid()) return true;
    const TensorType& type = sites.graph[id].type;
    const Format& format = type.format;
    const bool blocks = format.is_scaled() && format.grouping == Grouping::block;
    shifts |= format.is_scaled() && !blocks && is_integer(format.element) && format.scale == ElementType::float8e8m0;
    return element_count(type.shape) <= 1 || (is_integer(format.element) && !blocks);
  };
  const bool all =
      std::ranges::all_of(sites.node.inputs, is_integer_too) && std::ranges::all_of(sites.node.outputs, is_integer_too);
  return all && shifts;
}

void set_precision(Problem& problem, const Sites& sites, const Nest& nest) {
  const bool integers = works_in_integers(sites);
  // Integers that share a scale over a channel or a tensor are worked on as integers.
  const auto rank = [](const Format& format) {
    if (format.element == ElementType::boolean) return 0.0;
    const bool real = is_floating(format.element) || (format.is_scaled() && format.grouping == Grouping::block);
    return (real ? 1000 : 0) + stored_bits(format);
  };
  Format widest{.element = ElementType::boolean};
  const auto consider = [&](const Access& access) {
    const Format& format = sites.type(access).format;
    if (integers && !is_integer(format.element)) return;
    if (rank(format) > rank(widest)) widest = format;
  };
  for (const Access& access : nest.reads) consider(access);
  if (nest.reads.empty()) {
    for (const Access& access : nest.writes) consider(access);
  }
  problem.precision = precision_name(widest);
  const bool counts = problem.per_point[Count::mac] == 0 && !is_floating(widest.element) && !widest.is_scaled();
  if (counts) problem.leeway = Leeway::any;
}

using TensorKey = std::pair<OperandKind, std::uint8_t>;
TensorKey key_of(const Access& access) { return {access.kind, access.operand}; }

bool follows(const Access& access, std::size_t loop) {
  return std::ranges::any_of(access.axes, [&](const AxisIndex& axis) {
    return std::ranges::any_of(axis.terms, [&](const Term& term) { return term.loop == loop && term.factor != 0; });
  });
}

// Pieces that a nest can do as soon as those before it have done them: iterations of the loops that everything which
// passes between them has, with the same sizes.
double pieces_between(const std::vector<Nest>& nests, std::size_t later) {
  double pieces = 1;
  for (std::size_t i = 0; i < nests[later].loops.size(); ++i) {
    const Loop& loop = nests[later].loops[i];
    const bool everywhere = std::ranges::all_of(nests[later].reads, [&](const Access& read) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        for (const Access& write : nests[earlier].writes) {
          if (key_of(write) != key_of(read)) continue;
          const auto same = std::ranges::find(nests[earlier].loops, loop);
          if (!follows(read, i) || same == nests[earlier].loops.end() ||
              !follows(write, static_cast<std::size_t>(same - nests[earlier].loops.begin()))) {
            return false;
          }
        }
      }
      return true;
    });
    if (everywhere) pieces *= static_cast<double>(loop.size);
  }
  return pieces;
}

bool touched_before(const std::vector<Nest>& nests, std::size_t later, const Access& access) {
  for (std::size_t earlier = 0; earlier < later; ++earlier) {
    for (const auto* accesses : {&nests[earlier].reads, &nests[earlier].writes}) {
      for (const Access& other : *accesses) {
        if (key_of(other) == key_of(access)) return true;
      }
    }
  }
  return false;
}

Problem problem_of(const Sites& sites, const std::vector<Nest>& nests, std::size_t index,
                   const ExtractOptions& options) {
  const Nest& nest = nests[index];
  Problem problem;
  problem.per_point = nest.per_point;
  const auto number = kept_loops(nest, problem.loops);
  const double pieces = pieces_between(nests, index);
  const auto add = [&](const Access& access, bool written) {
    ProblemOperand operand = operand_of(sites, access, written, number, problem.loops.size(), options);
    const bool before = touched_before(nests, index, access);
    // A nest that adds to what one before it has left there finds it in memory.
    operand.continues = written && access.accumulate && before;
    if (before || access.kind == OperandKind::scratch) {
      const double bits = static_cast<double>(element_count(sites.type(access).shape)) * operand.bits / pieces;
      operand.piece_bits = static_cast<std::int64_t>(std::max(std::ceil(operand.bits), bits));
    }
    problem.operands.push_back(std::move(operand));
  };
  for (std::size_t i = 0; i < nest.reads.size(); ++i) {
    // The same elements of one tensor, read for two inputs, are read once.
    const auto same = [&](const Access& other) { return sites.same(other, nest.reads[i]); };
    if (std::none_of(nest.reads.begin(), nest.reads.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      add(nest.reads[i], false);
    }
  }
  for (const Access& access : nest.writes) add(access, true);
  if (nest.per_point[Count::mac] > 0) separate_factors(problem.operands);
  set_precision(problem, sites, nest);
  if (!options.precision.empty()) problem.precision = options.precision;
  const bool product = nest.per_point[Count::mac] > 0;
  if (!product) return problem;
  if (!options.products.empty() && !holds(options.products, problem.precision)) problem.precision = options.products;
  if (options.to_blocks) problem.leeway = Leeway::blocks;
  return problem;
}

}  // namespace

std::vector<Problem> problems_of(const Graph& graph, const Node& node, const ExtractOptions& options) {
  const OperatorNests nests = nests_of(site_of(graph, node));
  const Sites sites{graph, node, nests};
  std::vector<Problem> problems;
  problems.reserve(nests.nests.size());
  for (std::size_t i = 0; i < nests.nests.size(); ++i) {
    problems.push_back(problem_of(sites, nests.nests, i, options));
  }
  return problems;
}

Problem tile_of(const Problem& problem, std::span<const Loop> extents, bool adds) {
  Problem result = problem;
  for (const Loop& extent : extents) {
    const auto loop = std::ranges::find(result.loops, extent.name, &Loop::name);
    if (loop == result.loops.end()) continue;
    loop->size = extent.size;
  }
  Nest nest{.loops = result.loops, .reads = {}, .writes = {}, .per_point = {}};
  std::vector<Loop> kept;
  const auto number = kept_loops(nest, kept);
  result.loops = std::move(kept);
  for (ProblemOperand& operand : result.operands) {
    for (ProblemAxis& axis : operand.axes) {
      std::erase_if(axis.terms, [&](const Term& term) { return number[term.loop] == 0xff; });
      for (Term& term : axis.terms) term.loop = number[term.loop];
    }
    std::erase_if(operand.axes,
                  [](const ProblemAxis& axis) { return axis.terms.empty() && !axis.scattered && axis.span == 1; });
    if (adds && operand.written) operand.continues = operand.accumulates = true;
  }
  return result;
}

std::vector<Path> input_paths(const Graph& graph, const Node& node, std::span<const Problem> problems) {
  std::vector<Path> paths(node.inputs.size(), Path::input);
  std::vector<bool> decided(paths.size(), false);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (node.inputs[i].valid() && takes_weight_path(graph[node.inputs[i]].role)) paths[i] = Path::weight;
  }
  const OperatorNests nests = nests_of(site_of(graph, node));
  for (std::size_t n = 0; n < nests.nests.size(); ++n) {
    const std::vector<Access>& reads = nests.nests[n].reads;
    // Where two are read and both are operands of their own.
    const auto operands = std::ranges::count(problems[n].operands, false, &ProblemOperand::written);
    if (nests.nests[n].per_point[Count::mac] == 0 || reads.size() != 2 || operands != 2) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      if (reads[i].kind != OperandKind::input || decided[reads[i].operand]) continue;
      paths[reads[i].operand] = problems[n].operands[i].path;
      decided[reads[i].operand] = true;
    }
  }
  return paths;
}

}  // namespace monet
