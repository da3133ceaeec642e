#include "graph/nests/attention.h"

#include <algorithm>

namespace monet {

namespace {

constexpr std::size_t scores_scratch = 0;  // scratch of both

// Sizes, and the places in which the nests find things. Every nest has the loops B, H, D and further ones.
struct AttentionSite {
  const OperatorSite& site;
  std::size_t first;  // input: the query; key and value follow
  std::size_t mask;   // input, where it is there

  const Shape& query() const { return site.in(first); }
  const Shape& value() const { return site.in(first + 2); }
  std::int64_t keys() const { return value()[2]; }
  Shape rows() const { return {query()[0], query()[1], query()[2]}; }
  Shape all_scores() const { return {query()[0], query()[1], query()[2], keys()}; }

  std::vector<Loop> loops(std::int64_t d, std::initializer_list<Loop> inner) const {
    std::vector<Loop> all = {{Dim::B, query()[0]}, {Dim::H, query()[1]}, {Dim::D, d}};
    all.insert(all.end(), inner);
    return all;
  }
  std::vector<Loop> score_loops() const { return loops(query()[2], {{Dim::K, keys()}}); }

  // Batch, head and two further loops, of a tensor that has all heads.
  static std::vector<AxisIndex> own(std::size_t row, std::size_t column) {
    return {at_loop(0), at_loop(1), at_loop(row), at_loop(column)};
  }
  // The same of keys and values: several query heads read one head of them.
  std::vector<AxisIndex> shared(std::size_t row, std::size_t column) const {
    AxisIndex head = at_loop(1);
    head.divisor = std::max<std::int64_t>(query()[1] / value()[1], 1);
    return {at_loop(0), std::move(head), at_loop(row), at_loop(column)};
  }
};

Nest product(std::vector<Loop> loops, Access a, Access b, Access result) {
  return {.loops = std::move(loops),
          .reads = {std::move(a), std::move(b)},
          .writes = {std::move(result)},
          .per_point = counts_of({{Count::mac, 1}})};
}

Nest query_key(const AttentionSite& attention) {
  return product(attention.loops(attention.query()[2], {{Dim::K, attention.keys()}, {Dim::C, attention.query()[3]}}),
                 read_input(attention.first, AttentionSite::own(2, 4)),
                 read_input(attention.first + 1, attention.shared(3, 4)),
                 write_scratch(scores_scratch, identity_axes(4), true));
}

// Scales, caps and masks the scores, with the operations that the operator's definition has for each.
Nest scale_and_mask(const AttentionSite& attention) {
  const Attributes& attributes = attention.site.attributes;
  Nest nest{.loops = attention.score_loops(),
            .reads = {read_scratch(scores_scratch, identity_axes(4))},
            .writes = {write_scratch(scores_scratch, identity_axes(4))},
            .per_point = counts_of({{Count::multiply, 1}})};
  if (attributes.real_or(Attr::softcap, 0) != 0) {
    nest.per_point[Count::divide] += 1;
    nest.per_point[Count::tanh] += 1;
    nest.per_point[Count::multiply] += 1;
  }
  if (attributes.integer_or(Attr::is_causal, 0) != 0) nest.per_point[Count::compare] += 1;
  if (attention.site.has_input(attention.mask)) {
    const TensorType& mask = *attention.site.inputs[attention.mask];
    nest.per_point[mask.format.element == ElementType::boolean ? Count::logic : Count::add] += 1;
    nest.reads.push_back(read_input(attention.mask, broadcast_axes(mask.shape, attention.all_scores())));
  }
  return nest;
}

}  // namespace

OperatorNests attention_nests(const OperatorSite& site) {
  constexpr std::size_t row_maximum = 1;
  constexpr std::size_t row_sum = 2;
  const AttentionSite attention{.site = site, .first = 0, .mask = 3};
  const Format format = site.outputs[0]->format;
  const auto score = [] { return read_scratch(scores_scratch, identity_axes(4)); };
  const auto of_row = [](std::size_t scratch) { return read_scratch(scratch, identity_axes(3)); };
  Nest maximum{.loops = attention.score_loops(),
               .reads = {score()},
               .writes = {write_scratch(row_maximum, identity_axes(3), true)},
               .per_point = counts_of({{Count::compare, 1}})};
  Nest exponential{
      .loops = attention.score_loops(),
      .reads = {score(), of_row(row_maximum)},
      .writes = {write_scratch(scores_scratch, identity_axes(4)), write_scratch(row_sum, identity_axes(3), true)},
      .per_point = counts_of({{Count::exp, 1}, {Count::add, 2}})};
  Nest division{.loops = attention.score_loops(),
                .reads = {score(), of_row(row_sum)},
                .writes = {write_scratch(scores_scratch, identity_axes(4))},
                .per_point = counts_of({{Count::divide, 1}})};
  Nest weighted_value =
      product(attention.loops(attention.query()[2], {{Dim::K, attention.value()[3]}, {Dim::C, attention.keys()}}),
              read_scratch(scores_scratch, AttentionSite::own(2, 4)), read_input(2, attention.shared(4, 3)),
              write_output(0, identity_axes(4), true));
  OperatorNests result{
      .nests = {query_key(attention), scale_and_mask(attention), std::move(maximum), std::move(exponential),
                std::move(division), std::move(weighted_value)},
      .scratch = {{attention.all_scores(), format}, {attention.rows(), format}, {attention.rows(), format}}};
  if (site.has_output(1)) {
    result.nests.push_back({.loops = attention.loops(attention.query()[2], {}),
                            .reads = {of_row(row_maximum), of_row(row_sum)},
                            .writes = {write_output(1, identity_axes(3))},
                            .per_point = counts_of({{Count::log, 1}, {Count::add, 1}})});
  }
  return result;
}

namespace {

// Five products where the forward operator has two: the scores anew, dP = dY·Vᵀ, dV = Pᵀ·dY, dQ = dS·K, dK = dSᵀ·Q.
class AttentionGradient {
 public:
  explicit AttentionGradient(const OperatorSite& site)
      : site_(site),
        attention_{.site = site, .first = 1, .mask = 6},
        queries_(attention_.query()[2]),
        keys_(attention_.keys()),
        channels_(attention_.query()[3]),
        values_(attention_.value()[3]),
        capped_(site.attributes.real_or(Attr::softcap, 0) != 0) {}

  OperatorNests nests() const {
    const Format format = site_.inputs[1]->format;
    const TensorType of_scores{attention_.all_scores(), format};
    OperatorNests result{.nests = {row_dots(), query_key(attention_), probabilities()},
                         .scratch = {of_scores, of_scores, {attention_.rows(), format}}};
    if (capped_) result.scratch.push_back(of_scores);
    std::vector<Nest>& nests = result.nests;
    if (site_.has_output(2)) nests.push_back(value_gradient());
    nests.push_back(probability_gradients());
    nests.push_back(score_gradients());
    if (site_.has_output(3)) nests.push_back(mask_gradient());
    nests.push_back(scaled_score_gradients());
    nests.push_back(query_gradient());
    if (site_.has_output(1)) nests.push_back(key_gradient());
    return result;
  }

 private:
  // Scratch besides the scores, which become probabilities.
  static constexpr std::size_t score_gradient = 1;
  static constexpr std::size_t row_dot = 2;
  static constexpr std::size_t slope = 3;  // of the cap, where there is one

  static Access at_score(std::size_t scratch) { return read_scratch(scratch, identity_axes(4)); }

  // rowsum(dY ∘ Y)
  Nest row_dots() const {
    return {.loops = attention_.loops(queries_, {{Dim::K, values_}}),
            .reads = {read_input(0, identity_axes(4)), read_input(4, identity_axes(4))},
            .writes = {write_scratch(row_dot, identity_axes(3), true)},
            .per_point = counts_of({{Count::multiply, 1}, {Count::add, 1}})};
  }

  // P = exp(S − log-sum-exp)
  Nest probabilities() const {
    Nest nest = scale_and_mask(attention_);
    nest.reads.push_back(read_input(5, identity_axes(3)));
    nest.per_point[Count::add] += 1;
    nest.per_point[Count::exp] += 1;
    if (!capped_) return nest;
    // 1 − tanh²
    nest.writes.push_back(write_scratch(slope, identity_axes(4)));
    nest.per_point[Count::multiply] += 1;
    nest.per_point[Count::add] += 1;
    return nest;
  }

  Nest value_gradient() const {
    return product(attention_.loops(keys_, {{Dim::K, values_}, {Dim::C, queries_}}),
                   read_scratch(scores_scratch, AttentionSite::own(4, 2)), read_input(0, AttentionSite::own(4, 3)),
                   write_output(2, attention_.shared(2, 3), true));
  }

  Nest probability_gradients() const {
    return product(attention_.loops(queries_, {{Dim::K, keys_}, {Dim::C, values_}}),
                   read_input(0, AttentionSite::own(2, 4)), read_input(3, attention_.shared(3, 4)),
                   write_scratch(score_gradient, identity_axes(4), true));
  }

  // dS = P ∘ (dP − rowsum)
  Nest score_gradients() const {
    return {.loops = attention_.score_loops(),
            .reads = {at_score(scores_scratch), at_score(score_gradient), read_scratch(row_dot, identity_axes(3))},
            .writes = {write_scratch(score_gradient, identity_axes(4))},
            .per_point = counts_of({{Count::add, 1}, {Count::multiply, 1}})};
  }

  Nest mask_gradient() const {
    return {.loops = attention_.score_loops(),
            .reads = {at_score(score_gradient)},
            .writes = {write_output(3, broadcast_axes(site_.out(3), attention_.all_scores()), true)},
            .per_point = counts_of({{Count::add, 1}})};
  }

  // Through the cap and the scale.
  Nest scaled_score_gradients() const {
    Nest nest{.loops = attention_.score_loops(),
              .reads = {at_score(score_gradient)},
              .writes = {write_scratch(score_gradient, identity_axes(4))},
              .per_point = counts_of({{Count::multiply, capped_ ? 2 : 1}})};
    if (capped_) nest.reads.push_back(at_score(slope));
    return nest;
  }

  Nest query_gradient() const {
    return product(attention_.loops(queries_, {{Dim::K, channels_}, {Dim::C, keys_}}),
                   read_scratch(score_gradient, AttentionSite::own(2, 4)), read_input(2, attention_.shared(4, 3)),
                   write_output(0, identity_axes(4), true));
  }

  Nest key_gradient() const {
    return product(attention_.loops(keys_, {{Dim::K, channels_}, {Dim::C, queries_}}),
                   read_scratch(score_gradient, AttentionSite::own(4, 2)), read_input(1, AttentionSite::own(4, 3)),
                   write_output(1, attention_.shared(2, 3), true));
  }

  const OperatorSite& site_;
  AttentionSite attention_;
  std::int64_t queries_;
  std::int64_t keys_;
  std::int64_t channels_;
  std::int64_t values_;
  bool capped_;
};

}  // namespace

OperatorNests attention_grad_nests(const OperatorSite& site) { return AttentionGradient(site).nests(); }

}  // namespace monet
