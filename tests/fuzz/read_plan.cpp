// Whatever the text, reading it as a plan ends with a plan or an error; a plan that was written reads back the same;
// and making ids of it ends with a result or an error.
#include "evaluate/open/hardware.h"
#include "evaluate/plan/bind.h"
#include "evaluate/plan/bind_tensors.h"
#include "evaluate/plan/reader.h"
#include "graph/verify.h"
#include "networks/builtin.h"
#include "training/recompute.h"
#include "training/step.h"

#include "plan_mutator.h"

#include <monet/plan.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace monet;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

void fail_on_defect(const Error& error) {
  if (error.kind == ErrorKind::defect) fail(error.text());
}

const Graph& step() {
  static const Graph graph =
      training::make_training_step({*build_builtin("gpt2:layers=1,width=8,heads=2"), false, {}, {}}, {})->graph;
  return graph;
}

const Hardware& hardware() {
  static const Hardware machine = *open_hardware("monet_2x2");
  return machine;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Most plain mutants of a plan name nothing that the graph has, and are refused before anything is done with them.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  SeededRandom random(seed);
  if (random.below(5) == 0) return LLVMFuzzerMutate(data, size, most);
  auto read = plan_from(std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  Plan plan = read ? *std::move(read) : Plan{};
  for (std::size_t left = 1 + random.below(4); left > 0; --left) fuzz::change(plan, step(), hardware(), random);
  const std::string text = to_yaml(plan);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = plan_from(std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  if (!plan) {
    fail_on_defect(plan.error());
    return 0;
  }
  const std::string text = to_yaml(*plan);
  const auto again = plan_from(text, "again.yaml");
  if (!again) fail(again.error().text() + "\n" + text);
  if (to_yaml(*again) != text) fail("reads back as another plan:\n" + text);
  const auto tensors = bind_tensors(*plan, step(), hardware());
  if (!tensors) {
    fail_on_defect(tensors.error());
    return 0;
  }
  const auto after = training::recompute(step(), recomputed(*tensors));
  if (!after) fail(after.error().text());
  if (const auto status = verify(after->graph); !status) fail(status.error().text());
  const auto bound = bind(*plan, after->graph, hardware());
  if (!bound) fail_on_defect(bound.error());
  return 0;
}
