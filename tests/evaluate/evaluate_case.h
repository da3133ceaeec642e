// Small steps on small machines, evaluated and checked, with questions about their schedules.
#pragma once

#include "evaluate/plan/reader.h"
#include "evaluate/random_evaluation.h"
#include "graph/builder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace monet::test {

// A core `NAME` that does one operation a cycle, with these levels.
inline std::string rate_core(const std::string& name, const std::string& levels) {
  return "  " + name + ":\n    rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}}\n    memories: {" + levels +
         "}\n";
}
inline std::string port(const std::string& bits) { return "ports: {rw: {width: " + bits + " bit/cycle}}"; }
inline std::string costs() { return "read_energy: 1 pJ, write_energy: 1 pJ"; }
// A memory of the machine, or with `paths` of a core, with a port for each way.
inline std::string memory(const std::string& name, const std::string& kind, const std::string& size, int bits) {
  return name + ": {kind: " + kind + ", size: " + size + ", " + costs() +
         ", ports: {r: {kind: read, width: " + std::to_string(bits) +
         " bit/cycle}, w: {kind: write, width: " + std::to_string(bits) + " bit/cycle}}}";
}

class Case {
 public:
  Case(Graph graph, const std::string& machine, const std::string& plan = {}) {
    auto hardware = read_hardware_text("monet: 1\nname: machine\nclock: 1 GHz\n" + machine, "machine.yaml");
    EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
    auto read = plan_from("plan: 1\n" + plan, "plan.yaml");
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().text());
    if (!hardware || !read) return;
    auto wanted = carried_out(graph, *std::move(hardware), *std::move(read));
    EXPECT_TRUE(wanted.has_value()) << (wanted ? "" : wanted.error().text());
    if (!wanted) return;
    subject_ = std::make_unique<RandomEvaluation>(*std::move(wanted));
    evaluator_ = std::make_unique<Evaluator>(subject_->graph, subject_->hardware, cache_, EvaluatorOptions{});
    auto result = evaluate(*evaluator_, *subject_);
    if (!result) {
      error_ = result.error();
      return;
    }
    result_ = *std::move(result);
    const CheckReport report = check(*evaluator_, result_);
    EXPECT_EQ(report.count, 0U) << report.violations.front().what;
  }

  // Why there is no result; empty: there is one.
  const Error& error() const { return error_; }
  const Graph& graph() const { return subject_->graph; }
  const Hardware& hardware() const { return subject_->hardware; }
  Evaluator& evaluator() { return *evaluator_; }
  const Evaluated& result() const {
    EXPECT_TRUE(error_.message.empty()) << error_.text();
    return result_;
  }
  const Schedule& schedule() const { return result().schedule; }
  double cycles() const { return schedule().cycles; }

  // Tiles of an operator, in order.
  std::vector<ScheduledTile> tiles(const std::string& name) const {
    std::vector<ScheduledTile> tiles;
    for (std::size_t i = 0; i < result_.tiles.tiles(); ++i) {
      if (graph()[result_.tiles.node[i]].name == name) tiles.push_back(schedule().tiles[i]);
    }
    EXPECT_FALSE(tiles.empty()) << name;
    return tiles;
  }
  // Transfers of a tensor, in the order in which they were booked.
  std::vector<ScheduledTransfer> transfers(const std::string& name, TransferKind kind) const {
    std::vector<ScheduledTransfer> transfers;
    for (const ScheduledTransfer& transfer : schedule().transfers) {
      const TensorId tensor = result_.tiles.buffers[transfer.buffer.index()].tensor;
      if (graph()[tensor].name == name && transfer.kind == kind) transfers.push_back(transfer);
    }
    return transfers;
  }
  std::size_t transfers(TransferKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(schedule().transfers, kind, &ScheduledTransfer::kind));
  }
  std::vector<TensorStay> home(const std::string& name) const {
    std::vector<TensorStay> stays;
    for (const TensorStay& stay : schedule().home) {
      if (graph()[stay.tensor].name == name) stays.push_back(stay);
    }
    return stays;
  }

 private:
  std::unique_ptr<RandomEvaluation> subject_;
  MappingCache cache_;
  std::unique_ptr<Evaluator> evaluator_;
  Evaluated result_;
  Error error_;
};

inline Graph finished(GraphBuilder& builder) {
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return graph ? *std::move(graph) : Graph();
}

// x -> op0 -> op1 … of so many elements, each of one operation an element.
inline Graph chain(int operators, std::int64_t rows, std::int64_t columns = 1) {
  GraphBuilder b("chain");
  TensorId x = b.input("x", {rows, columns});
  for (int i = 0; i < operators; ++i) x = b.add(Op::Neg, "op" + std::to_string(i), {x});
  b.output(x);
  return finished(b);
}

// So many of them side by side.
inline Graph branches(const std::vector<std::int64_t>& rows) {
  GraphBuilder b("branches");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string number = std::to_string(i);
    b.output(b.add(Op::Neg, "op" + number, {b.input("x" + number, {rows[i]})}));
  }
  return finished(b);
}

}  // namespace monet::test
