#include "graph/nests.h"

namespace monet {

namespace {

// The last `count` of the three names for a kind of position.
Dim position_name(Dim depth, std::size_t axis, std::size_t count) {
  return static_cast<Dim>(static_cast<std::size_t>(depth) + 3 - count + axis);
}

// Loops under construction; each push gives the loop's number.
class Loops {
 public:
  std::size_t push(Dim name, std::int64_t size) {
    loops_.push_back({name, size});
    return loops_.size() - 1;
  }
  std::vector<Loop> take() { return std::move(loops_); }

 private:
  std::vector<Loop> loops_;
};

// A channel by its place in its group.
struct Channel {
  std::size_t loop;
  std::int64_t per_group;
};

AxisIndex channel_index(std::optional<std::size_t> group_loop, const Channel& channel) {
  AxisIndex index = at_loop(channel.loop);
  if (group_loop) {
    index.terms.insert(index.terms.begin(), {static_cast<std::uint8_t>(*group_loop), channel.per_group});
  }
  return index;
}

// The weights are the result: each of their elements is a sum over the batch and the places of the window.
Nest weight_grad_nest(const OperatorSite& site) {
  const std::int64_t group = site.attributes.integer(Attr::group);
  const Shape& x = site.in(0);
  const Shape& y = site.in(1);
  const Shape& w = site.out(0);
  const std::size_t spatial = x.size() - 2;

  Loops loops;
  std::optional<std::size_t> group_loop;
  if (group != 1) group_loop = loops.push(Dim::G, group);
  const Channel output{loops.push(Dim::K, w[0] / group), w[0] / group};
  const Channel input{loops.push(Dim::C, w[1]), w[1]};
  std::vector<std::size_t> filter;
  for (std::size_t i = 0; i < spatial; ++i) {
    filter.push_back(loops.push(position_name(Dim::FZ, i, spatial), w[2 + i]));
  }
  const std::size_t batch = loops.push(Dim::B, x[0]);
  std::vector<AxisIndex> x_axes = {at_loop(batch), channel_index(group_loop, input)};
  std::vector<AxisIndex> y_axes = {at_loop(batch), channel_index(group_loop, output)};
  std::vector<AxisIndex> w_axes = {channel_index(group_loop, output), at_loop(input.loop)};
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::size_t position = loops.push(position_name(Dim::OZ, i, spatial), y[2 + i]);
    AxisIndex index =
        at_loop(position, site.attributes.integers(Attr::strides)[i], -site.attributes.integers(Attr::pads)[i]);
    index.terms.push_back({static_cast<std::uint8_t>(filter[i]), site.attributes.integers(Attr::dilations)[i]});
    x_axes.push_back(std::move(index));
    y_axes.push_back(at_loop(position));
    w_axes.push_back(at_loop(filter[i]));
  }
  return {.loops = loops.take(),
          .reads = {read_input(0, std::move(x_axes)), read_input(1, std::move(y_axes))},
          .writes = {write_output(0, std::move(w_axes), true)},
          .per_point = counts_of({{Count::mac, 1}})};
}

// Conv walks over output positions and reads the input at position * stride + filter * dilation - pad; ConvTranspose
// walks over input positions and writes the output there.
Nest convolution_nest(const OperatorSite& site) {
  const bool transposed = site.op == Op::ConvTranspose;
  const std::int64_t group = site.attributes.integer(Attr::group);
  const Shape& x = site.in(0);
  const Shape& w = site.in(1);
  const Shape& y = site.out(0);
  const std::size_t spatial = x.size() - 2;

  Loops loops;
  const std::size_t batch = loops.push(Dim::B, y[0]);
  std::optional<std::size_t> group_loop;
  if (group != 1) group_loop = loops.push(Dim::G, group);
  Channel output{0, y[1] / group};
  Channel input{0, x[1] / group};
  output.loop = loops.push(Dim::K, output.per_group);
  input.loop = loops.push(Dim::C, input.per_group);
  const Shape& walked = transposed ? x : y;
  std::vector<std::size_t> position;
  for (std::size_t i = 0; i < spatial; ++i) {
    const Dim name = position_name(transposed ? Dim::IZ : Dim::OZ, i, spatial);
    position.push_back(loops.push(name, walked[2 + i]));
  }
  std::vector<std::size_t> filter;
  for (std::size_t i = 0; i < spatial; ++i) {
    filter.push_back(loops.push(position_name(Dim::FZ, i, spatial), w[2 + i]));
  }

  std::vector<AxisIndex> x_axes = {at_loop(batch), channel_index(group_loop, input)};
  std::vector<AxisIndex> y_axes = {at_loop(batch), channel_index(group_loop, output)};
  std::vector<AxisIndex> w_axes = transposed ? std::vector{channel_index(group_loop, input), at_loop(output.loop)}
                                             : std::vector{channel_index(group_loop, output), at_loop(input.loop)};
  std::vector<AxisIndex>& stepping = transposed ? y_axes : x_axes;
  std::vector<AxisIndex>& walking = transposed ? x_axes : y_axes;
  for (std::size_t i = 0; i < spatial; ++i) {
    AxisIndex index =
        at_loop(position[i], site.attributes.integers(Attr::strides)[i], -site.attributes.integers(Attr::pads)[i]);
    index.terms.push_back({static_cast<std::uint8_t>(filter[i]), site.attributes.integers(Attr::dilations)[i]});
    stepping.push_back(std::move(index));
    walking.push_back(at_loop(position[i]));
    w_axes.push_back(at_loop(filter[i]));
  }
  return {.loops = loops.take(),
          .reads = {read_input(0, std::move(x_axes)), read_input(1, std::move(w_axes))},
          .writes = {write_output(0, std::move(y_axes), true)},
          .per_point = counts_of({{Count::mac, 1}})};
}

Nest bias_nest(const OperatorSite& site) {
  const Shape& y = site.out(0);
  Loops loops;
  loops.push(Dim::B, y[0]);
  const std::size_t channel = loops.push(Dim::K, y[1]);
  for (std::size_t i = 2; i < y.size(); ++i) loops.push(position_name(Dim::OZ, i - 2, y.size() - 2), y[i]);
  return {.loops = loops.take(),
          .reads = {read_input(2, {at_loop(channel)})},
          .writes = {write_output(0, identity_axes(y.size()), true)},
          .per_point = counts_of({{Count::add, 1}})};
}

}  // namespace

OperatorNests convolution_nests(const OperatorSite& site) {
  if (site.op == Op::ConvWeightGrad) return {.nests = {weight_grad_nest(site)}, .scratch = {}};
  OperatorNests result{.nests = {convolution_nest(site)}, .scratch = {}};
  if (site.has_input(2)) result.nests.push_back(bias_nest(site));
  return result;
}

}  // namespace monet
