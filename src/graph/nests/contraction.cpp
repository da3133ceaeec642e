#include "graph/nests.h"

#include "graph/einsum.h"
#include "graph/nests/attention.h"

#include <algorithm>

namespace monet {

namespace {

// The last two axes of a matrix operand, swapped where it is stored transposed.
void push_matrix(std::vector<AxisIndex>& axes, std::size_t row, std::size_t column, bool transposed) {
  axes.push_back(at_loop(transposed ? column : row));
  axes.push_back(at_loop(transposed ? row : column));
}

Nest contraction_nest(const OperatorSite& site) {
  const bool trans_a = site.attributes.integer_or(Attr::trans_a, 0) != 0;
  const bool trans_b = site.attributes.integer_or(Attr::trans_b, 0) != 0;
  const Shape& out = site.out(0);
  const Shape batch(out.begin(), out.end() - 2);
  const auto batch_of = [](const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); };
  Nest nest{.loops = {}, .reads = {}, .writes = {}, .per_point = counts_of({{Count::mac, 1}})};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    nest.loops.push_back({batch.size() == 1 ? Dim::B : generic_dim(i), batch[i]});
  }
  const std::size_t row = batch.size();
  const std::size_t column = row + 1;
  const std::size_t inner = row + 2;
  const Shape& a = site.in(0);
  nest.loops.push_back({Dim::D, out[row]});
  nest.loops.push_back({Dim::K, out[column]});
  nest.loops.push_back({Dim::C, trans_a ? a[a.size() - 2] : a.back()});

  std::vector<AxisIndex> a_axes = broadcast_axes(batch_of(a), batch);
  std::vector<AxisIndex> b_axes = broadcast_axes(batch_of(site.in(1)), batch);
  push_matrix(a_axes, row, inner, trans_a);
  push_matrix(b_axes, inner, column, trans_b);
  nest.reads = {read_input(0, std::move(a_axes)), read_input(1, std::move(b_axes))};
  nest.writes = {write_output(0, identity_axes(out.size()), true)};
  return nest;
}

// out = alpha * out + beta * bias, where it differs from out.
void push_scaling(std::vector<Nest>& nests, const OperatorSite& site) {
  const bool scaled = site.attributes.real_or(Attr::alpha, 1.0) != 1.0;
  const bool biased = site.has_input(2);
  if (!scaled && !biased) return;
  const Nest& product = nests.front();
  const std::size_t rank = site.out(0).size();
  Nest nest{.loops = {product.loops.begin(), product.loops.begin() + static_cast<std::ptrdiff_t>(rank)},
            .reads = {},
            .writes = {write_output(0, identity_axes(rank), !scaled)},
            .per_point = {}};
  if (scaled) {
    nest.reads.push_back(read_output(0, identity_axes(rank)));
    nest.per_point[Count::multiply] += 1;
  }
  if (biased) {
    nest.reads.push_back(read_input(2, broadcast_axes(site.in(2), site.out(0))));
    nest.per_point[Count::add] += 1;
    if (site.attributes.real_or(Attr::beta, 1.0) != 1.0) nest.per_point[Count::multiply] += 1;
  }
  nests.push_back(std::move(nest));
}

OperatorNests matmul_nests(const OperatorSite& site) {
  OperatorNests result{.nests = {contraction_nest(site)}, .scratch = {}};
  push_scaling(result.nests, site);
  return result;
}

// Where the letters of two operands fall into one each of batch, row, column and contracted, the loops have a matrix
// product's names.
std::vector<Loop> einsum_loops(const OperatorSite& site, const EinsumEquation& equation, const std::string& letters) {
  const auto name_for = [&](char letter) {
    if (equation.operands.size() != 2) return Dim::A0;
    const bool first = equation.operands[0].find(letter) != std::string::npos;
    const bool second = equation.operands[1].find(letter) != std::string::npos;
    if (equation.output.find(letter) == std::string::npos) return Dim::C;
    if (first && second) return Dim::B;
    return first ? Dim::D : Dim::K;
  };
  std::vector<Loop> loops;
  std::size_t generic = 0;
  for (char letter : letters) {
    const Dim name = name_for(letter);
    const bool alone = std::ranges::count(letters, name, name_for) == 1 && name != Dim::A0;
    const std::int64_t size = einsum_size(equation, letter, [&](std::size_t i) -> const Shape& { return site.in(i); });
    loops.push_back({alone ? name : generic_dim(generic++), size});
  }
  return loops;
}

OperatorNests einsum_nests(const OperatorSite& site) {
  const EinsumEquation equation = parse_einsum(site.attributes.text(Attr::equation));
  const std::string letters = equation.letters();
  const auto others = static_cast<std::int64_t>(equation.operands.size()) - 1;
  const bool contracts = equation.contracts();
  Nest nest{.loops = einsum_loops(site, equation, letters),
            .reads = {},
            .writes = {write_output(0, identity_axes(equation.output.size()), contracts)},
            .per_point = {}};
  if (others == 0) {
    nest.per_point = counts_of({{contracts ? Count::add : Count::move, 1}});
  } else {
    nest.per_point = counts_of({{contracts ? Count::mac : Count::multiply, others}});
  }
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    std::vector<AxisIndex> axes;
    for (std::size_t axis = 0; axis < equation.operands[i].size(); ++axis) {
      const std::size_t loop = letters.find(equation.operands[i][axis]);
      const bool broadcasts = site.in(i)[axis] == 1 && nest.loops[loop].size != 1;
      axes.push_back(broadcasts ? at_zero() : at_loop(loop));
    }
    nest.reads.push_back(read_input(i, std::move(axes)));
  }
  return {.nests = {std::move(nest)}, .scratch = {}};
}

}  // namespace

OperatorNests contraction_nests(const OperatorSite& site) {
  switch (site.op) {
    case Op::MatMul:
    case Op::Gemm: return matmul_nests(site);
    case Op::Einsum: return einsum_nests(site);
    case Op::AttentionGrad: return attention_grad_nests(site);
    default: return attention_nests(site);
  }
}

}  // namespace monet
