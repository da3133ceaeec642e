#include "hardware/keys.h"
#include "kernels/laws/forms.h"

#include <algorithm>

namespace monet {

namespace {

std::vector<Key> by_precision(Measure measure, std::string_view meaning) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < kernel_precisions; ++i)
    keys.push_back({.name = name_of(static_cast<KernelPrecision>(i)),
                    .form = Form::quantity,
                    .meaning = meaning,
                    .measure = measure});
  return keys;
}

}  // namespace

const Block& kernels_block() {
  static const Block block = {
      "kernels",
      joined({{{.name = "date", .meaning = "when it was measured"},
               {.name = "multiprocessors", .form = Form::integer, .meaning = "that run blocks of threads"},
               {.name = "ceiling",
                .form = Form::block,
                .meaning = "operations a second of the fastest product, by precision",
                .block = kernel_ceiling_block},
               {.name = "memory",
                .form = Form::block,
                .meaning = "bandwidth by what a kernel touches",
                .block = kernel_memory_block},
               {.name = "energy", .form = Form::block, .meaning = "power and energy", .block = kernel_energy_block},
               {.name = "laws",
                .form = Form::blocks,
                .meaning = "coefficients by class of kernels: product.forward.bf16, elementwise.add.fp32.cold …",
                .block = kernel_law_block}},
              provenance_keys()})};
  return block;
}

const Block& validated_block() {
  static const auto percent = [](std::string_view name, std::string_view meaning) {
    return Key{.name = name, .form = Form::number, .meaning = meaning};
  };
  static const Block block = {
      "validated", joined({{{.name = "machine", .meaning = "that was measured: one of another name is not validated"},
                            percent("latency", "mean absolute error in per cent; left out: not compared"),
                            percent("energy", "the same of energy"),
                            percent("memory", "the same of peak memory")},
                           provenance_keys()})};
  return block;
}

const Block& kernel_ceiling_block() {
  static const Block block = {
      "ceiling", joined({by_precision(Measure::rate, "operations a second, 2 for a MAC"), provenance_keys()})};
  return block;
}

const Block& kernel_memory_block() {
  static const Block block = {
      "memory of kernels",
      joined({{{.name = "cache_rate",
                .form = Form::quantity,
                .meaning = "while all operands fit the last cache",
                .measure = Measure::bandwidth},
               {.name = "memory_rate",
                .form = Form::quantity,
                .meaning = "when they come from memory",
                .measure = Measure::bandwidth},
               {.name = "cache_until",
                .form = Form::quantity,
                .meaning = "bytes of operands up to which cache_rate holds",
                .measure = Measure::size},
               {.name = "memory_from",
                .form = Form::quantity,
                .meaning = "from which memory_rate holds; linear between",
                .measure = Measure::size},
               {.name = "cold_after",
                .form = Form::quantity,
                .meaning = "an operand is in memory when more was touched since its last use",
                .measure = Measure::size},
               {.name = "cold_slowdown_32",
                .form = Form::number,
                .meaning = "share by which 32-bit products take longer on cold operands; left out: 0"},
               {.name = "cold_slowdown_tf32",
                .form = Form::number,
                .meaning = "the same of tf32; left out: as of 32-bit products"},
               {.name = "cold_slowdown_16", .form = Form::number, .meaning = "the same of 16-bit products"},
               {.name = "cold_waiting_32",
                .form = Form::number,
                .meaning = "the same where few multiprocessors hold blocks; left out: as where all do"},
               {.name = "cold_waiting_tf32", .form = Form::number, .meaning = "the same of tf32"},
               {.name = "cold_waiting_16", .form = Form::number, .meaning = "the same of 16-bit products"}},
              provenance_keys()})};
  return block;
}

const Block& kernel_energy_block() {
  static const auto quantity = [](std::string_view name, Measure measure, std::string_view meaning) {
    return Key{.name = name, .form = Form::quantity, .meaning = meaning, .measure = measure};
  };
  static const Block block = {
      "energy of kernels",
      joined({{quantity("base", Measure::power, "whenever kernels run"),
               quantity("busy", Measure::power, "more with blocks on all multiprocessors"),
               quantity("scalar", Measure::power, "more in kernels that the plain cores bound"),
               quantity("limit", Measure::power, "of the board, over many kernels; left out: none"),
               quantity("byte", Measure::energy, "of operands and results"),
               quantity("memory_byte", Measure::energy, "more for a byte from or to memory"),
               {.name = "clock_exponent",
                .form = Form::number,
                .meaning = "energy of an operation goes with the clock to this power; left out: not known, and the "
                           "limit slows nothing"}},
              by_precision(Measure::energy, "of a floating-point operation"),
              provenance_keys()})};
  return block;
}

const Block& kernel_law_block() {
  static const Block block = [] {
    Block made{"law", {}};
    for (const LawForm* form : all_forms()) {
      for (const Coefficient& c : form->coefficients) {
        if (made.find(c.name) == nullptr)
          made.keys.push_back({.name = c.name, .form = Form::number, .meaning = c.meaning});
      }
    }
    made.keys.push_back(
        {.name = "reach", .form = Form::number, .meaning = "how far measured kernels speak for others"});
    made.keys.push_back({.name = "noise", .form = Form::number, .meaning = "how little they are trusted"});
    made.keys.push_back({.name = "measured", .meaning = "sizes and us of measured kernels, separated by commas"});
    return made;
  }();
  return block;
}

}  // namespace monet
