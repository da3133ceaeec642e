// Runs ONNX models with the float64 executor, for comparison with other runtimes.
//   monet_oracle DIR...
// Each DIR holds model.onnx and inputs.txt, with a line "name<TAB>file.npy" for each value that the model needs
// (float64 .npy files, C order). Writes output_0.npy, output_1.npy, … beside them, or error.txt with the message.
//   monet_oracle --shapes DIR...
// Runs nothing and needs no values: writes shapes.txt, with a line "name<TAB>4 3 32 32" for each tensor.
#include "base/try.h"
#include "interpret/interpret.h"
#include "onnx/reader.h"
#include "tools/npy.h"

#include <fmt/format.h>

#include <fstream>

namespace {

using namespace monet;

Status run_case(const std::string& folder) {
  MONET_TRY(const Network network, onnx::read(folder + "/model.onnx", {}));
  const Graph& graph = network.graph;
  std::unordered_map<std::string, TensorId> by_name;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) by_name.emplace(graph.tensors()[i].name, TensorId(i));
  Values values;
  std::ifstream list(folder + "/inputs.txt");
  for (std::string line; std::getline(list, line);) {
    const auto tab = line.find('\t');
    const auto found = by_name.find(line.substr(0, tab));
    if (found == by_name.end()) continue;  // folded away
    MONET_TRY(Array array, tools::load_npy(folder + "/" + line.substr(tab + 1)));
    values.insert_or_assign(found->second, std::move(array));
  }
  MONET_CHECK(run(graph, values));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const TensorId id = graph.outputs[i];
    const Array array = values.contains(id) ? values.at(id) : to_array(graph.constants.at(id));
    tools::save_npy(fmt::format("{}/output_{}.npy", folder, i), array);
  }
  return Done{};
}

Status write_shapes(const std::string& folder) {
  MONET_TRY(const Network network, onnx::read(folder + "/model.onnx", {.recognize_idioms = false}));
  std::ofstream file(folder + "/shapes.txt");
  for (const Tensor& tensor : network.graph.tensors())
    file << fmt::format("{}\t{}\n", tensor.name, fmt::join(tensor.type.shape, " "));
  return Done{};
}

}  // namespace

int main(int argc, char** argv) {
  const bool shapes = argc > 1 && std::string_view(argv[1]) == "--shapes";
  for (int i = shapes ? 2 : 1; i < argc; ++i) {
    const std::string folder = argv[i];
    if (const auto status = shapes ? write_shapes(folder) : run_case(folder); !status)
      std::ofstream(folder + "/error.txt") << status.error().text() << "\n";
  }
  return 0;
}
