// Laws with round numbers, for which times can be written down.
#pragma once

#include "kernels/laws/forms.h"

namespace monet::test {

// 100 multiprocessors; 100 / 200 / 400 TFLOP/s; 8 TB/s from a cache up to 10 MB, 4 from memory from 20 MB on.
inline KernelLaws hand_made_laws() {
  KernelLaws laws;
  laws.multiprocessors = 100;
  laws.ceiling = {100e6, 200e6, 400e6};
  laws.memory = {.cache_rate = 8e6, .memory_rate = 4e6, .cache_until = 10e6, .memory_from = 20e6, .cold_after = 15e6};
  laws.energy = {.base_w = 100,
                 .flop_pj = {10, 2, 1},
                 .byte_pj = 20,
                 .memory_byte_pj = 80,
                 .busy_w = 50,
                 .scalar_w = 30,
                 .limit_w = 500};
  return laws;
}

inline void set_law(KernelLaws& laws, const char* name, const Coefficients& coefficients) {
  ClassLaw law;
  law.kernel_class = *kernel_class_named(name);
  law.coefficients = coefficients;
  laws.classes.push_back(law);
  complete(laws);
}

}  // namespace monet::test
