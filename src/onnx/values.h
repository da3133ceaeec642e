// Values of small tensors in a file: those that decide shapes. Weights are never looked at.
#pragma once

#include "graph/constant.h"
#include "onnx/model.h"

#include <optional>
#include <string>

namespace monet::onnx {

// Dense constants larger than this are not kept.
constexpr std::int64_t most_constant_elements = std::int64_t{1} << 16;

// The element type of an ONNX number; nothing for types we do not read (strings, complex).
std::optional<ElementType> element_type_of(std::int64_t onnx_number);

// The tensor's values; nothing when they are absent (external and not there), too many, or in a number format that
// never decides a shape. Fails when the bytes that are there do not fit the shape.
// `folder`: where external files lie; a location outside it is not followed.
Expected<std::optional<Constant>> decode_values(const RawTensor& tensor, const std::string& folder);

}  // namespace monet::onnx
