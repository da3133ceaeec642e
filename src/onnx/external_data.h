// Where a model's external data may lie.
#pragma once

#include <monet/expected.h>

#include <string>

namespace monet::onnx {

// The path of the file that `location` names in the model's folder ("" is the current one), whether it is there or not.
// Fails for one that is not in that folder, as it is written or by links: a model that somebody sent must not make the
// program read other files of the user.
Expected<std::string> external_path(const std::string& folder, const std::string& location);

}  // namespace monet::onnx
