#include "parallel/recipe.h"

#include "base/try.h"
#include "parallel/expert_parallel.h"
#include "parallel/input_places.h"
#include "parallel/prepare.h"
#include "parallel/tensor_parallel.h"
#include "parallel/tidy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <set>

namespace monet::parallel {

namespace {

constexpr std::int64_t most_chips = std::int64_t{1} << 30;
constexpr std::array<std::string_view, 4> axis_names = {"dp", "ep", "cp", "tp"};  // outermost first
constexpr std::string_view known_words =
    "dp=N, pp=N, ep=N, cp=N, tp=N, zero=0|1|2|3, sequence=on|off, overlap=on|off, recompute=none|selective|blocks, "
    "schedule=NAME, chunks=N, cut=balanced|equal|N+N, order=dp-pp-tp, or first megatron, fsdp or expert";

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

bool set_size(ParallelOptions& options, std::string_view axis, std::int64_t chips) {
  const auto place = [](std::string_view name) { return std::ranges::find(axis_names, name) - axis_names.begin(); };
  if (std::ranges::find(axis_names, axis) == axis_names.end()) return false;
  auto& axes = options.mesh.axes;
  const auto at = std::ranges::find_if(axes, [&](const MeshAxis& each) { return place(each.name) >= place(axis); });
  const bool there = at != axes.end() && at->name == axis;
  if (there) {
    at->size = chips;
  } else {
    axes.insert(at, {std::string(axis), chips});
  }
  std::erase_if(axes, [](const MeshAxis& each) { return each.size == 1 && (each.name == "ep" || each.name == "cp"); });
  return true;
}

namespace {

using Words = std::set<std::string_view>;

bool apply_recipe(std::string_view name, const Words& said, ParallelOptions& options) {
  const bool megatron = name == "megatron", expert = name == "expert";
  if (!megatron && !expert && name != "fsdp") return false;
  if (!said.contains("zero")) options.zero = megatron || expert ? 1 : 3;
  if (megatron && !said.contains("sequence")) options.sequence = true;
  if (megatron && !said.contains("tp")) options.fills_unit = "tp";
  if (expert && !said.contains("ep")) options.fills_unit = "ep";
  return true;
}

Status apply_word(std::string_view key, std::string_view value, ParallelOptions& options) {
  if (key == "sequence" || key == "overlap") {
    const bool none = key == "overlap" && value == "none";
    if (value != "on" && value != "off" && !none) return wrong(fmt::format("{} is on or off, not '{}'", key, value));
    (key == "sequence" ? options.sequence : options.overlap) = value == "on";
    return Done{};
  }
  const bool axis = std::ranges::find(axis_names, key) != axis_names.end();
  if (key != "zero" && !axis) {
    return wrong(fmt::format("'{}{}{}' is no word of it", key, value.empty() ? "" : "=", value));
  }
  const auto number = number_of(value);
  if (!number) return wrong(fmt::format("{} needs a whole number, not '{}'", key, value));
  if (key == "zero") {
    if (*number < 0 || *number > 3) return wrong(fmt::format("there is no zero={}", *number));
    options.zero = static_cast<int>(*number);
    return Done{};
  }
  if (*number < 1 || *number > most_chips) return wrong(fmt::format("{}={} chips are not possible", key, *number));
  set_size(options, key, *number);
  options.dp_said = options.dp_said || key == "dp";
  return Done{};
}

}  // namespace

Expected<ParallelOptions> parse_parallel(std::string_view text) {
  ParallelOptions options;
  options.mesh.axes = {{"dp", 1}, {"tp", 1}};
  Words said;
  std::string_view recipe;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t at = word.find('=');
    const std::string_view key = word.substr(0, at);
    if (!said.insert(key).second) return wrong(fmt::format("'{}' is said twice", key));
    if (ParallelOptions known; at == std::string_view::npos && apply_recipe(word, {}, known)) {
      if (!recipe.empty()) return wrong(fmt::format("'{}' and '{}' are two recipes", recipe, word));
      recipe = word;
      continue;
    }
    const std::string_view value = at == std::string_view::npos ? std::string_view() : word.substr(at + 1);
    MONET_RETURN_IF_ERROR(apply_word(key, value, options));
  }
  // What is said holds, wherever it stands.
  if (!recipe.empty()) apply_recipe(recipe, said, options);
  std::int64_t chips = 1;
  for (const MeshAxis& axis : options.mesh.axes) {
    if (axis.size > most_chips / chips) return wrong("so many chips cannot be counted");
    chips *= axis.size;
  }
  return options;
}

ParallelOptions filled(ParallelOptions options, std::int64_t unit, std::int64_t chips) {
  if (options.fills_unit.empty()) return options;
  const std::int64_t others = options.mesh.chips();
  const std::int64_t left = chips > 0 && chips % others == 0 ? chips / others : unit;
  set_size(options, options.fills_unit, std::max<std::int64_t>(1, std::gcd(unit, left)));
  options.fills_unit.clear();
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
    if (plan.stored.contains(parameter.name)) continue;  // split already
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
                  "chip of {}",
                  whole, whole == 1 ? " has" : "s have", plan.chips, whole == 1 ? "it" : "them", plan.axis));
}

Expected<AxisPlan> data_parallel(const Graph& step, std::string axis, std::int64_t chips) {
  AxisPlan plan;
  plan.axis = std::move(axis);
  plan.chips = chips;
  plan.gathers_activations = false;
  for (TensorId id : batched_inputs(step)) {
    const Tensor& tensor = step[id];
    if (!fits(tensor.type.shape, Place::sharded(0), chips)) {
      return Error{.message = fmt::format("a batch of {} cannot be divided over the {} chips of {}",
                                          tensor.type.shape[0], chips, plan.axis),
                   .place = tensor.name,
                   .advice = fmt::format("choose a --batch that {} divides, or fewer chips for {}", chips, plan.axis)};
    }
    plan.stored.emplace(tensor.name, Place::sharded(0));
  }
  return plan;
}

// Tokens: the second axis of what is given for each sample, as long as that of the first such input.
Status split_tokens(const Graph& step, std::string_view instead, AxisPlan& plan) {
  std::int64_t tokens = 0;
  for (TensorId id : batched_inputs(step)) {
    const Tensor& tensor = step[id];
    if (tensor.type.shape.size() < 2 || (tokens != 0 && tensor.type.shape[1] != tokens)) continue;
    tokens = tensor.type.shape[1];
    if (!fits(tensor.type.shape, Place::sharded(1), plan.chips)) {
      return Error{
          .message = fmt::format("{} tokens cannot be divided over the {} chips of {}", tokens, plan.chips, plan.axis),
          .place = tensor.name,
          .advice = fmt::format("choose a length that they divide, or {}", instead)};
    }
    plan.stored.emplace(tensor.name, Place::sharded(1));
  }
  if (tokens != 0) return Done{};
  return Error{
      .message = fmt::format("tokens over {} need an input with an axis of tokens beside that of the batch", plan.axis),
      .place = step.name,
      .advice = fmt::format("choose {}", instead)};
}

class Recipe {
 public:
  Recipe(Graph step, const ParallelOptions& options)
      : options_(options), result_{.graph = std::move(step), .mesh = options.mesh, .layouts = {}, .notes = {}} {}

  Expected<ParallelStep> run() {
    if (options_.size("tp") > 1) MONET_RETURN_IF_ERROR(tensors());
    if (options_.size("ep") > 1) MONET_RETURN_IF_ERROR(experts());
    if (options_.size("cp") > 1) MONET_RETURN_IF_ERROR(context());
    if (options_.size("dp") > 1) {
      MONET_TRY(AxisPlan plan, data_parallel(result_.graph, "dp", options_.size("dp")));
      MONET_RETURN_IF_ERROR(apply_to_replicas(std::move(plan)));
    }
    result_.graph = tidied(std::move(result_.graph), options_.bucket_bytes);
    return std::move(result_);
  }

 private:
  Status apply(const AxisPlan& plan) {
    MONET_TRY(AxisResult split_over, split(std::move(result_.graph), plan));
    result_.graph = std::move(split_over.graph);
    result_.layouts.push_back({plan.axis, plan.chips, std::move(split_over.places)});
    return Done{};
  }

  // An axis along which weights are the same: ZeRO.
  Status apply_to_replicas(AxisPlan plan) {
    if (options_.zero >= 3) plan.gathers_again = true;
    if (options_.zero >= 1) shard_optimizer(result_.graph, options_.zero, plan, result_.layouts, result_.notes);
    return apply(plan);
  }

  Status tensors() {
    const std::int64_t chips = options_.size("tp");
    const TensorParallel found = tensor_parallel(result_.graph, chips);
    if (found.first.empty()) {
      return Error{
          .message = fmt::format("no pair of products with weights can be split over the {} chips of tp", chips),
          .place = result_.graph.name,
          .advice = "choose tp=1, or fewer chips for it: heads, channels and feed-forward widths are divided"};
    }
    tell(found);
    const std::set<std::string> apart(found.in_parts.begin(), found.in_parts.end());
    MONET_TRY(result_.graph,
              in_parts(std::move(result_.graph), [&](const Node& node) { return apart.contains(node.name); }));
    AxisPlan plan;
    plan.axis = "tp";
    plan.chips = chips;
    plan.stored = found.stored;
    plan.rows = found.rows;
    plan.gathers_again = options_.sequence;
    if (options_.sequence) {
      MONET_RETURN_IF_ERROR(split_tokens(result_.graph, "sequence=off", plan));
      plan.preferred = places_from_inputs(result_.graph, plan);
    }
    return apply(plan);
  }

  void tell(const TensorParallel& found) {
    const std::int64_t chips = options_.size("tp");
    std::string heads;
    if (!found.heads.empty()) heads += fmt::format(", {} by the classes of the loss", found.heads.size());
    if (!found.tables.empty()) heads += fmt::format(", {} tables by rows", found.tables.size());
    result_.notes.push_back(fmt::format("tp: {} products split by columns, {} by what they sum over{}",
                                        found.first.size(), found.last.size(), heads));
    for (const std::string& table : found.whole_tables) {
      result_.notes.push_back(
          fmt::format("tp: the rows of '{}' are no multiple of {}: every chip has all of them", table, chips));
    }
    if (found.rest.empty()) return;
    result_.notes.push_back(
        fmt::format("tp: {} products with weights are in no such pair whose loops {} chips divide, and "
                    "every chip computes them whole: '{}'{}",
                    found.rest.size(), chips, found.rest.front(), found.rest.size() > 1 ? ", …" : ""));
  }

  Status context() {
    AxisPlan plan;
    plan.axis = "cp";
    plan.chips = options_.size("cp");
    plan.gathers_again = true;
    MONET_RETURN_IF_ERROR(split_tokens(result_.graph, "cp=1", plan));
    MONET_RETURN_IF_ERROR(apply_to_replicas(std::move(plan)));
    const Places& places = result_.layouts.back().places;
    std::vector<std::string> whole;
    for (const Node& node : result_.graph.nodes()) {
      if (node.phase != Phase::forward || family_of(node.op) != OpFamily::contraction) continue;
      const auto place = places.find(result_.graph[node.outputs[0]].name);
      if (place != places.end() && place->second.is_whole()) whole.push_back(node.name);
    }
    if (whole.empty()) return Done{};
    result_.notes.push_back(
        fmt::format("cp: {} products of the forward part need all tokens, and every chip computes "
                    "them whole: '{}'{}",
                    whole.size(), whole.front(), whole.size() > 1 ? ", …" : ""));
    return Done{};
  }

  Status experts() {
    MONET_TRY(AxisPlan plan, data_parallel(result_.graph, "ep", options_.size("ep")));
    const Places at_home = places_from_inputs(result_.graph, plan);
    MONET_TRY(ExpertParallel found, expert_parallel(result_.graph, plan.chips, at_home));
    plan.exchanges_activations = true;
    plan.stored.merge(found.stored);
    plan.settled = std::move(found.settled);
    result_.notes.push_back(fmt::format("ep: {} products split by experts", found.products.size()));
    return apply_to_replicas(std::move(plan));
  }

  const ParallelOptions& options_;
  ParallelStep result_;
};

}  // namespace

Expected<ParallelStep> parallel_step(Graph step, const ParallelOptions& options) {
  return Recipe(std::move(step), options).run();
}

}  // namespace monet::parallel
