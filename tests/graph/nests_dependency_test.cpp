// Do the loops of every operator let an input element reach exactly the output elements that change when it changes?
// The first comes from the accesses of the nests alone, the second from running the operator.
#include "interpret/interpret.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

#include <random>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;
using Elements = std::set<std::pair<std::size_t, std::int64_t>>;  // of inputs: which one, which element

// Which input elements reach each element of the outputs, through scratch where need be.
class Reach {
 public:
  explicit Reach(const OperatorSite& site) : site_(site), operation_(nests_of(site)) {
    for (const Nest& nest : operation_.nests) {
      // A nest may read what it has written (a running sum): until nothing is added.
      while (run(nest)) {
      }
    }
  }

  const Elements& of(std::size_t output, std::int64_t element) {
    return known_[{OperandKind::output, output, element}];
  }

 private:
  const Shape& shape(const Access& access) const {
    if (access.kind == OperandKind::scratch) return operation_.scratch[access.operand].shape;
    return access.kind == OperandKind::input ? site_.in(access.operand) : site_.out(access.operand);
  }

  bool run(const Nest& nest) {
    bool changed = false;
    Shape sizes;
    for (const Loop& loop : nest.loops) sizes.push_back(loop.size);
    for (IndexCounter point(sizes); point.more(); point.next()) {
      Elements read;
      for (const Access& access : nest.reads) {
        for (std::int64_t element : elements(access, point.index())) {
          if (access.kind == OperandKind::input) {
            read.emplace(access.operand, element);
          } else {
            read.merge(Elements(known_[{access.kind, access.operand, element}]));
          }
        }
      }
      for (const Access& access : nest.writes) {
        for (std::int64_t element : elements(access, point.index())) {
          Elements& known = known_[{access.kind, access.operand, element}];
          const std::size_t before = known.size();
          known.insert(read.begin(), read.end());
          changed |= known.size() != before;
        }
      }
    }
    return changed;
  }

  std::vector<std::int64_t> elements(const Access& access, const Shape& point) const {
    std::vector<std::int64_t> result = {0};
    for (std::size_t i = 0; i < access.axes.size(); ++i) {
      const AxisIndex& axis = access.axes[i];
      const std::int64_t size = shape(access)[i];
      std::int64_t first = axis.offset;
      for (const Term& term : axis.terms) first += term.factor * point[term.loop];
      first = floor_divide(first, axis.divisor);
      std::vector<std::int64_t> next;
      for (std::int64_t base : result) {
        for (std::int64_t at = std::max<std::int64_t>(first, 0); at < std::min(first + axis.span, size); ++at) {
          next.push_back(base * size + at);
        }
      }
      result = std::move(next);
    }
    return result;
  }

  const OperatorSite& site_;
  OperatorNests operation_;
  std::map<std::tuple<OperandKind, std::size_t, std::int64_t>, Elements> known_;
};

enum class Match { exact, covers };  // covers: data decide which of the elements matter

void expect_match(Op op, const std::vector<TensorType>& inputs, Attributes attributes, std::size_t wanted = 1,
                  Match match = Match::exact) {
  SCOPED_TRACE(std::string(name_of(op)));
  const auto graph = single(op, inputs, std::move(attributes), wanted);
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const Node& node = graph->nodes().back();
  const OperatorSite site = site_of(*graph, node);
  Reach reach(site);
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<Array> arrays;
  for (const TensorType& type : inputs) {
    arrays.push_back(Array::zeros(type.shape));
    for (double& value : arrays.back().values)
      value = is_floating(type.format.element) ? 0.5 + std::abs(normal(random)) : 1;
  }
  std::vector<const Array*> pointers;
  for (const Array& array : arrays) pointers.push_back(&array);
  const auto run = [&] { return *execute({op, node.attributes, pointers, site.inputs, site.outputs}); };
  const std::vector<Array> base = run();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_floating(inputs[i].format.element)) continue;
    for (std::size_t e = 0; e < arrays[i].values.size(); ++e) {
      const double before = std::exchange(arrays[i].values[e], arrays[i].values[e] + 0.375);
      const std::vector<Array> now = run();
      arrays[i].values[e] = before;
      for (std::size_t output = 0; output < now.size(); ++output) {
        for (std::size_t k = 0; k < now[output].values.size(); ++k) {
          const bool changes = now[output].values[k] != base[output].values[k];
          const bool reaches =
              reach.of(output, static_cast<std::int64_t>(k)).contains({i, static_cast<std::int64_t>(e)});
          ASSERT_TRUE(changes == reaches || (reaches && match == Match::covers))
              << "element " << e << " of input " << i << (changes ? " changes" : " does not change") << " element " << k
              << " of output " << output << ", and " << (reaches ? "reaches it" : "does not reach it");
        }
      }
    }
  }
}

Attributes window(Integers kernel, Integers strides, Integers dilations, Integers pads) {
  return {{Attr::kernel_shape, kernel},
          {Attr::strides, strides},
          {Attr::dilations, dilations},
          {Attr::pads, pads},
          {Attr::count_include_pad, std::int64_t{0}},
          {Attr::storage_order, std::int64_t{0}},
          {Attr::p, std::int64_t{2}}};
}

Attributes with(Attributes attributes, Attr key, AttributeValue value) {
  attributes.set(key, std::move(value));
  return attributes;
}

std::vector<TensorType> with_indices(std::vector<TensorType> types, std::size_t which) {
  types[which].format.element = ElementType::int64;
  return types;
}

TEST(NestDependencies, ElementByElement) {
  expect_match(Op::Add, floats({{2, 3, 4}, {3, 1}}), {});
  expect_match(Op::Mul, floats({{1, 3}, {2, 1, 3}}), {});
  expect_match(Op::Gelu, floats({{5}}), {{Attr::approximate, std::string("tanh")}});
  expect_match(Op::Sum, floats({{2, 3}, {3}, {}}), {});
  expect_match(Op::PRelu, floats({{2, 3}, {3}}), {}, 1, Match::covers);
}

TEST(NestDependencies, Contractions) {
  const Attributes product = {
      {Attr::alpha, 0.5}, {Attr::beta, 2.0}, {Attr::trans_a, std::int64_t{1}}, {Attr::trans_b, std::int64_t{0}}};
  expect_match(Op::MatMul, floats({{2, 1, 3, 4}, {5, 3, 2}}), product);
  expect_match(Op::Gemm, floats({{3, 4}, {3, 2}, {2}}), product);
  expect_match(Op::Gemm, floats({{3, 4}, {3, 2}, {4, 1}}), with(product, Attr::alpha, 1.0));
  expect_match(Op::Einsum, floats({{2, 3, 4}, {1, 4, 2}}), {{Attr::equation, std::string("bij,bjk->kbi")}});
  expect_match(Op::Einsum, floats({{2, 3}, {3, 4}, {4}}), {{Attr::equation, std::string("ij,jk,k->i")}});
  const Attributes attention = {{Attr::scale, 0.5}, {Attr::softcap, 3.0}, {Attr::is_causal, std::int64_t{0}}};
  expect_match(Op::Attention, floats({{2, 4, 3, 2}, {2, 2, 5, 2}, {2, 2, 5, 3}, {3, 5}}), attention);
  expect_match(Op::Attention, floats({{1, 2, 3, 2}, {1, 1, 3, 2}, {1, 1, 3, 2}}),
               with(attention, Attr::is_causal, std::int64_t{1}), 1, Match::covers);
}

TEST(NestDependencies, Convolutions) {
  // A filter element over padding is read and changes nothing.
  for (const Integers& pads : {Integers{0, 0, 0, 0}, Integers{1, 0, 0, 2}}) {
    const Match match = pads == Integers(4, 0) ? Match::exact : Match::covers;
    const Attributes strided = with(window({}, {2, 1}, {1, 2}, pads), Attr::group, std::int64_t{2});
    expect_match(Op::Conv, floats({{2, 4, 5, 6}, {6, 2, 3, 2}, {6}}), strided, 1, match);
    expect_match(Op::ConvTranspose, floats({{2, 4, 3, 4}, {4, 3, 3, 2}, {6}}),
                 with(strided, Attr::output_padding, Integers{1, 0}), 1, match);
  }
}

TEST(NestDependencies, Pools) {
  const Attributes attributes = with(window({3, 2}, {2, 1}, {1, 2}, {1, 0, 0, 1}), Attr::shape, Shape{1, 2, 3, 5});
  expect_match(Op::AveragePool, floats({{1, 2, 6, 6}}), attributes);
  expect_match(Op::LpPool, floats({{1, 2, 6, 6}}), attributes);
  expect_match(Op::MaxPool, floats({{1, 2, 6, 6}}), attributes, 2, Match::covers);
  expect_match(Op::AveragePoolGrad, floats({{1, 2, 3, 5}}), with(attributes, Attr::shape, Shape{1, 2, 6, 6}));
}

TEST(NestDependencies, ReductionsAndSoftmax) {
  for (const std::int64_t keep : {0, 1}) {
    const Attributes over = {{Attr::axes, Integers{0, 2}}, {Attr::keepdims, keep}};
    for (const Op op : {Op::ReduceSum, Op::ReduceMean, Op::ReduceL2, Op::ReduceLogSumExp, Op::ReduceProd}) {
      expect_match(op, floats({{2, 3, 4}}), over);
    }
    expect_match(Op::ReduceMax, floats({{2, 3, 4}}), over, 1, Match::covers);
    for (const std::int64_t exclusive : {0, 1}) {
      expect_match(Op::CumSum, floats({{2, 4}}),
                   {{Attr::axis, std::int64_t{1}}, {Attr::exclusive, exclusive}, {Attr::reverse, keep}});
    }
  }
  const Attributes top = {{Attr::axis, std::int64_t{0}},
                          {Attr::k, std::int64_t{2}},
                          {Attr::largest, std::int64_t{1}},
                          {Attr::sorted, std::int64_t{1}}};
  expect_match(Op::TopK, floats({{4, 3}}), top, 2, Match::covers);
  expect_match(Op::Hardmax, floats({{2, 3}}), {{Attr::axes, Integers{1}}}, 1, Match::covers);
  expect_match(Op::Softmax, floats({{2, 3, 2}}), {{Attr::axes, Integers{1}}});
  expect_match(Op::LogSoftmax, floats({{2, 3, 2}}), {{Attr::axes, Integers{1, 2}}});
}

TEST(NestDependencies, Losses) {
  for (const std::string how : {"none", "mean", "sum"}) {
    const Attributes reduction = {{Attr::reduction, how}};
    const auto scored = with_indices(floats({{2, 3, 2}, {2, 2}, {3}}), 1);
    // One class of the weights, and of log-probabilities, is read for each label.
    expect_match(Op::SoftmaxCrossEntropyLoss, scored, reduction, 2, Match::covers);
    expect_match(Op::NegativeLogLikelihoodLoss, scored, reduction, 1, Match::covers);
    const auto gradient = with_indices(floats({how == "none" ? Shape{2, 2} : Shape{}, {2, 3, 2}, {2, 2}}), 2);
    expect_match(Op::SoftmaxCrossEntropyLossGrad, gradient, reduction);
  }
}

TEST(NestDependencies, Norms) {
  const Attributes attributes = {{Attr::epsilon, 1e-2},
                                 {Attr::momentum, 0.5},
                                 {Attr::training_mode, std::int64_t{1}},
                                 {Attr::axis, std::int64_t{1}}};
  const std::vector<TensorType> batch = floats({{2, 3, 4}, {3}, {3}, {3}, {3}});
  expect_match(Op::BatchNormalization, batch, attributes, 3);
  expect_match(Op::BatchNormalization, batch, with(attributes, Attr::training_mode, std::int64_t{0}));
  expect_match(Op::LayerNormalization, floats({{2, 3, 4}, {4}, {3, 1}}), attributes, 3);
  expect_match(Op::RMSNormalization, floats({{2, 3, 4}, {3, 4}}), attributes, 2);
  expect_match(Op::GroupNormalization, floats({{2, 4, 3}, {4}, {4}}),
               with(attributes, Attr::num_groups, std::int64_t{2}));
  expect_match(Op::InstanceNormalization, floats({{2, 3, 4}, {3}, {3}}), attributes);
  expect_match(Op::MeanVarianceNormalization, floats({{2, 3, 4}}), with(attributes, Attr::axes, Integers{0, 2}));
  expect_match(Op::LpNormalization, floats({{2, 3, 4}}), with(attributes, Attr::p, std::int64_t{2}));
  for (const std::int64_t size : {3, 4}) {
    expect_match(Op::LRN, floats({{1, 6, 2}}),
                 {{Attr::alpha, 1.0}, {Attr::beta, 0.75}, {Attr::bias, 1.0}, {Attr::size, size}});
  }
}

TEST(NestDependencies, Movement) {
  const auto pad = [](std::string mode, Integers pads) { return Attributes{{Attr::mode, mode}, {Attr::pads, pads}}; };
  expect_match(Op::Pad, floats({{3, 4}}), pad("constant", {1, -1, 2, 2}));
  expect_match(Op::Pad, floats({{3, 4}}), pad("reflect", {2, -1, 0, 0}), 1, Match::covers);
  expect_match(Op::Tile, floats({{2, 3}}), {{Attr::repeats, Integers{3, 2}}});
  const auto indexed = [](Shape data, Shape indices) { return with_indices(floats({data, indices}), 1); };
  const Attributes axis = {{Attr::axis, std::int64_t{1}}, {Attr::reduction, std::string("add")}};
  expect_match(Op::Gather, indexed({2, 3, 4}, {2, 2}), axis, 1, Match::covers);
  expect_match(Op::GatherElements, indexed({2, 3}, {2, 2}), axis, 1, Match::covers);
  expect_match(Op::GatherND, indexed({2, 3, 4}, {2, 5, 1}), {{Attr::batch_dims, std::int64_t{1}}}, 1, Match::covers);
  expect_match(Op::ScatterElements, with_indices(floats({{2, 3}, {2, 2}, {2, 2}}), 1), axis, 1, Match::covers);
  expect_match(Op::ScatterND, with_indices(floats({{3, 4}, {2, 1}, {2, 4}}), 1), axis, 1, Match::covers);
  expect_match(Op::OneHot, with_indices(floats({{2, 3}, {2}}), 0), with(axis, Attr::depth, std::int64_t{3}), 1,
               Match::covers);
  expect_match(Op::ReverseSequence, indexed({4, 2, 3}, {2}),
               {{Attr::batch_axis, std::int64_t{1}}, {Attr::time_axis, std::int64_t{0}}}, 1, Match::covers);
  expect_match(Op::MaxUnpool, indexed({1, 1, 2, 2}, {1, 1, 2, 2}), {{Attr::shape, Shape{1, 1, 4, 4}}}, 1,
               Match::covers);
}

}  // namespace
}  // namespace monet::test
