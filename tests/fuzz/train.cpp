// Whatever network the bytes hold, making its training step and writing it ends with a sound step or an error.
#include "graph/verify.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "training/step.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace monet;

// A step that breaks our own rules is our fault, whatever the file.
void fail_on_defect(const Error& error) {
  if (error.kind != ErrorKind::defect) return;
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::abort();
}

void train(const NetworkGraph& network, const training::StepOptions& options) {
  const auto step = training::make_training_step(network, options);
  if (!step) return fail_on_defect(step.error());
  if (const auto status = verify(step->graph); !status) return fail_on_defect(status.error());
  const auto bytes = onnx::write_bytes(step->graph);
  if (!bytes) fail_on_defect(bytes.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto network = onnx::read_bytes(bytes, "no-such-folder", {});
  if (!network || network->is_training_step) return 0;
  // Small models rarely have parameters: what comes from outside is trained instead.
  for (std::size_t i = 0; i < network->graph.tensors().size(); ++i) {
    Tensor& tensor = network->graph[TensorId(i)];
    const bool data_or_weight = tensor.role == Role::input || tensor.role == Role::weight;
    if (data_or_weight && !tensor.producer.valid() && is_floating(tensor.type.format.element)) tensor.parameter = true;
  }
  train(*network, {.loss = {.kind = training::LossKind::mean_squared_error}});
  train(*network, {.optimizer = {.kind = training::OptimizerKind::adam8bit, .clip_norm = 1.0, .elementwise = true},
                   .conv_gradient = training::ConvGradient::im2col,
                   .recipe = training::Recipe{.values = {ElementType::bfloat16, true, 1}}});
  return 0;
}
