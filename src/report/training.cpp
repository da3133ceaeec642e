#include "base/try.h"
#include "graph/verify.h"
#include "networks/open.h"
#include "onnx/writer.h"
#include "report/inspection.h"
#include "training/options.h"
#include "training/step.h"

#include <monet/train.h>

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
    result.saved.push_back({tensor.name, tensor.type.shape, std::string(name_of(tensor.type.format.element)),
                            each.elements, each.bytes, each.storage_bytes});
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
    result.parameters.push_back(
        {tensor.name, tensor.type.shape, std::string(name_of(tensor.type.format.element)), trained[i]});
    if (!trained[i]) continue;
    ++result.trained_tensors;
    result.trained_parameters += element_count(tensor.type.shape);
  }
}

// A file that has a backward part already: what it has, as it is.
Training as_it_is(const std::string& model, Network network) {
  Training result;
  result.was_training_step = true;
  const Graph& graph = network.graph;
  std::vector<bool> trained(graph.tensors().size(), false);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.updates.valid()) trained[tensor.updates.index()] = true;
  }
  add_tensors(graph, trained, result);
  add_saved(graph, training::saved_tensors(graph, training::saves_of(graph)), result);
  network.notes.push_back("the file is a training step already; it is reported as it is");
  result.step = inspection_of(model, network);
  return result;
}

// The step with the gradients of the parameters among its outputs, as the exported file has them.
Status write_step(const TrainingStep& step, const std::string& path) {
  Graph graph = step.graph;
  for (const training::Trained& each : step.trained) graph.outputs.push_back(each.gradient);
  return onnx::write(graph, path);
}

}  // namespace

Expected<Training> train(const std::string& model, const TrainOptions& options, const std::string& onnx_path) {
  MONET_TRY(const StepOptions step_options, training::step_options(options));
  MONET_TRY(Network network, open_network(model, {.batch = options.batch, .dimensions = options.dimensions}));
  if (network.is_training_step) {
    if (onnx_path.empty()) return as_it_is(model, std::move(network));
    MONET_CHECK(onnx::write(network.graph, onnx_path));
    return as_it_is(model, std::move(network));
  }
  MONET_TRY(TrainingStep step, training::make_training_step(std::move(network), step_options));
  MONET_CHECK(verify(step.graph));
  if (!onnx_path.empty()) MONET_CHECK(write_step(step, onnx_path));
  Training result;
  result.loss = options.loss;
  result.optimizer = options.optimizer;
  result.precision = options.precision.empty() ? "as in the file" : options.precision;
  result.micro_batches = options.accumulate;
  std::vector<bool> trained(step.graph.tensors().size(), false);
  for (const training::Trained& each : step.trained) trained[each.parameter.index()] = true;
  add_tensors(step.graph, trained, result);
  add_saved(step.graph, step.saved, result);
  Network whole{.graph = std::move(step.graph), .is_training_step = true, .warnings = {}, .notes = {}};
  whole.warnings = std::move(step.warnings);
  whole.notes = std::move(step.notes);
  result.step = inspection_of(model, whole);
  return result;
}

}  // namespace monet
