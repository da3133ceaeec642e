// What a machine's file says about kernels (`kernels:` of a core).
#pragma once

#include "kernels/kernel_class.h"
#include "kernels/residual.h"

#include <array>
#include <string>
#include <vector>

namespace monet {

// Bytes a second from the last cache and from memory, by how much a kernel touches.
struct MemoryLaw {
  double cache_rate = 0;   // bytes/µs while all fits
  double memory_rate = 0;  // bytes/µs from `memory_from` on; between the two the rate changes linearly
  double cache_until = 0;  // bytes
  double memory_from = 0;
  double cold_after = 0;  // an operand is cold when more bytes than these were touched since its last use
};

// Power and energy beside the time: see kernels/laws/energy.cpp.
struct EnergyLaw {
  double base_w = 0;  // flows whenever kernels run
  std::array<double, kernel_precisions> flop_pj{};
  double byte_pj = 0;         // of operands and results
  double memory_byte_pj = 0;  // more for a byte from or to memory
  double busy_w = 0;          // with blocks on all multiprocessors
  double scalar_w = 0;        // more in kernels that the plain cores bound
  double limit_w = 0;         // the board's, over many kernels; 0: none
  // What an operation takes goes with the clock to this power, and what busy cores draw to one more; 0: not known.
  double clock_exponent = 0;
};

constexpr std::size_t max_coefficients = 12;

struct MeasuredKernel {
  Kernel kernel;
  double us = 0;
};

struct ClassLaw {
  KernelClass kernel_class;
  std::array<double, max_coefficients> coefficients{};  // by the law's form (kernels/laws/forms.h)
  std::vector<MeasuredKernel> measured;
  Nearness nearness;
  Residual residual;  // of `measured` from the law
};

struct KernelLaws {
  std::string source;
  char confidence = '-';  // as of every value of a machine (hardware/hardware.h)
  std::string date;
  double multiprocessors = 0;
  std::array<double, kernel_precisions> ceiling{};  // flops/µs: the highest stated or measured
  double top_rate = 0;                              // bytes/µs: the highest stated or measured
  // By how much a product or a convolution far from the ceiling takes longer on cold operands.
  std::array<double, kernel_precisions> cold_slowdown{};
  // The same where few multiprocessors hold blocks, so that nothing runs while these wait.
  std::array<double, kernel_precisions> cold_waiting{};
  MemoryLaw memory;
  EnergyLaw energy;
  std::vector<ClassLaw> classes;  // sorted by class

  const ClassLaw* find(const KernelClass& kernel_class) const;
};

// Residuals of what was measured, and classes in order: to be called when coefficients have changed.
void complete(KernelLaws& laws);

}  // namespace monet
