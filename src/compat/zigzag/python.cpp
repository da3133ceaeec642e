#include "compat/zigzag/python.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace monet::zigzag {

namespace {

constexpr std::uint8_t vacant = std::numeric_limits<std::uint8_t>::max();

// CPython's setobject.c: open addressing, nine linear probes where they fit before the table's end.
class Table {
 public:
  void add(std::uint8_t item, std::span<const std::uint64_t> hashes) {
    put(item, hashes);
    if (++used_ * 5 < (slots_.size() - 1) * 3) return;
    std::size_t size = 8;
    while (size <= used_ * 4) size *= 2;
    std::vector<std::uint8_t> old(size, vacant);
    old.swap(slots_);
    for (std::uint8_t each : old) {
      if (each != vacant) put(each, hashes);
    }
  }

  std::vector<std::uint8_t> items() const {
    std::vector<std::uint8_t> found;
    for (std::uint8_t each : slots_) {
      if (each != vacant) found.push_back(each);
    }
    return found;
  }

 private:
  void put(std::uint8_t item, std::span<const std::uint64_t> hashes) {
    const std::size_t mask = slots_.size() - 1;
    std::uint64_t perturb = hashes[item];
    std::size_t i = perturb & mask;
    while (true) {
      const std::size_t probes = i + 9 <= mask ? 9 : 0;
      for (std::size_t j = i; j <= i + probes; ++j) {
        if (slots_[j] != vacant) continue;
        slots_[j] = item;
        return;
      }
      perturb >>= 5;
      i = (i * 5 + 1 + perturb) & mask;
    }
  }

  std::vector<std::uint8_t> slots_ = std::vector<std::uint8_t>(8, vacant);
  std::size_t used_ = 0;
};

}  // namespace

double round_thousandths(double x) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.3f", x);
  return std::strtod(text.data(), nullptr);
}

std::vector<std::uint8_t> set_order(std::span<const std::uint64_t> hashes) {
  Table table;
  for (std::size_t i = 0; i < hashes.size(); ++i) table.add(static_cast<std::uint8_t>(i), hashes);
  return table.items();
}

// hash(LayerDim(name)) and hash(OADimension(name)) of ZigZag 3.8.5: SHA-512 of the pickled name and class, reduced as
// Python reduces integers. They do not depend on the run.
std::uint64_t loop_hash(Dim dim) {
  switch (dim) {
    case Dim::B: return 2274680621932004355U;
    case Dim::C: return 1154411953581605750U;
    case Dim::D: return 636768403010484021U;
    case Dim::FX: return 529600628638832194U;
    case Dim::FY: return 1607686027741749687U;
    case Dim::FZ: return 1704040369556682217U;
    case Dim::G: return 1958728070581703856U;
    case Dim::H: return 388853881137512038U;
    case Dim::K: return 808955158820251385U;
    case Dim::OX: return 1754239838488883382U;
    case Dim::OY: return 1775822064850599801U;
    case Dim::OZ: return 426318468843309241U;
    default: return static_cast<std::uint64_t>(dim);
  }
}

std::uint64_t dimension_hash(std::string_view name, std::size_t index) {
  constexpr std::array<std::uint64_t, 10> hashes{
      2091132223586646982U, 2048910558639910025U, 386846459442819546U,  286093410687053097U,  1190809941726157689U,
      544822956181701485U,  1930959356683938573U, 1379282334648076987U, 1590146085942940512U, 2260062065197120378U};
  const bool known = name.size() == 2 && name[0] == 'D' && name[1] >= '0' && name[1] <= '9';
  return known ? hashes[static_cast<std::size_t>(name[1] - '0')] : index;
}

}  // namespace monet::zigzag
