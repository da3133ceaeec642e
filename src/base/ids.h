// Strong 32-bit identifiers: a TensorId is not a NodeId, and neither is an integer.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace monet {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;  // the id of nothing
  constexpr explicit Id(std::size_t index) : value_(static_cast<std::uint32_t>(index)) {}

  constexpr bool valid() const { return value_ != none; }
  constexpr std::size_t index() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  std::uint32_t value_ = none;
};

}  // namespace monet

template <class Tag>
struct std::hash<monet::Id<Tag>> {
  std::size_t operator()(monet::Id<Tag> id) const noexcept { return id.index(); }
};
