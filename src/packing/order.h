// Orders of buffers: who comes first where several could be placed at the same offset.
#pragma once

#include "packing/problem.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet::packing {

// All largest first. Total: the largest load during the lifetime. Area: lifetime times size.
enum class OrderKind { area_total_lifetime, total_lifetime_area, lifetime_area_total, total_area_lifetime };
inline constexpr OrderKind order_kinds[] = {OrderKind::area_total_lifetime, OrderKind::total_lifetime_area,
                                            OrderKind::lifetime_area_total, OrderKind::total_area_lifetime};

std::vector<std::int32_t> order_of(const Problem& problem, OrderKind kind);
// By area times the largest weight of a section during the lifetime.
std::vector<std::int32_t> weighted_order(const Problem& problem, std::span<const double> section_weights);

}  // namespace monet::packing
