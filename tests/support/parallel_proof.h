// The proof of a split step: all chips are run in lock step, and every tensor that has a name of the whole step, put
// together again, is compared with what one chip computes.
#pragma once

#include "base/random.h"
#include "base/try.h"
#include "interpret/ranks.h"
#include "parallel/recipe.h"
#include "support/random_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace monet::test {

struct Proof {
  double worst = 0;  // distance over norm, of the tensor where it is largest
  std::string tensor;
  std::size_t compared = 0;
  bool is_rounding = false;  // a gradient is nothing but rounding, which optimizers may make as large as any other
  std::size_t exact = 0;     // of them: no sum behind them is split, and they have the same bits
};

class ParallelProof {
 public:
  ParallelProof(const Graph& whole, const parallel::ParallelStep& split) : whole_(whole), split_(split) {
    for (std::size_t i = 0; i < whole.tensors().size(); ++i) ids_.emplace(whole.tensors()[i].name, TensorId(i));
  }

  Expected<Proof> run(unsigned seed) {
    Values values = starting_values(seed);
    std::vector<Values> of_chips(chips());
    for (std::size_t i = 0; i < split_.graph.tensors().size(); ++i) {
      const TensorId id(i);
      const Tensor& tensor = split_.graph[id];
      const auto found = ids_.find(tensor.name);
      if (tensor.producer.valid() || found == ids_.end()) continue;
      const Constant* constant = whole_.constant(found->second);
      const Array value = constant != nullptr ? to_array(*constant) : values.at(found->second);
      std::vector<Array> parts = scattered(tensor.name, value);
      for (std::size_t chip = 0; chip < chips(); ++chip) of_chips[chip].emplace(id, std::move(parts[chip]));
    }
    const RunOptions options{.rounds = false, .seed = 7};
    MONET_RETURN_IF_ERROR(monet::run(whole_, values, options));
    RankOptions ranks{.run = options};
    ranks.chance = [&](NodeId node, const std::vector<std::vector<const Array*>>& inputs) {
      return drawn(node, inputs, options);
    };
    MONET_RETURN_IF_ERROR(run_ranks(split_.graph, split_.mesh, of_chips, ranks));
    return compare(values, of_chips);
  }

  // One chip's part of a value of the whole step, by chip.
  std::vector<Array> scattered(const std::string& name, const Array& value) const {
    std::vector<Array> parts(chips(), value);
    for (const parallel::AxisLayout& layout : split_.layouts) {
      const parallel::Place place = place_of(layout, name);
      const std::size_t axis = *split_.mesh.find(layout.axis);
      for (std::size_t chip = 0; chip < chips(); ++chip) {
        const std::int64_t at = split_.mesh.coordinate(static_cast<std::int64_t>(chip), axis);
        if (place.is_sharded()) parts[chip] = piece_of(parts[chip], place.axis, place.blocks, layout.chips, at);
        if (!place.is_partial()) continue;
        for (double& term : parts[chip].values)
          term *= at == 0 ? 1 - 0.25 * static_cast<double>(layout.chips - 1) : 0.25;
      }
    }
    return parts;
  }

  // The value of the whole step from all chips' parts, as each chip would put it together.
  Expected<std::vector<Array>> gathered(const std::string& name, std::vector<Array> parts) const {
    for (std::size_t i = split_.layouts.size(); i-- > 0;) {
      const parallel::AxisLayout& layout = split_.layouts[i];
      const parallel::Place place = place_of(layout, name);
      const std::size_t axis = *split_.mesh.find(layout.axis);
      std::vector<Array> next;
      for (std::size_t chip = 0; chip < chips(); ++chip) {
        std::vector<const Array*> members;
        for (std::int64_t member : split_.mesh.group(static_cast<std::int64_t>(chip), axis))
          members.push_back(&parts[static_cast<std::size_t>(member)]);
        if (place.is_sharded()) {
          next.push_back(joined(members, place.axis, place.blocks));
        } else if (place.is_partial()) {
          next.push_back(together(members, place.reduction));
        } else {
          for (const Array* member : members) {
            if (!same_bits(*member, *members[0]))
              return Error{.message = fmt::format("it is whole over {}, and chips differ", layout.axis),
                           .place = name,
                           .advice = {}};
          }
          next.push_back(*members[0]);
        }
      }
      parts = std::move(next);
    }
    return parts;
  }

 private:
  std::size_t chips() const { return static_cast<std::size_t>(split_.mesh.chips()); }

  static parallel::Place place_of(const parallel::AxisLayout& layout, const std::string& name) {
    const auto found = layout.places.find(name);
    return found == layout.places.end() ? parallel::Place{} : found->second;
  }

  static bool same_bits(const Array& a, const Array& b) {
    return a.shape == b.shape && std::equal(a.values.begin(), a.values.end(), b.values.begin(), [](double x, double y) {
             return x == y || (std::isnan(x) && std::isnan(y));
           });
  }

  static Array together(const std::vector<const Array*>& members, parallel::Reduction reduction) {
    Array result = *members[0];
    for (std::size_t m = 1; m < members.size(); ++m) {
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        const double more = members[m]->values[i];
        if (reduction == parallel::Reduction::sum) result.values[i] += more;
        if (reduction == parallel::Reduction::max) result.values[i] = std::max(result.values[i], more);
        if (reduction == parallel::Reduction::min) result.values[i] = std::min(result.values[i], more);
      }
    }
    return result;
  }

  // Of whole numbers that choose rows of tables or are classes: how many there are. 0: of something else.
  std::vector<std::int64_t> index_limits() const {
    std::vector<std::int64_t> limits(whole_.tensors().size(), 0);
    const auto limit = [&](TensorId id, std::int64_t size) {
      std::int64_t& now = limits[id.index()];
      now = now == 0 ? size : std::min(now, size);
    };
    for (std::size_t i = whole_.nodes().size(); i-- > 0;) {
      const Node& node = whole_.nodes()[i];
      const auto axis = [&](std::int64_t otherwise) {
        return static_cast<std::size_t>(node.attributes.integer_or(Attr::axis, otherwise));
      };
      const bool loss = node.op == Op::SoftmaxCrossEntropyLoss || node.op == Op::NegativeLogLikelihoodLoss;
      if (node.op == Op::Gather) limit(node.inputs[1], whole_[node.inputs[0]].type.shape[axis(0)]);
      if (loss) limit(node.inputs[1], whole_[node.inputs[0]].type.shape[axis(1)]);
      const bool passes = node.op == Op::Cast || (family_of(node.op) == OpFamily::view && node.inputs.size() == 1);
      for (TensorId id : node.outputs) {
        if (passes && id.valid() && limits[id.index()] > 0 && is_integer(whole_[node.inputs[0]].type.format.element))
          limit(node.inputs[0], limits[id.index()]);
      }
    }
    return limits;
  }

  // Steps, states and variances as optimizers and norms have them.
  Values starting_values(unsigned seed) const {
    Values values = random_values(whole_, seed);
    const std::vector<std::int64_t> limits = index_limits();
    SeededRandom random(seed);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const auto found = values.find(TensorId(i));
      if (limits[i] == 0 || found == values.end()) continue;
      for (double& x : found->second.values)
        x = static_cast<double>(random.below(static_cast<std::uint64_t>(limits[i])));
    }
    for (auto& [id, value] : values) {
      const Tensor& tensor = whole_[id];
      for (double& x : value.values) {
        if (tensor.name == "learning_rate") x = 0.01;
        if (tensor.name == "step") x = 3;
        if (tensor.role == Role::optimizer_state || tensor.role == Role::statistic) x = std::abs(x) + 0.1;
        if (tensor.parameter) x *= 0.5;
      }
    }
    return values;
  }

  // What is drawn belongs to a place of the whole tensor.
  Expected<std::vector<std::vector<Array>>> drawn(NodeId id, const std::vector<std::vector<const Array*>>& inputs,
                                                  const RunOptions& options) const {
    const Node& local = split_.graph[id];
    const std::string& name = split_.graph[local.outputs[0]].name;
    const Node& node = whole_[whole_[ids_.at(name)].producer];
    std::vector<Array> whole_inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      std::vector<Array> parts;
      for (const auto& of_chip : inputs) parts.push_back(*of_chip[i]);
      MONET_TRY(std::vector<Array> all, gathered(name, std::move(parts)));
      whole_inputs.push_back(std::move(all[0]));
    }
    std::vector<const Array*> pointers;
    for (const Array& input : whole_inputs) pointers.push_back(&input);
    MONET_TRY(const std::vector<Array> results, execute(whole_, node, pointers, options));
    std::vector<std::vector<Array>> of_chips(chips());
    for (std::size_t i = 0; i < local.outputs.size(); ++i) {
      std::vector<Array> parts(chips());
      if (local.outputs[i].valid()) parts = scattered(name, results[i]);
      for (std::size_t chip = 0; chip < chips(); ++chip) of_chips[chip].push_back(std::move(parts[chip]));
    }
    return of_chips;
  }

  // Places in windows are numbered on each chip for itself.
  bool is_comparable(const Tensor& tensor) const {
    if (!tensor.producer.valid()) return true;
    const Node& node = whole_[tensor.producer];
    return node.op != Op::MaxPool || whole_[node.outputs[0]].name == tensor.name;
  }

  // Tensors behind which no sum is split and no operator comes in other parts.
  std::vector<bool> exact_tensors() const {
    std::map<std::string, const Node*, std::less<>> nodes;
    for (const Node& node : whole_.nodes()) nodes.emplace(node.name, &node);
    std::vector<bool> exact(split_.graph.tensors().size(), true);
    for (const Node& node : split_.graph.nodes()) {
      const auto same = nodes.find(node.name);
      const bool moves = node.op == Op::AllGather || node.op == Op::AllToAll || family_of(node.op) == OpFamily::view;
      bool all = moves || (same != nodes.end() && same->second->op == node.op);
      for (TensorId id : node.inputs) all = all && (!id.valid() || exact[id.index()]);
      for (TensorId id : node.outputs) {
        if (id.valid()) exact[id.index()] = all && !is_term(split_.graph[id].name);
      }
    }
    return exact;
  }

  bool is_term(const std::string& name) const {
    return std::ranges::any_of(split_.layouts, [&](const auto& each) { return place_of(each, name).is_partial(); });
  }

  // Gradients can be nothing but rounding (of a bias before a norm of batches): they are told apart from 0 by the
  // gradient as a whole.
  double gradient_norm(const Values& values) const {
    double sum = 0;
    for (const auto& [id, value] : values) {
      if (whole_[id].role != Role::weight_gradient) continue;
      for (double x : value.values) sum += std::isfinite(x) ? x * x : 0;
    }
    return std::sqrt(sum);
  }

  Expected<Proof> compare(const Values& values, const std::vector<Values>& of_chips) const {
    Proof proof;
    const double norm = gradient_norm(values);
    for (const auto& [id, value] : values) {
      if (whole_[id].role != Role::weight_gradient) continue;
      double own = 0;
      for (double x : value.values) own += x * x;
      proof.is_rounding = proof.is_rounding || std::sqrt(own) <= 1e-10 * norm;
    }
    const std::vector<bool> exact = exact_tensors();
    for (std::size_t i = 0; i < split_.graph.tensors().size(); ++i) {
      const Tensor& tensor = split_.graph[TensorId(i)];
      const auto found = ids_.find(tensor.name);
      if (found == ids_.end() || !is_comparable(whole_[found->second]) || !of_chips[0].contains(TensorId(i))) continue;
      std::vector<Array> parts;
      for (const Values& all : of_chips) parts.push_back(all.at(TensorId(i)));
      MONET_TRY(const std::vector<Array> whole, gathered(tensor.name, std::move(parts)));
      const Array& expected = values.at(found->second);
      const bool gradient = tensor.role == Role::weight_gradient || tensor.role == Role::gradient;
      for (const Array& each : whole) {
        const double least = is_square_of_gradient(found->second) ? norm * norm : gradient ? norm : 0;
        double distance = distance_over_norm(each, expected, least);
        if (exact[i] && tensor.producer.valid()) {
          ++proof.exact;
          if (distance > 0) distance = INFINITY;
        }
        ++proof.compared;
        if (!(distance > proof.worst)) continue;
        proof.worst = distance;
        proof.tensor = tensor.name;
      }
    }
    return proof;
  }

  bool is_square_of_gradient(TensorId id) const {
    const NodeId producer = whole_[id].producer;
    return producer.valid() && whole_[producer].op == Op::ReduceSumSquare &&
           whole_[whole_[producer].inputs[0]].role == Role::weight_gradient;
  }

  static double distance_over_norm(const Array& a, const Array& b, double least_norm) {
    if (a.shape != b.shape) return INFINITY;
    double distance = 0, norm = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      if (a.values[i] == b.values[i] || (std::isnan(a.values[i]) && std::isnan(b.values[i]))) continue;
      distance += (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]);
    }
    for (double x : b.values) norm += std::isfinite(x) ? x * x : 0;
    if (distance == 0) return 0;
    return std::isfinite(distance) ? std::sqrt(distance) / std::max({std::sqrt(norm), least_norm, 1e-300}) : INFINITY;
  }

  const Graph& whole_;
  const parallel::ParallelStep& split_;
  std::map<std::string, TensorId, std::less<>> ids_;
};

inline Expected<Proof> prove(const Graph& whole, const parallel::ParallelStep& split, unsigned seed = 1) {
  return ParallelProof(whole, split).run(seed);
}

}  // namespace monet::test
