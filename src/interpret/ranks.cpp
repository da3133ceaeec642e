#include "interpret/ranks.h"

#include "base/require.h"
#include "base/try.h"
#include "interpret/own_places.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

// Copies pieces between a whole tensor and one chip's part of it.
template <class Copy>
void for_each_piece(const Shape& part, std::size_t axis, std::int64_t blocks, std::int64_t group,
                    std::int64_t coordinate, const Copy& copy) {
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= part[i];
  for (std::size_t i = axis + 1; i < part.size(); ++i) inner *= part[i];
  const std::int64_t length = part[axis] / blocks * inner;
  for (std::int64_t o = 0; o < outer * blocks; ++o) copy((o * group + coordinate) * length, o * length, length);
}

class Ranks {
 public:
  Ranks(const Graph& graph, const Mesh& mesh, std::vector<Values>& values, const RankOptions& options)
      : graph_(graph), mesh_(mesh), values_(values), options_(options) {}

  Status run() {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (Status status = run_node(NodeId(i)); !status) {
        Error error = std::move(status).error();
        if (error.place.empty()) error.place = fmt::format("node '{}'", graph_.nodes()[i].name);
        return error;
      }
    }
    return Done{};
  }

 private:
  Expected<const Array*> value(std::size_t chip, TensorId id) {
    Values& all = values_[chip];
    if (const auto found = all.find(id); found != all.end()) {
      if (found->second.shape == graph_[id].type.shape) return &found->second;
      return Error{.message = fmt::format("a value of {} is given for a tensor of {}", to_string(found->second.shape),
                                          to_string(graph_[id].type.shape)),
                   .place = graph_[id].name,
                   .advice = {}};
    }
    if (const Constant* constant = graph_.constant(id)) return &all.emplace(id, to_array(*constant)).first->second;
    return Error{.message = "no value is given for this tensor", .place = graph_[id].name, .advice = {}};
  }

  Status run_node(NodeId id) {
    const Node& node = graph_[id];
    std::vector<std::vector<const Array*>> inputs(values_.size());
    for (std::size_t chip = 0; chip < values_.size(); ++chip) {
      for (TensorId input : node.inputs) {
        inputs[chip].push_back(nullptr);
        if (!input.valid()) continue;
        MONET_TRY(inputs[chip].back(), value(chip, input));
      }
    }
    std::vector<std::vector<Array>> results;
    if (is_collective(node.op)) {
      MONET_TRY(results, exchange(node, inputs));
    } else if (is_random(node.op) && options_.chance) {
      MONET_TRY(results, options_.chance(id, inputs));
    } else {
      for (std::size_t chip = 0; chip < values_.size(); ++chip) {
        MONET_TRY(std::vector<Array> result, run_on(node, static_cast<std::int64_t>(chip), inputs[chip]));
        results.push_back(std::move(result));
      }
    }
    for (std::size_t chip = 0; chip < values_.size(); ++chip) {
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].valid()) values_[chip].insert_or_assign(node.outputs[i], std::move(results[chip][i]));
      }
    }
    return Done{};
  }

  // Of the mesh; several where a sum is over all chips along them.
  Expected<std::vector<std::size_t>> axes_of(const Node& node) const {
    const auto axes = mesh_.find_all(node.attributes.text(Attr::mesh));
    if (!axes) {
      return Error{.message = fmt::format("the mesh has no axis '{}'", node.attributes.text(Attr::mesh)),
                   .place = {},
                   .advice = {}};
    }
    if (node.attributes.integer(Attr::group) != mesh_.chips_along(*axes))
      return Error{.message = "its group has another size than the axis of the mesh", .place = {}, .advice = {}};
    return *axes;
  }

  Expected<std::vector<Array>> run_on(const Node& node, std::int64_t chip, std::span<const Array* const> inputs) const {
    if (!has_own_places(node)) return execute(graph_, node, inputs, options_.run);
    MONET_TRY(const std::vector<std::size_t> axes, axes_of(node));
    return execute_own_places(graph_, node, inputs, mesh_.coordinate(chip, axes[0]), options_.run);
  }

  Expected<std::vector<std::vector<Array>>> exchange(const Node& node,
                                                     const std::vector<std::vector<const Array*>>& inputs) const {
    MONET_TRY(const std::vector<std::size_t> axes, axes_of(node));
    if (axes.size() > 1 && node.op != Op::AllReduce)
      return Error{.message = "sums alone are over several axes of a mesh at once", .place = {}, .advice = {}};
    std::vector<std::vector<Array>> results(values_.size());
    for (std::size_t chip = 0; chip < values_.size(); ++chip) {
      const std::vector<std::int64_t> members = mesh_.group(static_cast<std::int64_t>(chip), axes);
      const std::int64_t own = mesh_.coordinate(static_cast<std::int64_t>(chip), axes[0]);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        std::vector<const Array*> of_all;
        for (std::int64_t member : members) of_all.push_back(inputs[static_cast<std::size_t>(member)][i]);
        results[chip].push_back(result_of(node, i, of_all, own));
      }
      if (!options_.run.rounds) continue;
      round_results(graph_, node, results[chip], options_.run);
    }
    return results;
  }

  static Array result_of(const Node& node, std::size_t i, const std::vector<const Array*>& of_all, std::int64_t own) {
    const auto group = static_cast<std::int64_t>(of_all.size());
    const auto along = [&](std::size_t at) {
      return static_cast<std::size_t>(node.attributes.integers(Attr::axes)[at]);
    };
    const auto blocks = [&](std::size_t at) { return node.attributes.integers(Attr::blocks)[at]; };
    switch (node.op) {
      case Op::AllReduce: return reduced(of_all, node.attributes.text(Attr::reduction));
      case Op::ReduceScatter: return piece_of(reduced(of_all, "sum"), along(i), blocks(i), group, own);
      case Op::AllGather: return joined(of_all, along(i), blocks(i));
      case Op::AllToAll: return piece_of(joined(of_all, along(0), blocks(0)), along(1), blocks(1), group, own);
      case Op::Broadcast: return *of_all[static_cast<std::size_t>(node.attributes.integer(Attr::start))];
      case Op::Receive: {
        const std::int64_t from = own - node.attributes.integer(Attr::delta);
        return *of_all[static_cast<std::size_t>((from % group + group) % group)];
      }
      default: return *of_all[static_cast<std::size_t>(own)];
    }
  }

  static Array reduced(const std::vector<const Array*>& of_all, const std::string& reduction) {
    Array result = *of_all[0];
    for (std::size_t chip = 1; chip < of_all.size(); ++chip) {
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        const double more = of_all[chip]->values[i];
        double& value = result.values[i];
        if (reduction == "max") {
          value = std::max(value, more);
        } else if (reduction == "min") {
          value = std::min(value, more);
        } else {
          value += more;
        }
      }
    }
    return result;
  }

  const Graph& graph_;
  const Mesh& mesh_;
  std::vector<Values>& values_;
  const RankOptions& options_;
};

}  // namespace

Array piece_of(const Array& whole, std::size_t axis, std::int64_t blocks, std::int64_t group, std::int64_t coordinate) {
  Shape shape = whole.shape;
  shape[axis] /= group;
  Array part = Array::zeros(shape);
  for_each_piece(shape, axis, blocks, group, coordinate, [&](std::int64_t from, std::int64_t to, std::int64_t length) {
    std::copy_n(whole.values.begin() + from, length, part.values.begin() + to);
  });
  return part;
}

Array joined(const std::vector<const Array*>& pieces, std::size_t axis, std::int64_t blocks) {
  const auto group = static_cast<std::int64_t>(pieces.size());
  Shape shape = pieces[0]->shape;
  shape[axis] *= group;
  Array whole = Array::zeros(shape);
  for (std::int64_t chip = 0; chip < group; ++chip) {
    const Array& part = *pieces[static_cast<std::size_t>(chip)];
    for_each_piece(part.shape, axis, blocks, group, chip, [&](std::int64_t to, std::int64_t from, std::int64_t length) {
      std::copy_n(part.values.begin() + from, length, whole.values.begin() + to);
    });
  }
  return whole;
}

Status run_ranks(const Graph& graph, const Mesh& mesh, std::vector<Values>& values, const RankOptions& options) {
  MONET_REQUIRE(std::cmp_equal(values.size(), mesh.chips()));
  return Ranks(graph, mesh, values, options).run();
}

}  // namespace monet
