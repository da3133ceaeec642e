#include "graph/nests/optimizer.h"
#include "graph/optimizer_layout.h"

namespace monet::optimizer {

namespace {

using enum Count;
using Indices = std::vector<AxisIndex>;

// g / √max(estimate, ε²)
const Counts normalize = counts_of({{compare, 1}, {sqrt, 1}, {divide, 1}});
const Counts add_square = counts_of({{multiply, 1}, {add, 1}});
// old + weight · (now − old)
const Counts lerp_counts = counts_of({{multiply, 1}, {add, 2}});

class Adafactor {
 public:
  explicit Adafactor(const OperatorSite& site)
      : site_(site), layout_(optimizer_layout(site.op)), all_(identity_axes(site.in(0).size())) {}

  OperatorNests build() {
    update_ = scratch(site_.in(0));
    update_square_ = scratch({});
    parameter_square_ = scratch({});
    rate_ = scratch({});
    if (site_.op == Op::AdafactorUpdate) {
      row_and_column();
    } else {
      whole_moment();
    }
    parameter_norm();
    apply();
    return std::move(result_);
  }

 private:
  std::size_t scratch(Shape shape) {
    result_.scratch.push_back({std::move(shape), site_.inputs[0]->format});
    return result_.scratch.size() - 1;
  }

  void nest(const Shape& over, std::vector<Access> reads, std::vector<Access> writes, Counts counts) {
    result_.nests.push_back({loops_over(over), std::move(reads), std::move(writes), counts});
  }

  std::vector<Access> with_gradient(std::vector<Access> reads) const {
    read_gradient(site_, reads);
    return reads;
  }
  Access decay_rate() const { return read_scalar(layout_.scalar(2)); }

  // Means of squares by row and by column, their running means, and the update with its norm.
  void row_and_column() {
    const Shape& full = site_.in(0);
    const auto last = static_cast<std::int64_t>(full.size()) - 1;
    Shape matrix = site_.in(2);
    matrix[full.size() - 2] = 1;
    const std::size_t sums[2] = {scratch(site_.in(2)), scratch(site_.in(3))};
    const std::size_t mean = scratch(matrix);
    const std::vector<std::int64_t> reduced[2] = {{last}, {last - 1}};
    const std::vector<std::int64_t> both = {last - 1, last};
    const std::size_t rank = full.size();

    nest(full, with_gradient({}),
         {write_scratch(sums[0], reduced_axes(rank, reduced[0]), true),
          write_scratch(sums[1], reduced_axes(rank, reduced[1]), true)},
         counts_of({{multiply, 1}, {add, 2}}) + factor_counts(site_));
    for (std::size_t i = 0; i < 2; ++i) {
      nest(site_.in(2 + i), {read_input(2 + i, all_), read_scratch(sums[i], all_), decay_rate()},
           {state(i, sums[i], all_)}, counts_of({{multiply, 1}}) + lerp_counts);
    }
    nest(site_.in(2), {state(0, sums[0], all_)}, {write_scratch(mean, reduced_axes(rank, reduced[1]), true)},
         counts_of({{add, 1}}));
    nest(matrix, {read_scratch(mean, all_)}, {write_scratch(mean, all_)}, counts_of({{multiply, 1}, {compare, 1}}));
    nest(full,
         with_gradient({state(0, sums[0], reduced_axes(rank, reduced[0])),
                        state(1, sums[1], reduced_axes(rank, reduced[1])),
                        read_scratch(mean, reduced_axes(rank, both))}),
         {write_scratch(update_, all_), write_scratch(update_square_, {}, true)},
         counts_of({{multiply, 1}, {divide, 1}}) + normalize + add_square + factor_counts(site_));
  }

  // The new running mean: an output, or in place of the sums if nobody wants it.
  Access state(std::size_t i, std::size_t sums, Indices axes) const {
    return site_.has_output(1 + i) ? write_output(1 + i, std::move(axes)) : write_scratch(sums, std::move(axes));
  }

  void whole_moment() {
    std::vector<Access> writes = {write_scratch(update_, all_), write_scratch(update_square_, {}, true)};
    if (site_.has_output(1)) writes.push_back(write_output(1, all_));
    nest(site_.in(0), with_gradient({read_input(2, all_), decay_rate()}), std::move(writes),
         counts_of({{multiply, 1}}) + lerp_counts + normalize + add_square + factor_counts(site_));
  }

  void parameter_norm() {
    nest(site_.in(0), {read_input(0, all_)}, {write_scratch(parameter_square_, {}, true)}, add_square);
  }

  // The length of the step from both norms, then the step.
  void apply() {
    nest({}, {read_scratch(parameter_square_, {}), read_scratch(update_square_, {}), read_scalar(layout_.scalar(1))},
         {write_scratch(rate_, {})}, counts_of({{multiply, 3}, {sqrt, 2}, {compare, 2}, {divide, 1}}));
    std::vector<Access> reads = {read_input(0, all_), read_scratch(update_, all_), read_scratch(rate_, {})};
    if (site_.attributes.real(Attr::weight_decay) != 0) reads.push_back(read_scalar(layout_.scalar(0)));
    nest(site_.in(0), std::move(reads), {write_output(0, all_)},
         counts_of({{multiply, 1}, {add, 1}}) + decay_counts(site_));
  }

  const OperatorSite& site_;
  OptimizerLayout layout_;
  Indices all_;
  OperatorNests result_;
  std::size_t update_ = 0;
  std::size_t update_square_ = 0;
  std::size_t parameter_square_ = 0;
  std::size_t rate_ = 0;
};

}  // namespace

OperatorNests adafactor_nests(const OperatorSite& site) { return Adafactor(site).build(); }

}  // namespace monet::optimizer
