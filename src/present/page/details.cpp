#include "present/page/details_parts.h"

#include <monet/report.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace monet {

namespace {

void write_machine(DetailsText& out, const MachineFacts& machine) {
  out.open("machine", '{');
  out.add("peak_macs_per_cycle", machine.peak_macs_per_cycle);
  out.open("roofs", '[');
  for (const MachineFacts::Roof& roof : machine.roofs) {
    out.open("", '{');
    out.add("memory", roof.memory);
    out.add("bytes_per_cycle", roof.bytes_per_cycle);
    out.close('}');
  }
  out.close(']');
  out.open("derived", '[');
  for (const MachineFacts::Derived& derived : machine.derived) {
    out.open("", '{');
    out.add("name", derived.name);
    out.add("value", derived.value);
    out.add("source", derived.source);
    out.close('}');
  }
  out.close(']');
  out.close('}');
}

// The place of its lowest bit that is set.
int lowest_bit(double value) {
  int exponent = 0;
  constexpr int digits = std::numeric_limits<double>::digits;
  const double mantissa = std::ldexp(std::frexp(value, &exponent), digits);
  return exponent - digits + std::countr_zero(static_cast<std::uint64_t>(mantissa));
}

}  // namespace

double tick_of(const std::vector<double>& times) {
  double largest = 0;
  int exact = std::numeric_limits<int>::max();
  for (const double time : times) {
    if (!std::isfinite(time) || time <= 0) continue;
    largest = std::max(largest, time);
    exact = std::min(exact, lowest_bit(time));
  }
  if (largest == 0) return 1;
  constexpr int bits = 20;  // a rounding error of half a tick is at most 2^-21 of the largest
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, std::max(exact, exponent - 1 - bits));
}

std::string to_details(const Evaluation& evaluation) {
  DetailsText out;
  out.open("", '{');
  out.add("schema", std::int64_t{1});
  write_machine(out, evaluation.machine);
  if (!evaluation.trace.empty()) write_schedule(out, evaluation);
  if (!evaluation.lifetimes.empty()) write_lifetimes(out, evaluation);
  if (!evaluation.graph.nodes.empty()) write_graph(out, evaluation.graph);
  out.close('}');
  return out.take();
}

}  // namespace monet
