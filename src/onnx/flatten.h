// One flat, ordered list of nodes: functions of the model inlined, nodes sorted so that producers come first.
#pragma once

#include "onnx/model.h"

#include <deque>
#include <string>

namespace monet::onnx {

struct FlatNode {
  RawNode node;
  std::int64_t version = 0;  // of the operator set the node's operator comes from
};

struct FlatModel {
  const RawModel* raw = nullptr;
  std::vector<FlatNode> nodes;
  std::deque<std::string> names;  // storage of names made while inlining
};

// Takes the nodes out of `model` and points into it for the rest. Fails on operator sets too old or missing, on
// functions that call themselves or grow without bound, on names defined twice or not at all, and on cycles.
Expected<FlatModel> flatten(RawModel& model);

}  // namespace monet::onnx
