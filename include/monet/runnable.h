// Whether a machine can run a network, before anything is evaluated: what it is missing, all of it, and where.
#pragma once

#include <monet/evaluate.h>
#include <monet/expected.h>
#include <monet/text.h>

#include <cstdint>
#include <string>
#include <vector>

namespace monet {

// Operators of one type that no core can run, for the same reasons.
struct MissingOperators {
  std::string op;
  std::int64_t count = 0;
  std::string example;               // the name of one of them
  std::vector<std::string> reasons;  // one for each type of core
};

struct RunnableMode {
  bool runs = true;
  std::vector<MissingOperators> missing;  // in the order of the step
  std::vector<std::string> expanded;  // composite operators that run in their parts, because no core runs them whole
};

struct Runnable {
  std::string hardware, model;
  RunnableMode training, inference;
  std::vector<std::string> warnings, notes;
};

// The network as the options make it, as a training step and its forward part alone. Whether memory is large enough is
// another question: evaluate_network() answers it.
Expected<Runnable> check_runnable(const Network& network, const StepRequest& given);

// As one JSON object with "schema": 1; `inference`: whether that decides, and not training.
std::string to_json(const Runnable& runnable, bool inference);
// As tables for people.
Text to_text(const Runnable& runnable);

}  // namespace monet
