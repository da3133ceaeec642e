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
  EXPECT_EQ(NestCheck(site).complaint(), "");
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

Attributes dilated_window(Integers kernel, Integers strides, Integers dilations, Integers pads) {
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
  const Attributes attributes = {{Attr::alpha, 0.5}, {Attr::beta, 0.5}, {Attr::gamma, 1.5},
                                 {Attr::min, -1.0},  {Attr::max, 1.0},  {Attr::approximate, std::string("none")}};
  for (const Op op :
       {Op::GeluGrad, Op::HardSwishGrad, Op::MishGrad, Op::SigmoidGrad, Op::SiluGrad, Op::SoftplusGrad, Op::TanhGrad}) {
    expect_match(op, floats({{2, 3}, {2, 3}}), attributes);
  }
  // The slope has pieces on which the value does not matter.
  for (const Op op :
       {Op::ReluGrad, Op::CeluGrad, Op::ClipGrad, Op::EluGrad, Op::HardSigmoidGrad, Op::LeakyReluGrad, Op::SeluGrad}) {
    expect_match(op, floats({{2, 3}, {2, 3}}), attributes, 1, Match::covers);
  }
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
  expect_match(Op::Attention, floats({{1, 2, 3, 2}, {1, 1, 3, 2}, {1, 1, 3, 2}}), attention, 2);
}

TEST(NestDependencies, GradientOfAttention) {
  const std::vector<TensorType> inputs =
      floats({{2, 4, 3, 3}, {2, 4, 3, 2}, {2, 2, 5, 2}, {2, 2, 5, 3}, {2, 4, 3, 3}, {2, 4, 3}, {3, 5}});
  for (const double softcap : {0.0, 3.0}) {
    const Attributes attention = {{Attr::scale, 0.5}, {Attr::softcap, softcap}, {Attr::is_causal, std::int64_t{0}}};
    expect_match(Op::AttentionGrad, inputs, attention, 4);
    expect_match(Op::AttentionGrad, {inputs.begin(), inputs.end() - 1}, attention, 3);
    expect_match(Op::AttentionGrad, inputs, with(attention, Attr::is_causal, std::int64_t{1}), 1, Match::covers);
  }
}

TEST(NestDependencies, Convolutions) {
  // A filter element over padding is read and changes nothing.
  for (const Integers& pads : {Integers{0, 0, 0, 0}, Integers{1, 0, 0, 2}}) {
    const Match match = pads == Integers(4, 0) ? Match::exact : Match::covers;
    const Attributes strided = with(dilated_window({}, {2, 1}, {1, 2}, pads), Attr::group, std::int64_t{2});
    expect_match(Op::Conv, floats({{2, 4, 5, 6}, {6, 2, 3, 2}, {6}}), strided, 1, match);
    expect_match(Op::ConvTranspose, floats({{2, 4, 3, 4}, {4, 3, 3, 2}, {6}}),
                 with(strided, Attr::output_padding, Integers{1, 0}), 1, match);
    const Shape places = match == Match::exact ? Shape{2, 6, 2, 4} : Shape{2, 6, 2, 6};
    expect_match(Op::ConvWeightGrad, floats({{2, 4, 5, 6}, places}), with(strided, Attr::shape, Shape{6, 2, 3, 2}), 1,
                 match);
  }
}

TEST(NestDependencies, Pools) {
  const Attributes attributes =
      with(dilated_window({3, 2}, {2, 1}, {1, 2}, {1, 0, 0, 1}), Attr::shape, Shape{1, 2, 3, 5});
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
  expect_match(Op::SoftmaxGrad, floats({{2, 3, 2}, {2, 3, 2}}), {{Attr::axes, Integers{1}}});
  expect_match(Op::LogSoftmaxGrad, floats({{2, 3, 2}, {2, 3, 2}}), {{Attr::axes, Integers{1, 2}}});
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
    // Smoothing: every class has a part in each label's loss.
    const Attributes smoothed = with(reduction, Attr::label_smoothing, 0.25);
    const auto unweighted = with_indices(floats({{2, 3, 2}, {2, 2}}), 1);
    expect_match(Op::SoftmaxCrossEntropyLoss, unweighted, smoothed, 1);
    expect_match(Op::SoftmaxCrossEntropyLoss, unweighted, smoothed, 2);
    expect_match(Op::SoftmaxCrossEntropyLoss, scored, smoothed, 2, Match::covers);
    expect_match(Op::SoftmaxCrossEntropyLossGrad, gradient, smoothed);
    auto weighted = gradient;
    weighted.push_back({{3}, {}});
    expect_match(Op::SoftmaxCrossEntropyLossGrad, weighted, smoothed, 1, Match::covers);
  }
  for (const std::string how : {"mean", "sum"}) {
    const Attributes reduction = {{Attr::reduction, how}};
    for (const Op op : {Op::MeanSquaredErrorLoss, Op::BinaryCrossEntropyLoss}) {
      expect_match(op, floats({{2, 3}, {2, 3}}), reduction);
    }
    for (const Op op : {Op::MeanSquaredErrorLossGrad, Op::BinaryCrossEntropyLossGrad}) {
      expect_match(op, floats({{1}, {2, 3}, {2, 3}}), reduction);
    }
  }
}

TEST(NestDependencies, Norms) {
  const Attributes attributes = {{Attr::epsilon, 1e-2},
                                 {Attr::momentum, 0.5},
                                 {Attr::training_mode, std::int64_t{1}},
                                 {Attr::axis, std::int64_t{1}}};
  const std::vector<TensorType> batch = floats({{2, 3, 4}, {3}, {3}, {3}, {3}});
  for (const std::size_t outputs : {3, 5}) expect_match(Op::BatchNormalization, batch, attributes, outputs);
  expect_match(Op::BatchNormalization, batch, with(attributes, Attr::training_mode, std::int64_t{0}));
  expect_match(Op::LayerNormalization, floats({{2, 3, 4}, {4}, {3, 1}}), attributes, 3);
  expect_match(Op::RMSNormalization, floats({{2, 3, 4}, {3, 4}}), attributes, 2);
  expect_match(Op::GroupNormalization, floats({{2, 4, 3}, {4}, {4}}),
               with(attributes, Attr::num_groups, std::int64_t{2}), 3);
  expect_match(Op::InstanceNormalization, floats({{2, 3, 4}, {3}, {3}}), attributes, 3);
  expect_match(Op::MeanVarianceNormalization, floats({{2, 3, 4}}), with(attributes, Attr::axes, Integers{0, 2}));
  expect_match(Op::LpNormalization, floats({{2, 3, 4}}), with(attributes, Attr::p, std::int64_t{2}));
  for (const std::int64_t size : {3, 4}) {
    expect_match(Op::LRN, floats({{1, 6, 2}}),
                 {{Attr::alpha, 1.0}, {Attr::beta, 0.75}, {Attr::bias, 1.0}, {Attr::size, size}});
  }
}

TEST(NestDependencies, Optimizers) {
  const Attributes attributes = {{Attr::weight_decay, 0.1},
                                 {Attr::momentum, 0.9},
                                 {Attr::nesterov, std::int64_t{1}},
                                 {Attr::beta1, 0.9},
                                 {Attr::beta2, 0.99},
                                 {Attr::epsilon, 1e-3},
                                 {Attr::min, 1e-3},
                                 {Attr::decoupled, std::int64_t{1}},
                                 {Attr::size, std::int64_t{4}}};
  expect_match(Op::SgdUpdate, floats({{2, 3}, {2, 3}, {}, {}}), attributes);
  expect_match(Op::AdamUpdate, floats({{5}, {5}, {5}, {5}, {}, {}, {}, {}}), attributes, 3, Match::covers);
  expect_match(Op::MomentumUpdate, floats({{2, 3}, {2, 3}, {2, 3}, {}, {}}), attributes, 2, Match::covers);
  expect_match(Op::LionUpdate, floats({{2, 3}, {2, 3}, {2, 3}, {}, {}}), attributes, 2, Match::covers);
  expect_match(Op::AdafactorUpdate, floats({{2, 3, 2}, {2, 3, 2}, {2, 3, 1}, {2, 1, 2}, {}, {}, {}, {}}), attributes, 3,
               Match::covers);
  expect_match(Op::AdafactorVectorUpdate, floats({{5}, {5}, {5}, {}, {}, {}, {}}), attributes, 2, Match::covers);
  std::vector<TensorType> coded = floats({{3, 3}, {3, 3}, {3, 3}, {3, 3}, {3}, {3}, {}, {}, {}, {}});
  coded[2].format.element = coded[3].format.element = ElementType::uint8;
  expect_match(Op::Adam8bitUpdate, coded, attributes, 5, Match::covers);
}

TEST(NestDependencies, GradientsOfNorms) {
  const Shape x = {2, 4, 3};
  // One pass makes both sums, so that what the first reads seems to reach the second.
  for (const auto& [outputs, match] : {std::pair(1, Match::exact), std::pair(2, Match::covers)}) {
    const auto wanted = static_cast<std::size_t>(outputs);
    expect_match(Op::BatchNormalizationParameterGrad, floats({x, x, {4}, {4}}), {}, wanted, match);
    for (const Shape& scale : {Shape{3}, Shape{4, 1}, Shape{}, x}) {
      expect_match(Op::LayerNormalizationParameterGrad, floats({x, x, {2, 4, 1}, {2, 4, 1}}),
                   {{Attr::axis, std::int64_t{2}}, {Attr::shape, scale}}, wanted, match);
    }
    expect_match(Op::GroupNormalizationParameterGrad, floats({x, x, {2, 2}, {2, 2}}),
                 {{Attr::num_groups, std::int64_t{2}}}, wanted, match);
  }
  expect_match(Op::RMSNormalizationParameterGrad, floats({x, x, {2, 1, 1}}),
               {{Attr::axis, std::int64_t{1}}, {Attr::shape, Shape{4, 3}}});
  expect_match(Op::BatchNormalizationGrad, floats({x, x, {4}, {4}, {4}, {4}, {4}}), {});
  const Attributes rows = {{Attr::axis, std::int64_t{1}}};
  expect_match(Op::LayerNormalizationGrad, floats({x, x, {4, 1}, {2, 1, 1}, {2, 1, 1}}), rows);
  expect_match(Op::RMSNormalizationGrad, floats({x, x, {3}, {2, 1, 1}}), rows);
  expect_match(Op::GroupNormalizationGrad, floats({x, x, {4}, {2, 2}, {2, 2}}), {{Attr::num_groups, std::int64_t{2}}});
}

TEST(NestDependencies, GradientsOfMovement) {
  const Attributes table = {{Attr::axis, std::int64_t{1}}, {Attr::shape, Shape{2, 3, 4}}};
  expect_match(Op::GatherGrad, with_indices(floats({{2, 2, 2, 4}, {2, 2}}), 1), table, 1, Match::covers);
  std::vector<TensorType> masked = floats({{2, 3}, {2, 3}});
  masked[1].format.element = ElementType::boolean;
  expect_match(Op::DropoutGrad, masked, {{Attr::ratio, 0.25}});
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    for (const std::string coordinates : {"half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"}) {
      const Attributes resize = {{Attr::mode, mode},
                                 {Attr::scales, std::vector<double>{1, 2, 0.5}},
                                 {Attr::coordinate_mode, coordinates},
                                 {Attr::nearest_mode, std::string("floor")},
                                 {Attr::cubic_coeff_a, -0.75},
                                 {Attr::exclude_outside, std::int64_t{0}},
                                 {Attr::extrapolation_value, 0.0},
                                 {Attr::antialias, std::int64_t{0}},
                                 {Attr::roi, std::vector<double>{0, 0, 0, 1, 1, 1}}};
      expect_match(Op::Resize, floats({{2, 3, 8}}), with(resize, Attr::shape, Shape{2, 6, 4}), 1, Match::covers);
      expect_match(Op::ResizeGrad, floats({{2, 6, 4}}), with(resize, Attr::shape, Shape{2, 3, 8}), 1, Match::covers);
    }
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
  for (const Op op : {Op::MaxUnpool, Op::MaxPoolGrad}) {
    expect_match(op, indexed({1, 1, 2, 2}, {1, 1, 2, 2}), {{Attr::shape, Shape{1, 1, 4, 4}}}, 1, Match::covers);
  }
}

}  // namespace
}  // namespace monet::test
