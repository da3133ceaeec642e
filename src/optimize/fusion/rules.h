// What may be fused into one stack. The defaults are the published ones.
#pragma once

#include <cstddef>

namespace monet::fusion {

struct Rules {
  std::size_t limit = 6;                      // operators of a set
  std::size_t convolutions = 3;               // Conv in a set
  std::size_t transposed = 3;                 // ConvTranspose in a set
  std::size_t products = 1;                   // Gemm, MatMul and the like in a set
  std::size_t convolutions_with_product = 1;  // Conv and ConvTranspose beside a product
  std::size_t leaving = 1;                    // operators of a set whose results operators outside read
  bool divisible_tilings = true;              // of two operators of a set, one's tiles divide the other's
  bool weights_fit = true;                    // on each core that may run them, all weights of a set at once
  // Sum, Gather, Pad and generated values do not count as operators, as in the published work: what they read passes
  // through them. Without it only views are passed over.
  bool published = false;
};

constexpr std::size_t max_limit = 16;  // of operators in a set

}  // namespace monet::fusion
