#include "hardware/ports.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

struct Move {
  std::optional<Path> path;          // nothing: all
  std::optional<Transfer> transfer;  // nothing: all that fit
};

// Operands are filled from above and read from below; results go both ways.
bool exists(Path path, Transfer transfer) {
  return path == Path::output || transfer == Transfer::from_high || transfer == Transfer::to_low;
}

void take(const Move& move, const std::array<bool, path_count>& paths, const Port& port, std::size_t index, bool stated,
          Level& level) {
  for (std::size_t i = 0; i < path_count; ++i) {
    const auto path = static_cast<Path>(i);
    if (!paths[i] || (move.path && *move.path != path)) continue;
    for (std::size_t t = 0; t < transfer_count; ++t) {
      const auto transfer = static_cast<Transfer>(t);
      if ((move.transfer && *move.transfer != transfer) || !fits(port.kind, transfer) || !exists(path, transfer))
        continue;
      std::int8_t& slot = level.port[i][t];
      if (slot == no_port || stated) slot = static_cast<std::int8_t>(index);
    }
  }
}

Expected<Move> read_move(const Yaml& item) {
  Move move;
  std::string_view rest = item.scalar;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word.empty()) continue;
    if (!move.path && path_named(word)) {
      move.path = path_named(word);
    } else if (!move.transfer && transfer_named(word)) {
      move.transfer = transfer_named(word);
    } else {
      return Error{
          .message = fmt::format("'{}' is neither a path nor a transfer", shown(word)),
          .place = item.place.text(),
          .advice = meant_name(word, {"input", "weight", "output", "from_high", "to_low", "from_low", "to_high"})};
    }
  }
  return move;
}

Status check_move(const Move& move, const Port& port, const std::array<bool, path_count>& paths, bool own,
                  const Place& place) {
  if (move.transfer && !fits(port.kind, *move.transfer)) {
    return Error{.message = fmt::format("the port '{}' is of kind {}: it cannot do {}", shown(port.name),
                                        name_of(port.kind), name_of(*move.transfer)),
                 .place = place.text(),
                 .advice = is_read(*move.transfer) ? "to_low and to_high read the memory"
                                                   : "from_high and from_low write the memory"};
  }
  if (move.path && move.transfer && !exists(*move.path, *move.transfer)) {
    return Error{.message = fmt::format("only output goes {}", name_of(*move.transfer)),
                 .place = place.text(),
                 .advice = "input and weight come from_high and go to_low"};
  }
  // A memory that several cores share may hold a path for one of them only.
  if (move.path && own && !paths[static_cast<std::size_t>(*move.path)]) {
    return Error{.message = fmt::format("the memory does not hold the path '{}'", name_of(*move.path)),
                 .place = place.text(),
                 .advice = "add it to `paths`"};
  }
  return Done{};
}

}  // namespace

Status assign_ports(const Memory& memory, const std::vector<const Yaml*>& moves,
                    const std::array<bool, path_count>& paths, bool own, Level& level) {
  for (std::size_t i = 0; i < memory.ports.size(); ++i) {
    const Port& port = memory.ports[i];
    if (moves[i] == nullptr) {
      take({}, paths, port, i, false, level);
      continue;
    }
    std::vector<const Yaml*> items = {moves[i]};
    if (moves[i]->is_list()) {
      items.clear();
      for (const YamlPtr& item : moves[i]->items) items.push_back(item.get());
    }
    for (const Yaml* item : items) {
      MONET_TRY(const Move move, read_move(*item));
      MONET_RETURN_IF_ERROR(check_move(move, port, paths, own, item->place));
      take(move, paths, port, i, true, level);
    }
  }
  return Done{};
}

}  // namespace monet
