#include "graph/nests.h"

namespace monet {

namespace {

constexpr std::array output_names = {Dim::OZ, Dim::OY, Dim::OX};
constexpr std::array filter_names = {Dim::FZ, Dim::FY, Dim::FX};

// Loops over every place of the window and every element in it: B, K, O…, F….
std::vector<Loop> window_loops(const OperatorSite& site, const Shape& places) {
  const auto& kernel = site.attributes.integers(Attr::kernel_shape);
  const std::size_t unused = 3 - kernel.size();
  std::vector<Loop> loops = {{Dim::B, places[0]}, {Dim::K, places[1]}};
  for (std::size_t i = 0; i < kernel.size(); ++i) loops.push_back({output_names[unused + i], places[i + 2]});
  for (std::size_t i = 0; i < kernel.size(); ++i) loops.push_back({filter_names[unused + i], kernel[i]});
  return loops;
}

// The element under the window, in the tensor that it slides over.
std::vector<AxisIndex> under_window(const OperatorSite& site) {
  const Attributes& attributes = site.attributes;
  const std::size_t spatial = attributes.integers(Attr::kernel_shape).size();
  std::vector<AxisIndex> axes = {at_loop(0), at_loop(1)};
  for (std::size_t i = 0; i < spatial; ++i) {
    AxisIndex index = at_loop(i + 2, attributes.integers(Attr::strides)[i], -attributes.integers(Attr::pads)[i]);
    index.terms.push_back({static_cast<std::uint8_t>(i + 2 + spatial), attributes.integers(Attr::dilations)[i]});
    axes.push_back(std::move(index));
  }
  return axes;
}

// |x|^p, by multiplications where p is 1 or 2.
Counts raised(std::int64_t p) {
  if (p == 1) return counts_of({{Count::compare, 1}, {Count::add, 1}});
  return counts_of({{p == 2 ? Count::multiply : Count::power, 1}, {Count::add, 1}});
}

Nest for_each_output(const OperatorSite& site, Counts per_point) {
  const Shape& shape = site.attributes.integers(Attr::shape);
  const std::vector<AxisIndex> axes = identity_axes(shape.size());
  return {.loops = loops_over(shape),
          .reads = {read_output(0, axes)},
          .writes = {write_output(0, axes)},
          .per_point = per_point};
}

OperatorNests average_pool_gradient(const OperatorSite& site) {
  const std::vector<AxisIndex> places = identity_axes(site.in(0).size());
  Nest scale{.loops = loops_over(site.in(0)),
             .reads = {read_input(0, places)},
             .writes = {write_scratch(0, places)},
             .per_point = counts_of({{Count::multiply, 1}})};
  Nest spread{.loops = window_loops(site, site.in(0)),
              .reads = {read_scratch(0, places)},
              .writes = {write_output(0, under_window(site), true)},
              .per_point = counts_of({{Count::add, 1}})};
  return {.nests = {std::move(scale), std::move(spread)}, .scratch = {*site.inputs[0]}};
}

}  // namespace

OperatorNests pool_nests(const OperatorSite& site) {
  if (site.op == Op::AveragePoolGrad) return average_pool_gradient(site);
  const std::vector<AxisIndex> places = identity_axes(site.in(0).size());
  Nest window{.loops = window_loops(site, site.attributes.integers(Attr::shape)),
              .reads = {read_input(0, under_window(site))},
              .writes = {},
              .per_point = {}};
  for (std::size_t i = 0; i < 2; ++i) {
    if (site.has_output(i)) window.writes.push_back(write_output(i, places, true));
  }
  switch (site.op) {
    case Op::MaxPool:
      window.per_point = counts_of({{Count::compare, 1}});
      return {.nests = {std::move(window)}, .scratch = {}};
    case Op::AveragePool:
      window.per_point = counts_of({{Count::add, 1}});
      return {.nests = {std::move(window), for_each_output(site, counts_of({{Count::multiply, 1}}))}, .scratch = {}};
    default: {
      const std::int64_t p = site.attributes.integer(Attr::p);
      window.per_point = raised(p);
      if (p == 1) return {.nests = {std::move(window)}, .scratch = {}};
      const Counts root = counts_of({{p == 2 ? Count::sqrt : Count::power, 1}});
      return {.nests = {std::move(window), for_each_output(site, root)}, .scratch = {}};
    }
  }
}

}  // namespace monet
