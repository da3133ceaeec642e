// Runs ONNX models with the float64 executor, for comparison with other runtimes.
//   monet_oracle DIR...
// Each DIR holds model.onnx and inputs.txt, with a line "name<TAB>file.npy" for each value that the model needs
// (float64 .npy files, C order). Writes output_0.npy, output_1.npy, … beside them, or error.txt with the message.
//   monet_oracle --gradients DIR...
// The same folders with cotangent_0.npy, … for the outputs: writes gradient_0.npy, … (tools/gradients.h), or error.txt.
//   monet_oracle --shapes DIR...
// Runs nothing and needs no values: writes shapes.txt, with a line "name<TAB>4 3 32 32" for each tensor.
//   monet_oracle --rewrite DIR...
// Reads model.onnx, recognizing nothing in it, and writes the graph as rewritten.onnx.
//   monet_oracle --forward MODEL FILE
// Writes a network, built in or from a file, as an ONNX file.
#include "base/try.h"
#include "networks/open.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "tools/case.h"
#include "tools/gradients.h"
#include "tools/npy.h"

#include <fmt/format.h>

#include <fstream>

namespace {

using namespace monet;

Status run_case(const std::string& folder) {
  MONET_TRY(tools::Case given, tools::load_case(folder));
  const Graph& graph = given.graph;
  MONET_RETURN_IF_ERROR(run(graph, given.values));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const TensorId id = graph.outputs[i];
    const Array array = given.values.contains(id) ? given.values.at(id) : to_array(graph.constants.at(id));
    tools::save_npy(fmt::format("{}/output_{}.npy", folder, i), array);
  }
  return Done{};
}

Status write_shapes(const std::string& folder) {
  MONET_TRY(const NetworkGraph network, onnx::read(folder + "/model.onnx", {.recognize_idioms = false}));
  std::ofstream file(folder + "/shapes.txt");
  for (const Tensor& tensor : network.graph.tensors())
    file << fmt::format("{}\t{}\n", tensor.name, fmt::join(tensor.type.shape, " "));
  return Done{};
}

Status rewrite(const std::string& folder) {
  MONET_TRY(const NetworkGraph network, onnx::read(folder + "/model.onnx", {.recognize_idioms = false}));
  return onnx::write(network.graph, folder + "/rewritten.onnx");
}

using Job = Status (*)(const std::string& folder);

Job job_named(std::string_view option) {
  if (option == "--shapes") return write_shapes;
  if (option == "--gradients") return tools::write_gradients;
  return option == "--rewrite" ? rewrite : nullptr;
}

Status write_forward(const std::string& model, const std::string& file) {
  MONET_TRY(const NetworkGraph network, open_network(model, {}));
  return onnx::write(network.graph, file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--forward") {
    const auto status = write_forward(argv[2], argv[3]);
    if (!status) fmt::print(stderr, "{}\n", status.error().text());
    return status ? 0 : 1;
  }
  const Job named = argc > 1 ? job_named(argv[1]) : nullptr;
  const Job job = named != nullptr ? named : run_case;
  for (int i = named != nullptr ? 2 : 1; i < argc; ++i) {
    const std::string folder = argv[i];
    if (const auto status = job(folder); !status) std::ofstream(folder + "/error.txt") << status.error().text() << "\n";
  }
  return 0;
}
