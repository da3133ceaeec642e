// What is where: every buffer in every memory that has room for it, and from when on it is complete there.
//
// The *version* of a buffer is the number of tiles that have added to it: of a buffer with which the step begins 0, of
// one that a single tile makes 1 once it is complete.
#pragma once

#include "evaluate/check/context.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace monet::check {

// Something wants `bytes` of a buffer in a memory during [start, end], in at least that version.
struct Need {
  BufferId buffer;
  MemoryId memory = {};
  double start = 0, end = 0;
  std::uint32_t version = 0;
  std::int64_t bytes = 0;
  bool may_overwrite = false;  // it makes what takes its place
};

enum class Found : std::uint8_t {
  present,
  no_room,      // no stay covers the time
  not_there,    // there is room, and nothing has arrived in it in time
  not_all,      // less than is needed
  overwritten,  // what takes its place was written meanwhile
};
// As it goes on after "the buffer": "is not there in time".
std::string_view name_of(Found found);

class Holdings {
 public:
  // Also finds transfers that arrive where there is no room, and tiles that write where there is none.
  explicit Holdings(const CheckContext& context);

  // Nothing at all is present everywhere.
  Found find(const Need& need) const;
  // Version of a buffer at a time.
  std::uint32_t version_at(BufferId buffer, double time) const;
  std::uint32_t complete(BufferId buffer) const { return context_.chain_of(buffer).length; }
  // Memory that a tile streams to or from, or else those of its core on that path.
  std::span<const MemoryId> places(TileId tile, Path path) const;
  // Tensors that share the storage of `tensor`: itself and what updates it.
  std::span<const TensorId> sharing(TensorId tensor) const;

 private:
  struct Held {
    BufferId buffer;
    MemoryId memory;
    double start = 0, end = 0;
    std::int64_t bytes = 0;
    double last_end = 0;  // the largest of those of the same buffer and memory up to this one
    double overwritten = std::numeric_limits<double>::infinity();
    bool at_home = false;  // with its tensor
    bool given = false;    // the step begins with it there
    std::uint32_t first_event = 0, events = 0;
  };
  // From `time` on there are `bytes` of that version.
  struct Event {
    std::uint32_t held;
    double time;
    std::uint32_t version;
    std::int64_t bytes;
  };

  void find_sharing();
  void collect();
  void sort_held();
  void add_tile_events();
  void add_transfer_events();
  void sort_events();
  void find_overwritten();
  // At home, or where the plan pages them to.
  void overwrite(TensorId old, TensorId by, bool away);
  // Entries of that buffer and memory that cover [start, end], the latest first: visit(index) until it gives true.
  template <class Visit>
  bool visit_covering(BufferId buffer, MemoryId memory, double start, double end, const Visit& visit) const;
  // First and last entry (not included) of a buffer in a memory.
  std::pair<std::size_t, std::size_t> entries(BufferId buffer, MemoryId memory) const;
  // What of the need an entry that covers the time does not meet.
  Found judge(const Held& held, const Need& need) const;

  const CheckContext& context_;
  std::vector<std::uint32_t> first_sharing_;  // by tensor
  std::vector<TensorId> sharing_;
  std::vector<Held> held_;                 // by buffer, memory, start
  std::vector<std::uint32_t> first_held_;  // by buffer
  std::vector<Event> events_;
  std::vector<double> home_write_;  // by buffer: when its first copy to home begins
  std::vector<double> away_write_;  // by buffer: when it begins to be paged out
};

}  // namespace monet::check
