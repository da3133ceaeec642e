#include "graph/nests/optimizer.h"
#include "graph/optimizer_layout.h"

namespace monet::optimizer {

namespace {

using enum Count;

// The block of each element: neighbours in memory share one.
std::vector<AxisIndex> block_of(const Shape& shape, std::int64_t size) {
  AxisIndex block{.terms = {}, .divisor = size};
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    block.terms.push_back({static_cast<std::uint8_t>(i), stride});
    stride *= shape[i];
  }
  return {block};
}

}  // namespace

// A code is read from its table and scaled: one multiplication; the nearest code takes one comparison for each of its
// eight bits after a division. A block's codes need its maximum, so the new moments pass from one nest to the next.
OperatorNests adam8bit_nests(const OperatorSite& site) {
  const OptimizerLayout layout = optimizer_layout(site.op);
  const std::vector<AxisIndex> all = identity_axes(site.in(0).size());
  const std::vector<AxisIndex> block = block_of(site.in(0), site.attributes.integer(Attr::size));
  OperatorNests result;
  const auto scratch = [&](const TensorType& type) {
    result.scratch.push_back(type);
    return result.scratch.size() - 1;
  };
  Nest step{
      .loops = loops_over(site.in(0)),
      .reads = {read_input(0, all), read_input(2, all), read_input(3, all), read_input(4, block), read_input(5, block)},
      .writes = {write_output(0, all)},
      .per_point = counts_of({{multiply, 2}}) + adam_counts() + decay_counts(site) + factor_counts(site)};
  read_gradient(site, step.reads);
  for (std::size_t i = 0; i < layout.scalars; ++i) step.reads.push_back(read_scalar(layout.scalar(i)));
  Nest encode{.loops = step.loops, .reads = {}, .writes = {}, .per_point = {}};
  for (std::size_t moment = 0; moment < 2; ++moment) {
    const std::size_t codes = 1 + moment;
    const std::size_t maxima = 3 + moment;
    if (!site.has_output(codes) && !site.has_output(maxima)) continue;
    Access maximum =
        site.has_output(maxima) ? write_output(maxima, block) : write_scratch(scratch(*site.inputs[4 + moment]), block);
    if (site.has_output(codes)) {
      const std::size_t values = scratch(*site.inputs[0]);
      step.writes.push_back(write_scratch(values, all));
      encode.reads.push_back(read_scratch(values, all));
      encode.reads.push_back(maximum);
      encode.writes.push_back(write_output(codes, all));
      encode.per_point[compare] += 8;
      encode.per_point[divide] += 1;
    }
    maximum.accumulate = true;
    step.writes.push_back(std::move(maximum));
    step.per_point[compare] += 2;  // magnitude, maximum
  }
  result.nests.push_back(std::move(step));
  if (!encode.writes.empty()) result.nests.push_back(std::move(encode));
  return result;
}

}  // namespace monet::optimizer
