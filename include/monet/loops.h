// Names of the loops of operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monet {

// B batch, G group, K output channel or column, C contracted channel, D row, H head; O*, F*, I*: output, filter and
// input positions in depth, height, width; A0 and the values after it: axes without a name of their own.
enum class Dim : std::uint8_t { B, G, K, C, D, H, OZ, OY, OX, FZ, FY, FX, IZ, IY, IX, A0 };
// A0, A1, …
constexpr Dim generic_dim(std::size_t i) { return static_cast<Dim>(static_cast<std::size_t>(Dim::A0) + i); }
std::string name_of(Dim dim);
// The loop with that name; nothing: no loop is called so.
std::optional<Dim> dim_named(std::string_view name);

}  // namespace monet
