#include "graph/expand.h"
#include "graph/expand/window_counts.h"

#include <algorithm>

namespace monet {

namespace {

using Integers = std::vector<std::int64_t>;

// The window slides over dX as it did over X and leaves its share everywhere: a transposed convolution with ones, the
// channels treated as further samples. What its last places leave outside X (rounded up sizes) is cut off as padding.
void average_pool_grad(Expansion& e) {
  const Attributes& pool = e.attributes();
  const Shape& wide = pool.integers(Attr::shape);
  const Shape narrow = e.input_shape(0);
  const std::size_t spatial = wide.size() - 2;
  Integers pads = pool.integers(Attr::pads);
  Integers output_padding;
  Shape planes = {narrow[0] * narrow[1], 1};
  Shape kernel = {1, 1};
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t size = pool.integers(Attr::kernel_shape)[i];
    const std::int64_t reach = (size - 1) * pool.integers(Attr::dilations)[i] + 1;
    const std::int64_t written = (narrow[2 + i] - 1) * pool.integers(Attr::strides)[i] + reach;
    const std::int64_t beyond = written - pads[i] - wide[2 + i];
    pads[spatial + i] = std::max<std::int64_t>(beyond, 0);
    output_padding.push_back(std::max<std::int64_t>(-beyond, 0));
    planes.push_back(narrow[2 + i]);
    kernel.push_back(size);
  }
  const bool with_padding = pool.integer(Attr::count_include_pad) != 0;
  const TensorId share = e.over(e.input(0), window_counts(e, pool, wide, narrow, with_padding, e.input(0)));
  const Constant ones{.type = e.type(e.input(0)),
                      .shape = std::move(kernel),
                      .pattern = Constant::Pattern::uniform,
                      .diagonal = 0,
                      .values = std::vector<double>{1}};
  const TensorId spread = e.add(Op::ConvTranspose, {e.reshape(share, planes), e.builder().constant("ones", ones)},
                                {{Attr::strides, pool.integers(Attr::strides)},
                                 {Attr::dilations, pool.integers(Attr::dilations)},
                                 {Attr::pads, std::move(pads)},
                                 {Attr::group, std::int64_t{1}},
                                 {Attr::output_padding, std::move(output_padding)}});
  e.output(0, e.reshape(spread, wide));
}

}  // namespace

ExpansionRule pool_expansion(Op op) {
  switch (op) {
    case Op::AveragePoolGrad: return average_pool_grad;
    default: return nullptr;
  }
}

}  // namespace monet
