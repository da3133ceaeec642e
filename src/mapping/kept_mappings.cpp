#include "mapping/kept_mappings.h"

#include "mapping/key.h"

#include <monet/cache.h>

#include <fmt/format.h>
#include <xxhash.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <tuple>

namespace monet {

namespace {

// A record is where its key says, in one of a few places beside each other.
constexpr std::size_t record_bytes = 128;
constexpr std::size_t places = 4;
constexpr std::size_t sets_of_places = KeptMappings::most_bytes / (record_bytes * places);

struct Record {
  std::uint64_t low = 0, high = 0;  // digest of the key; both 0: there is none
  std::uint64_t checksum = 0;       // of all that follows, and of the digest
  double within = 0;
  std::uint8_t complete = 0;
  std::uint8_t size = 0;
  std::array<std::uint8_t, 94> mapping{};
};
static_assert(sizeof(Record) == record_bytes);
using Places = std::array<Record, places>;

std::uint64_t checksum_of(const Record& record) {
  const auto* const text = reinterpret_cast<const char*>(&record);
  constexpr std::size_t from = offsetof(Record, within);
  return XXH3_64bits_withSeed(text + from, record_bytes - from, record.low ^ record.high);
}

// Whole numbers of seven bits a byte; a number that does not fit makes all of it worthless.
class Packer {
 public:
  explicit Packer(Record& record) : record_(record) {}

  void add(std::uint64_t value) {
    do {
      if (record_.size == record_.mapping.size()) {
        fits_ = false;
        return;
      }
      record_.mapping[record_.size++] = static_cast<std::uint8_t>((value & 0x7fU) | (value > 0x7f ? 0x80U : 0U));
      value >>= 7U;
    } while (value > 0);
  }
  bool fits() const { return fits_; }

 private:
  Record& record_;
  bool fits_ = true;
};

class Unpacker {
 public:
  explicit Unpacker(const Record& record) : record_(record) {}

  std::uint64_t next() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ >= std::min<std::size_t>(record_.size, record_.mapping.size())) break;
      const std::uint8_t byte = record_.mapping[at_++];
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    good_ = false;
    return 0;
  }
  std::uint8_t next_small() { return static_cast<std::uint8_t>(std::min<std::uint64_t>(next(), 0xff)); }
  bool good() const { return good_; }
  bool done() const { return at_ == record_.size; }

 private:
  const Record& record_;
  std::size_t at_ = 0;
  bool good_ = true;
};

bool pack(const Mapping& mapping, Record& record) {
  Packer packer(record);
  packer.add(mapping.spatial.size());
  for (const SpatialLoop& loop : mapping.spatial) {
    packer.add(loop.dimension);
    packer.add(loop.loop);
    packer.add(static_cast<std::uint64_t>(loop.size));
  }
  packer.add(mapping.temporal.size());
  for (const TemporalLoop& loop : mapping.temporal) {
    packer.add(loop.loop);
    packer.add(static_cast<std::uint64_t>(loop.size));
  }
  packer.add(mapping.cuts.size());
  for (const std::vector<std::uint8_t>& cuts : mapping.cuts) {
    packer.add(cuts.size());
    for (std::uint8_t cut : cuts) packer.add(cut);
  }
  return packer.fits();
}

std::optional<Mapping> unpack(const Record& record) {
  Unpacker unpacker(record);
  Mapping mapping;
  for (std::uint64_t i = unpacker.next(); i > 0 && unpacker.good(); --i) {
    SpatialLoop& loop = mapping.spatial.emplace_back();
    loop.dimension = unpacker.next_small();
    loop.loop = unpacker.next_small();
    loop.size = static_cast<std::int64_t>(unpacker.next());
  }
  for (std::uint64_t i = unpacker.next(); i > 0 && unpacker.good(); --i) {
    TemporalLoop& loop = mapping.temporal.emplace_back();
    loop.loop = unpacker.next_small();
    loop.size = static_cast<std::int64_t>(unpacker.next());
  }
  for (std::uint64_t i = unpacker.next(); i > 0 && unpacker.good(); --i) {
    std::vector<std::uint8_t>& cuts = mapping.cuts.emplace_back();
    for (std::uint64_t j = unpacker.next(); j > 0 && unpacker.good(); --j) cuts.push_back(unpacker.next_small());
  }
  if (!unpacker.good() || !unpacker.done()) return std::nullopt;
  return mapping;
}

Record record_of(const std::string& key) {
  const auto [low, high] = digest_words_of(key);
  return {.low = low, .high = high};
}

off_t place_of(const Record& record) {
  return static_cast<off_t>(record.high % sets_of_places * (record_bytes * places));
}

bool is_same(const Record& a, const Record& b) { return a.low == b.low && a.high == b.high; }

// What is beyond the end of the file is empty.
Places read_places(int file, off_t at) {
  Places found;
  if (pread(file, found.data(), sizeof found, at) != static_cast<ssize_t>(sizeof found)) found = {};
  return found;
}

bool is_equal(const Traffic& a, const Traffic& b) {
  return a.words == b.words && a.bits == b.bits && a.cycles == b.cycles;
}

bool is_equal(const MappingCost& a, const MappingCost& b) {
  const auto numbers = [](const MappingCost& c) {
    return std::tie(c.cycles, c.ideal_cycles, c.compute_cycles, c.stall_cycles, c.load_cycles, c.unload_cycles,
                    c.fill_cycles, c.energy_pj, c.compute_pj, c.static_pj, c.network_pj, c.memory_pj, c.levels, c.macs,
                    c.bound_cycles, c.bound_pj, c.bound_by);
  };
  return numbers(a) == numbers(b) && std::ranges::equal(a.traffic, b.traffic, [](const auto& x, const auto& y) {
           return std::ranges::equal(x, y, [](const Traffic& s, const Traffic& t) { return is_equal(s, t); });
         });
}

bool is_equal(const Mapping& a, const Mapping& b) {
  const auto same_spatial = [](const SpatialLoop& x, const SpatialLoop& y) {
    return std::tie(x.dimension, x.loop, x.size, x.average) == std::tie(y.dimension, y.loop, y.size, y.average);
  };
  const auto same_temporal = [](const TemporalLoop& x, const TemporalLoop& y) {
    return std::tie(x.loop, x.size, x.average) == std::tie(y.loop, y.size, y.average);
  };
  return a.cuts == b.cuts && std::ranges::equal(a.spatial, b.spatial, same_spatial) &&
         std::ranges::equal(a.temporal, b.temporal, same_temporal);
}

std::filesystem::path user_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  // As the specification has it: one that is not absolute does not count.
  if (cache != nullptr && std::filesystem::path(cache).is_absolute()) return std::filesystem::path(cache) / "monet";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::filesystem::path(home) / ".cache" / "monet";
  return {};
}

std::atomic<bool> are_kept = false;

}  // namespace

void keep_mappings(bool keep) { are_kept = keep; }

KeptMappings* KeptMappings::of_user() {
  if (!are_kept) return nullptr;
  static const std::unique_ptr<KeptMappings> kept = [] {
    const char* const never = std::getenv("MONET_NO_CACHE");
    const std::filesystem::path folder = user_folder();
    const bool refused = (never != nullptr && *never != '\0') || folder.empty();
    return refused ? nullptr : in(folder.string());
  }();
  return kept.get();
}

std::unique_ptr<KeptMappings> KeptMappings::in(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path path = std::filesystem::path(folder) / fmt::format("mappings-{}", version_of_model());
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  return std::unique_ptr<KeptMappings>(new KeptMappings(file));
}

KeptMappings::~KeptMappings() { close(file_); }

std::optional<MappedProblem> KeptMappings::find(const std::string& key, const Problem& problem,
                                                const Target& target) const {
  const Record wanted = record_of(key);
  const Places found = read_places(file_, place_of(wanted));
  const auto record = std::ranges::find_if(found, [&](const Record& each) { return is_same(each, wanted); });
  if (record == found.end() || record->checksum != checksum_of(*record)) return std::nullopt;
  const std::optional<Mapping> mapping = unpack(*record);
  if (!mapping) return std::nullopt;
  Expected<MappedProblem> costed = cost_of(problem, target, *mapping);
  if (!costed) return std::nullopt;
  costed->within = record->within;
  costed->complete = record->complete != 0;
  return *std::move(costed);
}

void KeptMappings::add(const std::string& key, const Problem& problem, const Target& target,
                       const MappedProblem& found) {
  Record record = record_of(key);
  record.within = found.within;
  record.complete = found.complete ? 1 : 0;
  if (!pack(found.mapping, record)) return;
  const Expected<MappedProblem> again = cost_of(problem, target, found.mapping);
  if (!again || !is_equal(again->mapping, found.mapping) || !is_equal(again->cost, found.cost)) return;
  record.checksum = checksum_of(record);
  const off_t at = place_of(record);
  const Places there = read_places(file_, at);
  // Where it is already, else where nothing is, else any.
  auto place = std::ranges::find_if(there, [&](const Record& each) { return is_same(each, record); });
  if (place == there.end())
    place = std::ranges::find_if(there, [](const Record& each) { return each.low == 0 && each.high == 0; });
  if (place == there.end()) place = there.begin() + static_cast<std::ptrdiff_t>(record.low % places);
  const auto offset = at + static_cast<off_t>((place - there.begin()) * static_cast<std::ptrdiff_t>(record_bytes));
  // Less than all, or others at the same time: the checksum says so.
  (void)!pwrite(file_, &record, sizeof record, offset);
}

}  // namespace monet
