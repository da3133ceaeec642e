#include "tools/case.h"

#include "base/try.h"
#include "onnx/reader.h"
#include "tools/npy.h"

#include <fstream>

namespace monet::tools {

Expected<Case> load_case(const std::string& folder) {
  MONET_TRY(NetworkGraph network, onnx::read(folder + "/model.onnx", {}));
  Case result{.graph = std::move(network.graph), .values = {}, .inputs = {}};
  std::unordered_map<std::string, TensorId> by_name;
  const std::vector<Tensor>& tensors = result.graph.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) by_name.emplace(tensors[i].name, TensorId(i));
  std::ifstream list(folder + "/inputs.txt");
  for (std::string line; std::getline(list, line);) {
    const auto tab = line.find('\t');
    const auto found = by_name.find(line.substr(0, tab));
    result.inputs.push_back(found == by_name.end() ? TensorId() : found->second);
    if (found == by_name.end()) continue;
    MONET_TRY(Array array, load_npy(folder + "/" + line.substr(tab + 1)));
    result.values.insert_or_assign(found->second, std::move(array));
  }
  return result;
}

}  // namespace monet::tools
