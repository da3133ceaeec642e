// Operators that are known by name alone: a file names them, and nothing here knows what they compute.
#pragma once

#include "graph/graph.h"
#include "graph/infer.h"

#include <monet/expected.h>

#include <string>
#include <utility>
#include <vector>

namespace monet {

struct CustomOperator {
  std::string domain, type;  // "com.example", "FancyNorm"
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  Types outputs;  // one for each output it can have
};

// What Op::Custom keeps of it, and back. Element types alone of the outputs' formats are kept.
Attributes custom_attributes(const CustomOperator& custom);
CustomOperator custom_operator(const Attributes& attributes);
// Of the outputs alone. Fails (message only) when the attributes do not say them.
Expected<Types> custom_outputs(const Attributes& attributes);

// The operator's own name: "MatMul", "FancyNorm".
std::string operator_type(const Node& node);

// 3 · 0.5 · same · [1, 2]
std::string to_text(const AttributeValue& value);

}  // namespace monet
