// A training step on a machine: what it takes, and the same again by its plan.
//
//   cmake -B build -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build && build/evaluate resnet18-cifar edge_tpu
#include <monet/evaluate.h>

#include <cstdio>

namespace {

int fail(const monet::Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const auto network = monet::Network::open(count > 1 ? arguments[1] : "resnet18-cifar");
  if (!network) return fail(network.error());
  const auto machine = monet::Machine::open(count > 2 ? arguments[2] : "edge_tpu");
  if (!machine) return fail(machine.error());
  const monet::Step step{*network, {.batch = 4, .optimizer = "adam"}};

  const auto result = monet::evaluate(step, *machine);
  if (!result) return fail(result.error());
  std::printf("%s on %s: %.3f ms, %.3f mJ, %.2f times its bound\n", result->model.c_str(), result->hardware.c_str(),
              1e3 * result->latency_s, 1e-9 * result->energy_pj, result->latency_cycles / result->bound_cycles);

  // The plan that was carried out is a value too, and gives the same result again.
  const auto plan = monet::plan_from(result->plan_yaml, "the plan of the first");
  if (!plan) return fail(plan.error());
  const auto again = monet::evaluate(step, *machine, *plan);
  if (!again) return fail(again.error());
  std::printf("by its plan: %s\n", again->latency_cycles == result->latency_cycles ? "the same" : "another result");
  return again->latency_cycles == result->latency_cycles ? 0 : 1;
}
