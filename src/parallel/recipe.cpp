#include "parallel/recipe.h"

#include "base/try.h"
#include "parallel/cut.h"
#include "parallel/prepare.h"
#include "parallel/tensor_parallel.h"
#include "parallel/tidy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace monet::parallel {

namespace {

constexpr std::int64_t most_chips = std::int64_t{1} << 30;
constexpr std::string_view known_words =
    "tp=N, dp=N, pp=N, zero=0|1|2|3, sequence=on|off, overlap=on|off, recompute=none|selective|blocks, schedule=NAME, "
    "chunks=N and cut=balanced|equal|N+N+…";

Error wrong(std::string message) {
  return {.message = std::move(message),
          .place = "--parallel",
          .advice = fmt::format("words are {}, with commas between them", known_words)};
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::int64_t ParallelOptions::size(std::string_view axis) const {
  const auto found = mesh.find(axis);
  return found ? mesh.axes[*found].size : 1;
}

Expected<ParallelOptions> parse_parallel(std::string_view text) {
  ParallelOptions options;
  options.mesh.axes = {{"dp", 1}, {"tp", 1}};
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t at = word.find('=');
    const std::string_view key = word.substr(0, at);
    const std::string_view value = at == std::string_view::npos ? std::string_view() : word.substr(at + 1);
    if (!seen.insert(key).second) return wrong(fmt::format("'{}' is said twice", key));
    if (key == "sequence" || key == "overlap") {
      if (value != "on" && value != "off") return wrong(fmt::format("{} is on or off, not '{}'", key, value));
      (key == "sequence" ? options.sequence : options.overlap) = value == "on";
      continue;
    }
    const auto axis = options.mesh.find(key);
    const auto number = number_of(value);
    if (key != "zero" && !axis) return wrong(fmt::format("'{}' is no word of it", word));
    if (!number) return wrong(fmt::format("{} needs a whole number, not '{}'", key, value));
    if (key == "zero") {
      if (*number < 0 || *number > 3) return wrong(fmt::format("there is no zero={}", *number));
      options.zero = static_cast<int>(*number);
      continue;
    }
    if (*number < 1 || *number > most_chips) return wrong(fmt::format("{}={} chips are not possible", key, *number));
    options.mesh.axes[*axis].size = *number;
    options.dp_said = options.dp_said || key == "dp";
  }
  if (options.size("dp") > most_chips / options.size("tp")) return wrong("so many chips cannot be counted");
  return options;
}

std::string to_text(const ParallelOptions& options) {
  std::string text;
  for (const MeshAxis& axis : options.mesh.axes) text += fmt::format("{}={},", axis.name, axis.size);
  text += fmt::format("zero={}", options.zero);
  if (options.sequence) text += ",sequence=on";
  if (!options.overlap) text += ",overlap=off";
  return text;
}

Expected<ParallelOptions> with_all_chips(ParallelOptions options, std::int64_t chips) {
  const std::int64_t so_far = options.mesh.chips();
  if (so_far == chips) return options;
  if (options.dp_said || so_far > chips || chips % so_far != 0) {
    return Error{.message = fmt::format("{} makes {} chips, and there are {}", to_text(options), so_far, chips),
                 .place = "--chips",
                 .advice = "leave dp out of --parallel, or choose sizes whose product is that number"};
  }
  options.mesh.axes[*options.mesh.find("dp")].size = chips / so_far;
  return options;
}

namespace {

// Inputs that are given anew for each sample: those as long as the first along their first axis.
std::vector<TensorId> batched_inputs(const Graph& step) {
  std::vector<TensorId> result;
  for (TensorId id : step.inputs) {
    const Shape& shape = step[id].type.shape;
    if (shape.empty()) continue;
    if (!result.empty() && shape[0] != step[result[0]].type.shape[0]) continue;
    result.push_back(id);
  }
  return result;
}

// Where what the optimizer keeps of a tensor can be cut: the first axis that divides; inside the blocks of one that is
// cut in blocks already.
std::optional<Place> first_cut(const Tensor& tensor, std::int64_t chips, const std::vector<AxisLayout>& layouts) {
  for (std::size_t axis = 0; axis < tensor.type.shape.size(); ++axis) {
    Place place = Place::sharded(axis);
    for (const AxisLayout& layout : layouts) {
      const auto found = layout.places.find(tensor.name);
      if (found != layout.places.end() && found->second.is_sharded() && found->second.axis == axis)
        place.blocks = found->second.blocks;
    }
    if (fits(tensor.type.shape, place, chips)) return place;
  }
  return std::nullopt;
}

// States, gradients and weights of one parameter each, as far as `zero` says.
void shard_optimizer(const Graph& step, int zero, AxisPlan& plan, const std::vector<AxisLayout>& layouts,
                     std::vector<std::string>& notes) {
  std::size_t whole = 0;
  for (const Node& node : step.nodes()) {
    if (family_of(node.op) != OpFamily::optimizer) continue;
    const Tensor& parameter = step[node.inputs[0]];
    const auto place = first_cut(parameter, plan.chips, layouts);
    if (!place) {
      ++whole;
      continue;
    }
    for (TensorId id : node.inputs) {
      if (!id.valid() || step[id].producer.valid() || step[id].role != Role::optimizer_state) continue;
      if (step[id].type.shape == parameter.type.shape) plan.stored.emplace(step[id].name, *place);
    }
    const Tensor& gradient = step[node.inputs[1]];
    plan.preferred.emplace(gradient.name, *place);
    if (gradient.updates.valid() && zero >= 2) plan.stored.emplace(step[gradient.updates].name, *place);
    if (zero < 3) continue;
    plan.stored.emplace(parameter.name, *place);
    plan.gathered.push_back(parameter.name);
  }
  if (whole == 0) return;
  notes.push_back(
      fmt::format("{} parameter{} no axis that {} divides: what the optimizer keeps of {} is whole on every "
                  "chip of dp",
                  whole, whole == 1 ? " has" : "s have", plan.chips, whole == 1 ? "it" : "them"));
}

Expected<AxisPlan> data_parallel(const Graph& step, std::int64_t chips, int zero,
                                 const std::vector<AxisLayout>& layouts, std::vector<std::string>& notes) {
  AxisPlan plan;
  plan.axis = "dp";
  plan.chips = chips;
  plan.gathers_activations = false;
  plan.gathers_again = zero >= 3;
  for (TensorId id : batched_inputs(step)) {
    const Tensor& tensor = step[id];
    if (!fits(tensor.type.shape, Place::sharded(0), chips)) {
      return Error{.message = fmt::format("a batch of {} cannot be divided over the {} chips of dp",
                                          tensor.type.shape[0], chips),
                   .place = tensor.name,
                   .advice = fmt::format("choose a --batch that {} divides, or fewer chips for dp", chips)};
    }
    plan.stored.emplace(tensor.name, Place::sharded(0));
  }
  if (zero >= 1) shard_optimizer(step, zero, plan, layouts, notes);
  return plan;
}

// Where tensors would be if tokens were split wherever they can be: from inputs on, and back from those that are added
// to such tensors. Sums over tp go there.
Places token_places(const Graph& step, const AxisPlan& plan) {
  std::vector<std::optional<Place>> at(step.tensors().size());
  for (TensorId id : step.inputs) {
    const auto found = plan.stored.find(step[id].name);
    if (found != plan.stored.end()) at[id.index()] = found->second;
  }
  const auto join = [&](const Node& node, const Cut& own) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (id.valid() && own.inputs[i].is_sharded() && !at[id.index()]) at[id.index()] = own.inputs[i];
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id.valid() && own.outputs[i].is_sharded() && !at[id.index()]) at[id.index()] = own.outputs[i];
    }
  };
  const auto look = [&](const Node& node, const std::vector<TensorId>& ids, bool output) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!ids[i].valid() || !at[ids[i].index()]) continue;
      const auto own = cut(step, node, plan.chips, {.output = output, .operand = i, .place = *at[ids[i].index()]});
      if (own) join(node, *own);
      return;
    }
  };
  for (const Node& node : step.nodes()) look(node, node.inputs, false);
  for (std::size_t i = step.nodes().size(); i-- > 0;) {
    const Node& node = step.nodes()[i];
    if (family_of(node.op) != OpFamily::view) look(node, node.outputs, true);
  }
  Places places;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] && step.tensors()[i].producer.valid()) places.emplace(step.tensors()[i].name, *at[i]);
  }
  return places;
}

// Tokens: the second axis of what is given for each sample, as long as that of the first such input.
Status split_tokens(const Graph& step, AxisPlan& plan) {
  std::int64_t tokens = 0;
  for (TensorId id : batched_inputs(step)) {
    const Tensor& tensor = step[id];
    if (tensor.type.shape.size() < 2 || (tokens != 0 && tensor.type.shape[1] != tokens)) continue;
    tokens = tensor.type.shape[1];
    if (!fits(tensor.type.shape, Place::sharded(1), plan.chips)) {
      return Error{.message = fmt::format("{} tokens cannot be divided over the {} chips of tp", tokens, plan.chips),
                   .place = tensor.name,
                   .advice = "choose a length that they divide, or sequence=off"};
    }
    plan.stored.emplace(tensor.name, Place::sharded(1));
  }
  if (tokens != 0) {
    plan.preferred = token_places(step, plan);
    return Done{};
  }
  return Error{.message = "sequence=on needs an input with an axis of tokens beside that of the batch",
               .place = step.name,
               .advice = "choose sequence=off"};
}

}  // namespace

Expected<ParallelStep> parallel_step(Graph step, const ParallelOptions& options) {
  ParallelStep result{.graph = std::move(step), .mesh = options.mesh, .layouts = {}, .notes = {}};
  const auto apply = [&](const AxisPlan& plan) -> Status {
    MONET_TRY(AxisResult split_over, split(std::move(result.graph), plan));
    result.graph = std::move(split_over.graph);
    result.layouts.push_back({plan.axis, plan.chips, std::move(split_over.places)});
    return Done{};
  };
  if (const std::int64_t chips = options.size("tp"); chips > 1) {
    const TensorParallel found = tensor_parallel(result.graph, chips);
    if (found.first.empty()) {
      return Error{
          .message = fmt::format("no pair of products with weights can be split over the {} chips of tp", chips),
          .place = result.graph.name,
          .advice = "choose tp=1, or fewer chips for it: heads, channels and feed-forward widths are divided"};
    }
    result.notes.push_back(fmt::format("tp: {} products split by columns, {} by what they sum over", found.first.size(),
                                       found.last.size()));
    if (!found.rest.empty()) {
      result.notes.push_back(
          fmt::format("tp: {} products with weights are in no such pair whose loops {} chips divide, and "
                      "every chip computes them whole: '{}'{}",
                      found.rest.size(), chips, found.rest.front(), found.rest.size() > 1 ? ", …" : ""));
    }
    const std::set<std::string> apart(found.in_parts.begin(), found.in_parts.end());
    MONET_TRY(result.graph,
              in_parts(std::move(result.graph), [&](const Node& node) { return apart.contains(node.name); }));
    AxisPlan plan;
    plan.axis = "tp";
    plan.chips = chips;
    plan.stored = found.stored;
    plan.gathers_again = options.sequence;
    if (options.sequence) MONET_RETURN_IF_ERROR(split_tokens(result.graph, plan));
    MONET_RETURN_IF_ERROR(apply(plan));
  }
  if (const std::int64_t chips = options.size("dp"); chips > 1) {
    MONET_TRY(const AxisPlan plan, data_parallel(result.graph, chips, options.zero, result.layouts, result.notes));
    MONET_RETURN_IF_ERROR(apply(plan));
  }
  result.graph = tidied(std::move(result.graph), options.bucket_bytes);
  return result;
}

}  // namespace monet::parallel
