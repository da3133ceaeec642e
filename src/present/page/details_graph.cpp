#include "present/page/details_parts.h"

namespace monet {

namespace {

void write_nodes(DetailsText& out, const std::vector<StepGraph::Node>& nodes) {
  const auto column = [&](std::string_view key, auto member) {
    out.column(key, nodes.size(), [&](std::size_t i) -> decltype(auto) { return nodes[i].*member; });
  };
  out.open("nodes", '{');
  column("name", &StepGraph::Node::name);
  column("operator", &StepGraph::Node::op);
  column("phase", &StepGraph::Node::phase);
  column("stack", &StepGraph::Node::stack);
  out.column("recomputed", nodes.size(), [&](std::size_t i) { return std::int64_t{nodes[i].recomputed}; });
  column("x", &StepGraph::Node::x);
  column("y", &StepGraph::Node::y);
  column("node", &StepGraph::Node::operator_row);
  out.close('}');
}

void write_tensors(DetailsText& out, const std::vector<StepGraph::Tensor>& tensors) {
  const auto column = [&](std::string_view key, auto member) {
    out.column(key, tensors.size(), [&](std::size_t i) -> decltype(auto) { return tensors[i].*member; });
  };
  out.open("tensors", '{');
  column("name", &StepGraph::Tensor::name);
  column("role", &StepGraph::Tensor::role);
  column("shape", &StepGraph::Tensor::shape);
  column("bytes", &StepGraph::Tensor::bytes);
  column("from", &StepGraph::Tensor::from);
  out.open("to", '[');
  for (const StepGraph::Tensor& tensor : tensors) {
    out.column("", tensor.to.size(), [&](std::size_t i) { return tensor.to[i]; });
  }
  out.close(']');
  out.column("saved", tensors.size(), [&](std::size_t i) { return std::int64_t{tensors[i].saved}; });
  column("decision", &StepGraph::Tensor::decision);
  out.close('}');
}

}  // namespace

void write_graph(DetailsText& out, const StepGraph& graph) {
  out.open("graph", '{');
  write_nodes(out, graph.nodes);
  write_tensors(out, graph.tensors);
  out.close('}');
}

}  // namespace monet
