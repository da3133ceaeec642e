// From one technology node to another: Stillmaker and Baas (data/hardware/scaling.csv).
//
//   energy factor(node, V) = a2 V² + a1 V + a0        ratio = factor(to, V) / factor(from, V)
//
// Between the nodes of the table both are interpolated in doubly logarithmic axes; above 130 nm the last piece goes on;
// below 7 nm energy falls as √node and area as node (the rule of Accelergy).
#pragma once

#include <string>

namespace monet {

constexpr const char* scaling_source = "Stillmaker and Baas 2017";

// Require nodes > 0.
double energy_ratio(double from_nm, double to_nm, double voltage);
double area_ratio(double from_nm, double to_nm);

}  // namespace monet
