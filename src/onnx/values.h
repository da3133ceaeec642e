// Values of small tensors in a file: those that decide shapes; and whether a larger one is a mask. Weights are never
// looked at.
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
// never decides a shape. Fails when the bytes that are there do not fit the shape, and for external ones that lie
// outside `folder`.
Expected<std::optional<Constant>> decode_values(const RawTensor& tensor, const std::string& folder,
                                                std::int64_t most = most_constant_elements);

// Whether a floating-point tensor holds what is added to scores to hide some of them: 0, and numbers of -100 (Swin's,
// the mildest in use; exp(-100) is 0 in 16 bits, and nothing beside 1 in 32) or less. Nothing: the values are not
// there, or more than 2^24.
std::optional<bool> holds_mask(const RawTensor& tensor, const std::string& folder);

}  // namespace monet::onnx
