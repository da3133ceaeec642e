// Reading protocol-buffer messages with protozero so that no byte sequence can do worse than throw DecodeError.
// Nothing above a decoder sees an exception. The only way to protozero: its functions are inline, so every file of a
// program has to give them the same protozero_assert.
#pragma once

#include <stdexcept>

namespace monet::onnx {

struct DecodeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace monet::onnx

// protozero checks the wire type of each access with this macro; a wrong one is the file's fault, not ours.
#define protozero_assert(condition) \
  (static_cast<bool>(condition) ? void(0) : throw ::monet::onnx::DecodeError("a field has the wrong wire type"))

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
