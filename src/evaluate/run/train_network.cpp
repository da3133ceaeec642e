#include "base/try.h"
#include "evaluate/open/numbers.h"
#include "evaluate/plan/bind_tensors.h"
#include "evaluate/plan/hash.h"
#include "graph/verify.h"
#include "networks/inspection.h"
#include "networks/open.h"
#include "onnx/writer.h"
#include "training/options.h"
#include "training/recompute_step.h"

#include <monet/train.h>

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

using training::StepOptions;
using training::TrainingStep;

StaticBytes static_bytes(const Graph& graph) {
  StaticBytes result;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.producer.valid()) continue;
    switch (tensor.role) {
      case Role::weight:
      case Role::master_weight: result.parameters += bytes(tensor); break;
      case Role::statistic: result.buffers += bytes(tensor); break;
      case Role::optimizer_state: result.optimizer_state += bytes(tensor); break;
      default: break;
    }
  }
  // Scalars of the optimizer are inputs too, and no part of the batch.
  const Readers readers(graph);
  for (TensorId id : graph.inputs) {
    if (graph[id].role != Role::input) continue;  // a file may take its weights as inputs
    const auto by = readers.of(id);
    const bool data = std::ranges::any_of(by, [&](NodeId node) { return graph[node].phase != Phase::optimizer; });
    if (data || by.empty()) result.batch += bytes(graph[id]);
  }
  return result;
}

void add_saved(const Graph& graph, const std::vector<training::SavedTensor>& saved, Training& result) {
  for (const training::SavedTensor& each : saved) {
    const Tensor& tensor = graph[each.tensor];
    result.saved.push_back(
        {tensor.name, tensor.type.shape, to_string(tensor.type.format), each.elements, each.bytes, each.storage_bytes});
    result.saved_bytes += each.storage_bytes;
    result.saved_elements += each.elements;
  }
}

// Everything that can be said about a step, wherever it comes from. `trained` by tensor.
void add_tensors(const Graph& graph, const std::vector<bool>& trained, Training& result) {
  result.static_bytes = static_bytes(graph);
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (tensor.role == Role::weight_gradient && tensor.producer.valid() && !tensor.updates.valid()) {
      result.gradient_bytes += bytes(tensor);
    }
    if (!tensor.parameter) continue;
    result.parameters.push_back({tensor.name, tensor.type.shape, to_string(tensor.type.format), trained[i]});
    if (!trained[i]) continue;
    ++result.trained_tensors;
    result.trained_parameters += element_count(tensor.type.shape);
  }
}

// A file that has a backward part already: what it has, as it is.
TrainingStep as_it_is(NetworkGraph network) {
  TrainingStep step;
  step.graph = std::move(network.graph);
  step.warnings = std::move(network.warnings);
  step.notes = std::move(network.notes);
  step.saves = training::saves_of(step.graph);
  step.saved = training::saved_tensors(step.graph, step.saves);
  step.notes.push_back("the file is a training step already; it is reported as it is");
  return step;
}

// Parameters that the step replaces.
std::vector<bool> trained_in(const TrainingStep& step) {
  std::vector<bool> trained(step.graph.tensors().size(), false);
  for (const training::Trained& each : step.trained) trained[each.parameter.index()] = true;
  if (!step.trained.empty()) return trained;
  for (const Tensor& tensor : step.graph.tensors()) {
    if (tensor.updates.valid()) trained[tensor.updates.index()] = true;
  }
  return trained;
}

Plan plan_of(const RecomputeOptions& options) {
  Plan plan = options.plan;
  const auto add = [&](const std::vector<std::string>& names, Retention retention) {
    for (const std::string& name : names) plan.tensors.push_back({name, retention, {}, {}});
  };
  add(options.recompute, Retention::recompute);
  add(options.keep, Retention::keep);
  plan.hardware_hash.clear();  // what is recomputed does not depend on it
  return plan;
}

// The step as the plan has it; `copies` receives the nodes that repeat others.
Expected<TrainingStep> rewritten(TrainingStep step, const RecomputeOptions& options, Training& result,
                                 std::vector<NodeId>& copies) {
  const Plan plan = plan_of(options);
  if (!plan.expanded.empty()) {
    MONET_TRY(step, training::expanded(std::move(step), plan.expanded));
  }
  MONET_TRY(std::vector<std::string> warnings, check_hashes(plan, step.graph, Hardware{}, options.force));
  std::ranges::move(warnings, std::back_inserter(step.warnings));
  MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(plan, step.graph));
  const auto paged = std::ranges::count(tensors, Retention::page, &BoundTensor::retention);
  if (paged > 0)
    step.notes.push_back(fmt::format("{} tensors are paged by the plan: the step itself is the same", paged));
  const std::vector<TensorId> again = recomputed(tensors);
  if (again.empty()) return step;
  for (TensorId id : again) result.recomputed.push_back(step.graph[id].name);
  MONET_TRY(training::RecomputedStep after, training::recompute(std::move(step), again));
  copies = std::move(after.copies);
  return std::move(after.step);
}

// The step with the gradients of the parameters among its outputs, as the exported file has them.
Status write_step(const TrainingStep& step, const std::string& path) {
  Graph graph = step.graph;
  for (const training::Trained& each : step.trained) graph.outputs.push_back(each.gradient);
  return onnx::write(graph, path);
}

}  // namespace

Expected<Training> train(const Network& source, const TrainOptions& options, const std::string& onnx_path,
                         const RecomputeOptions& recompute) {
  MONET_TRY(const StepOptions step_options, training::step_options(options));
  MONET_TRY(const std::shared_ptr<const NetworkGraph> read, source.graph(read_options(options)));
  NetworkGraph network = *read;
  Training result;
  result.was_training_step = network.is_training_step;
  const bool as_asked = !network.is_training_step && !options.precision.empty();
  result.recipe = as_asked ? options.precision : own_numbers(network.graph);
  result.recipe_from = name_of(as_asked ? RecipeFrom::option : RecipeFrom::file);
  TrainingStep step;
  if (network.is_training_step) {
    step = as_it_is(std::move(network));
  } else {
    MONET_TRY(step, training::make_training_step(std::move(network), step_options));
    result.loss = options.loss;
    result.optimizer = options.optimizer;
    result.precision = options.precision.empty() ? "as in the file" : options.precision;
    result.micro_batches = options.accumulate;
  }
  std::vector<NodeId> copies;
  MONET_TRY(step, rewritten(std::move(step), recompute, result, copies));
  MONET_RETURN_IF_ERROR(verify(step.graph));
  if (!onnx_path.empty()) MONET_RETURN_IF_ERROR(write_step(step, onnx_path));
  add_tensors(step.graph, trained_in(step), result);
  add_saved(step.graph, step.saved, result);
  for (const training::QuantizedClass& each : step.formats) {
    result.formats.push_back(
        {each.name, each.format, each.tensors, each.copies, each.elements, each.bytes, each.padding_bytes});
  }
  NetworkGraph whole{.graph = std::move(step.graph), .is_training_step = true, .warnings = {}, .notes = {}};
  whole.warnings = std::move(step.warnings);
  whole.notes = std::move(step.notes);
  result.step = inspection_of(source.name(), whole);
  result.recomputed_nodes = static_cast<std::int64_t>(copies.size());
  for (NodeId copy : copies) result.recomputed_macs += result.step.layers[copy.index()].macs;
  return result;
}

}  // namespace monet
