// Attributes of operators that several tests try.
#pragma once

#include "graph/attributes.h"

#include <utility>
#include <vector>

namespace monet::test {

// Of the product of two matrices as they are.
inline const Attributes plain_product = {
    {Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};

// Of MatMul and Gemm.
inline Attributes product_attributes(bool trans_a = false, bool trans_b = false, double alpha = 1.0,
                                     double beta = 1.0) {
  return {{Attr::trans_a, std::int64_t{trans_a}},
          {Attr::trans_b, std::int64_t{trans_b}},
          {Attr::alpha, alpha},
          {Attr::beta, beta}};
}

// Of a normalization, with what is given.
inline Attributes norm_attributes(const std::vector<std::pair<Attr, std::int64_t>>& integers) {
  Attributes result = {{Attr::epsilon, 1e-3}, {Attr::momentum, 0.9}};
  for (const auto& [key, value] : integers) result.set(key, value);
  return result;
}

}  // namespace monet::test
