#include "kernels/compile/parts.h"

#include <algorithm>

namespace monet::compiling {

namespace {

bool is_loss(Op op) {
  if (family_of(op) != OpFamily::softmax) return false;
  return op != Op::Softmax && op != Op::LogSoftmax && op != Op::SoftmaxGrad && op != Op::LogSoftmaxGrad;
}

PartKind kind_of(const Kernel& kernel) {
  switch (kernel.kind) {
    case KernelKind::layer_norm:
    case KernelKind::softmax:
    case KernelKind::log_softmax: return PartKind::rows;
    case KernelKind::elementwise: break;
    default: return PartKind::library;
  }
  switch (kernel.op) {
    case KernelOp::mean_23: return PartKind::rows;
    case KernelOp::sum:
    case KernelOp::sum_023:
    case KernelOp::sum_rows: return PartKind::columns;
    case KernelOp::max_pool_2:
    case KernelOp::max_pool_2_backward:
    case KernelOp::max_pool_3s2:
    case KernelOp::max_pool_3s2_backward:
    case KernelOp::max_pool_3s1:
    case KernelOp::max_pool_3s1_backward:
    case KernelOp::avg_pool_2:
    case KernelOp::avg_pool_2_backward:
    case KernelOp::avg_pool_3s1:
    case KernelOp::avg_pool_3s1_backward:
    case KernelOp::adaptive_avg_pool_7:
    case KernelOp::embedding_backward: return PartKind::library;
    default: return PartKind::element;
  }
}

Part part_of(const Launch& launch, const Graph& graph) {
  const Kernel& kernel = launch.kernel;
  Part part{.kind = kind_of(kernel), .domain = kernel.elements};
  if (is_loss(graph[launch.cause].op) || launch.phase == Phase::optimizer) part.kind = PartKind::library;
  if (part.kind == PartKind::rows) {
    part.kept = kernel.kind == KernelKind::elementwise ? kernel.columns : kernel.rows;
  } else if (part.kind == PartKind::columns) {
    part.kept = std::max<std::int64_t>(1, kernel.op == KernelOp::sum ? 1 : kernel.columns);
  }
  return part;
}

void add_once(std::vector<std::uint32_t>& list, std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  if (std::ranges::find(list, number) == list.end()) list.push_back(number);
}

}  // namespace

std::vector<Part> parts_of(const LoweredStep& step, const Graph& graph) {
  std::vector<Part> parts;
  for (const Launch& launch : step.launches) parts.push_back(part_of(launch, graph));
  const Order order(step);
  const auto by_loss = [&](std::uint32_t launch) { return is_loss(graph[step.launches[launch].cause].op); };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Launch& launch = step.launches[i];
    if (graph[launch.cause].op != Op::Cast || launch.writes.empty() || launch.reads.empty()) continue;
    const auto& readers = order.readers(launch.writes[0].buffer);
    const auto& writers = order.writers(launch.reads[0].buffer);
    const bool before = !readers.empty() && std::ranges::all_of(readers, by_loss);
    const bool after = !writers.empty() && std::ranges::all_of(writers, by_loss);
    if (before || after) parts[i].kind = PartKind::library;
  }
  return parts;
}

Order::Order(const LoweredStep& step)
    : after_(step.launches.size()), readers_(step.buffers.size()), writers_(step.buffers.size()) {
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const Launch& launch = step.launches[i];
    for (const Touch& read : launch.reads) {
      const auto& writers = writers_[read.buffer.index()];
      if (!writers.empty() && writers.back() != i) add_once(after_[writers.back()], i);
    }
    for (const Touch& write : launch.writes) {
      for (const auto* list : {&writers_[write.buffer.index()], &readers_[write.buffer.index()]}) {
        for (std::uint32_t each : *list) add_once(after_[each], i);
      }
    }
    for (const Touch& read : launch.reads) add_once(readers_[read.buffer.index()], i);
    for (const Touch& write : launch.writes) add_once(writers_[write.buffer.index()], i);
  }
}

}  // namespace monet::compiling
