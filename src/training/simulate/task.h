// What a network is to learn: its inputs and targets, sample by sample.
#pragma once

#include "interpret/prepared_graph.h"
#include "training/loss.h"

#include <string>
#include <vector>

namespace monet::training {

// A forward network with its loss, in the precision of its file: what every recipe starts from.
struct TaskGraph {
  Graph graph;
  std::vector<TensorId> inputs;  // data: all that is given anew with each batch
  TensorId target;
  TensorId scores;  // the first output of the network
  TensorId loss;
  LossKind kind = LossKind::cross_entropy;
  std::int64_t class_axis = 0;
  std::int64_t ignore_index = 0;
  std::int64_t batch = 1;

  bool classifies() const { return kind == LossKind::cross_entropy; }
  std::int64_t classes() const { return graph[scores].type.shape[static_cast<std::size_t>(class_axis)]; }
};

// Fails where the loss does not fit, or is one of the network's own outputs: nobody knows what belongs into its inputs.
Expected<TaskGraph> task_graph(Graph forward, const LossOptions& options);

// One tensor of all samples, or one that is the same for all.
struct Column {
  std::string name;
  Shape shape;                 // of a batch
  std::int64_t a_sample = 0;   // elements; 0: the tensor does not depend on the sample
  std::vector<double> values;  // sample by sample
};

struct Samples {
  std::int64_t count = 0;
  std::vector<Column> columns;  // inputs in the order of the network, then the target
  std::string description;
};

// Which samples are learned from and which are held out, both whole batches. A fifth is held out, at least one batch;
// what does not fill a batch of these is learned from.
struct Split {
  std::vector<std::size_t> train, held_out;
};
Split split(std::int64_t samples, std::int64_t batch, std::uint64_t seed);

// The value of a column for a batch of samples.
Array batch_of(const Column& column, std::span<const std::size_t> samples);

struct TaskOptions {
  std::string file;          // empty: a made-up task
  std::int64_t samples = 0;  // of a made-up task; 0: 64 batches
  std::uint64_t seed = 1;
};
// Fails where there are too few samples for a batch to learn from and one to hold out, or too many for the memory.
Expected<Samples> make_samples(const TaskGraph& task, const TaskOptions& options);

// The columns of a task, without values.
std::vector<Column> empty_columns(const TaskGraph& task);
// The class with the largest score at each position; of equals the first. Where a score is not a number: the number of
// classes, which is none.
std::vector<std::size_t> best_classes(const Array& scores, std::int64_t axis);
// How many tokens an input of integers is chosen from: the length of the table in which it is looked up. 0: none is.
std::int64_t vocabulary_of(const Graph& graph, TensorId input);

// A file of numbers separated by commas, one sample a line: features, then the class or the targets. A first line
// without a number is a heading.
Expected<Samples> read_samples(const TaskGraph& task, const std::string& file);
Expected<Samples> made_up_samples(const TaskGraph& task, std::int64_t count, std::uint64_t seed);

}  // namespace monet::training
