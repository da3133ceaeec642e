// What outlives the step, and what it gives.
#include "evaluate/check/makers.h"
#include "evaluate/check/points.h"
#include "evaluate/check/rules.h"
#include "evaluate/check/storage_element.h"

#include <algorithm>

namespace monet::check {

namespace {

bool is_kept_between_steps(Role role) {
  return role == Role::weight || role == Role::master_weight || role == Role::optimizer_state ||
         role == Role::statistic;
}

class Storage {
 public:
  Storage(const CheckContext& context, const Holdings& holdings)
      : context_(context), holdings_(holdings), graph_(context.graph), walker_(context.graph) {}

  void run() {
    for (const TensorStay& stay : context_.schedule.home) check_size(stay);
    check_kept();
    for (const TensorId output : graph_.outputs) check_result(output);
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (graph_[TensorId(i)].updates.valid()) check_result(TensorId(i));
    }
  }

 private:
  void check_size(const TensorStay& stay) {
    const Tensor& tensor = graph_[stay.tensor];
    const std::int64_t least = context_.bytes_of(stay.tensor, element_count(tensor.type.shape));
    if (stay.bytes >= least) return;
    context_.findings.add("{} stays in {} with {} bytes and has {}", tensor.name, context_.name(stay.memory),
                          stay.bytes, least);
  }

  void check_kept() {
    std::vector<bool> kept(graph_.tensors().size(), false);
    for (const TensorStay& stay : context_.schedule.home) {
      const bool always = context_.not_after(stay.start, 0) && context_.not_after(context_.schedule.cycles, stay.end);
      const bool there = context_.lives_away(stay.tensor) ? stay.memory == context_.away(stay.tensor)
                                                          : context_.is_home[stay.memory.index()];
      if (always && there) kept[stay.tensor.index()] = true;
    }
    // In a part of a step, what only the rest of it reads need not be anywhere.
    std::vector<bool> read(graph_.tensors().size(), false);
    for (const TileRead& part : context_.tiles.reads)
      read[context_.tiles.buffers[part.buffer.index()].tensor.index()] = true;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const TensorId id(i);
      const Tensor& tensor = graph_[id];
      const bool outlives = !tensor.producer.valid() && is_kept_between_steps(tensor.role);
      if (kept[i] || !outlives || !read[i]) continue;
      context_.findings.add("{} outlives the step and is not in {} all the time", tensor.name,
                            context_.lives_away(id) ? context_.name(context_.away(id)) : "home memory");
    }
  }

  // A result is at home when the step ends: all that is stored behind it, or what a view takes of it.
  void check_result(TensorId result) {
    std::vector<TensorId> stored;
    if (collect(result, stored)) {
      for (const TensorId tensor : stored) {
        for (std::size_t i = 0; i < context_.buffers_of(tensor).size() && check_buffer(tensor, i); ++i) {
        }
      }
      return;
    }
    Box box;
    for (const std::int64_t size : graph_[result].type.shape) box.add(0, size);
    Mixer mixer(result.index());
    Shape index;
    visit_points(box, 64, 62, mixer, index, [&](const Shape& at) {
      Element element{.tensor = result, .index = at};
      walker_.to_storage(element);
      const NodeId producer = graph_[element.tensor].producer;
      if (!producer.valid()) return true;
      const auto& outputs = graph_[producer].outputs;
      const auto output = static_cast<std::size_t>(std::ranges::find(outputs, element.tensor) - outputs.begin());
      const auto buffer = Makers(context_, producer, OperandKind::output, output).buffer_of(element.index);
      return !buffer || check_buffer(element.tensor, *buffer);
    });
  }

  // Tensors that are stored behind one. Gives false where a view takes only a part.
  bool collect(TensorId id, std::vector<TensorId>& stored) const {
    const NodeId producer = graph_[id].producer;
    if (!producer.valid() || !context_.is_view(producer)) {
      if (std::ranges::find(stored, id) == stored.end()) stored.push_back(id);
      return true;
    }
    const Node& view = graph_[producer];
    if (view.op == Op::Slice || view.op == Op::Split) return false;
    return std::ranges::all_of(view.inputs, [&](TensorId input) { return collect(input, stored); });
  }

  // Whether it is at home at the end, or where the plan pages it to.
  bool check_buffer(TensorId tensor, std::size_t number) {
    const BufferId buffer(context_.tiles.first_buffer[tensor.index()] + number);
    Need need{.buffer = buffer,
              .start = context_.schedule.cycles,
              .end = context_.schedule.cycles,
              .version = holdings_.complete(buffer),
              .bytes = context_.tiles.buffers[buffer.index()].bytes};
    Found best = Found::no_room;
    const bool away = context_.lives_away(tensor);
    for (std::size_t m = 0; m < context_.is_home.size(); ++m) {
      if (away ? MemoryId(m) != context_.away(tensor) : !context_.is_home[m]) continue;
      need.memory = MemoryId(m);
      const Found found = holdings_.find(need);
      if (found == Found::present) return true;
      best = std::max(best, found);
    }
    context_.findings.add("{} is a result of the step, and in {} it {} at the end", context_.name(buffer),
                          away ? context_.name(context_.away(tensor)) : "home memory", name_of(best));
    return false;
  }

  const CheckContext& context_;
  const Holdings& holdings_;
  const Graph& graph_;
  ViewWalker walker_;
};

}  // namespace

void check_storage(const CheckContext& context, const Holdings& holdings) { Storage(context, holdings).run(); }

}  // namespace monet::check
