#include "graph/nests.h"

namespace monet {

namespace {

// All of the operand at once.
std::vector<AxisIndex> whole(const Shape& shape) {
  std::vector<AxisIndex> axes;
  for (std::int64_t size : shape) {
    axes.push_back(size == 0 ? at_any(0) : AxisIndex{.terms = {}, .offset = 0, .divisor = 1, .span = size});
  }
  return axes;
}

}  // namespace

// One point, at which everything is read and written: nothing is known of the order.
OperatorNests custom_nests(const OperatorSite& site) {
  Nest nest;
  for (std::size_t i = 0; i < site.inputs.size(); ++i) {
    if (site.has_input(i)) nest.reads.push_back(read_input(i, whole(site.in(i))));
  }
  for (std::size_t i = 0; i < site.outputs.size(); ++i) {
    if (site.has_output(i)) nest.writes.push_back(write_output(i, whole(site.out(i))));
  }
  return {.nests = {std::move(nest)}, .scratch = {}};
}

}  // namespace monet
