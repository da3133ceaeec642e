// In which numbers a network runs on a machine: its own, or those of a recipe.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"
#include "mapping/extract.h"

#include <monet/evaluate.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

// Where the choice of a recipe comes from.
enum class RecipeFrom : std::uint8_t { file, machine, option };
std::string_view name_of(RecipeFrom from);

// The widest floating-point numbers that a network computes with.
std::string own_numbers(const Graph& graph);

struct NumberChoice {
  std::string recipe;  // its name or file; of the network's own numbers, what they are: "fp32"
  RecipeFrom from = RecipeFrom::file;

  // As options of a training step have it.
  std::string precision() const { return from == RecipeFrom::file ? std::string() : recipe; }
};

// `--precision` if it is given. Else the network's own numbers if every operator of it that the machine can run at all
// has a unit that works in them, its products an array where there is one. Else the machine's recipe; without one, the
// network's own all the same, which then fail with lacks_numbers(). With `zigzag` always int8-everywhere.
Expected<NumberChoice> choose_numbers(const Network& source, const Hardware& hardware, const TrainOptions& train,
                                      bool zigzag = false);

// What the recipe says of how operators run, whatever their tensors are. `products` beside it, if it is not empty.
Expected<ExtractOptions> extract_options(const std::string& precision, const std::string& products);

// An operator that some core could run, but for the numbers that it works in.
struct LackingNumbers {
  NodeId node;
  std::string reason;  // "core array multiplies in int8, not in fp32"
};
std::optional<LackingNumbers> lacking_numbers(const Graph& graph, const Hardware& hardware,
                                              const ExtractOptions& extract);

// The step cannot run in these numbers: which the machine has, and which recipes would do.
Status check_numbers(const Graph& graph, const Hardware& hardware, const ExtractOptions& extract,
                     const std::string& recipe);

// Of the program's own recipes, those that a small network can be trained in on the machine.
std::vector<std::string> recipes_for(const Hardware& hardware);

}  // namespace monet
