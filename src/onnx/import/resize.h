// The rules that resample: Resize in its versions, and Upsample, its predecessor.
#pragma once

#include "onnx/node_import.h"

namespace monet::onnx {

void import_resize(NodeImport& node);
void import_upsample(NodeImport& node);

}  // namespace monet::onnx
