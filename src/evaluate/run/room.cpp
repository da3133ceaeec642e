#include "evaluate/run/room.h"

#include "base/quantities.h"
#include "base/try.h"
#include "evaluate/addresses/addresses.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

std::int64_t smaller_room(std::int64_t room, std::int64_t packed, std::int64_t capacity) {
  const double share =
      std::min(0.98, static_cast<double>(capacity) / static_cast<double>(std::max<std::int64_t>(1, packed)));
  return static_cast<std::int64_t>(share * static_cast<double>(room));
}

Expected<std::int64_t> room_with_addresses(const Graph& graph, const Hardware& hardware, MappingCache& cache,
                                           EvaluatorOptions how, const Plan& plan, std::span<const MemoryId> paged) {
  constexpr int most_tries = 8;
  const RoutedMachine whole(hardware, how.home);
  MONET_RETURN_IF_ERROR(whole.check());
  const MemoryId memory = whole[CoreId(0)].local[static_cast<std::size_t>(Path::output)];
  const std::int64_t capacity = whole.capacity_bytes(memory);
  std::int64_t room = capacity;
  std::int64_t packed_bytes = 0;
  for (int i = 0; i < most_tries; ++i) {
    how.home.room_bytes = room;
    Evaluator evaluator(graph, hardware, cache, how);
    MONET_TRY(PlanRequest request, evaluator.bind(plan));
    request.paged.assign(paged.begin(), paged.end());
    MONET_TRY(const Evaluated evaluated, evaluator.evaluate(request));
    const ScheduledStep step{graph, hardware, evaluated.assignment, evaluated.tiles, evaluated.schedule};
    MONET_TRY(const PackedStays packed, pack_stays(step, evaluator.machine(), memory, how.stop));
    packed_bytes = packed.peak_bytes[memory.index()];
    if (packed_bytes <= capacity) return room;
    room = smaller_room(room, packed_bytes, capacity);
  }
  return Error{.kind = ErrorKind::infeasible,
               .message = fmt::format("what is in {} needs {} with addresses, it has {}", hardware[memory].name,
                                      byte_size(packed_bytes), byte_size(capacity)),
               .place = "--home",
               .advice = "use smaller tiles, or state a smaller room in the plan: home: {memory: NAME, room: SIZE}"};
}

}  // namespace monet
