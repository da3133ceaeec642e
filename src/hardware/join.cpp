#include "hardware/join.h"

#include "base/try.h"
#include "hardware/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monet {

namespace {

constexpr std::size_t max_links = 1 << 20;
constexpr std::size_t max_ends = 1 << 21;  // of all links together

class Joiner {
 public:
  Joiner(ScopeId scope, PartNames& names, Hardware& hardware, HardwarePlaces& places, std::size_t& joined)
      : scope_(scope), names_(names), hardware_(hardware), places_(places), joined_(joined) {}

  Status join(const LinkPrototype& prototype) {
    std::vector<NamedParts> found;
    std::vector<End> parts;
    for (const Yaml* name : prototype.ends) {
      MONET_TRY(NamedParts resolved, resolve(*name));
      parts.insert(parts.end(), resolved.ends.begin(), resolved.ends.end());
      found.push_back(std::move(resolved));
      joined_ += found.back().ends.size() + 1;
      if (joined_ > max_ends) return too_many("ends of links", max_ends, prototype.place);
    }
    MONET_RETURN_IF_ERROR(check_once(prototype, parts));
    const auto count = static_cast<std::int64_t>(parts.size());
    switch (prototype.topology) {
      case Topology::link: return join_two(prototype, found);
      case Topology::bus: return join_bus(prototype, std::move(parts));
      case Topology::star: return join_star(prototype, found, parts);
      case Topology::mesh:
      case Topology::torus: {
        MONET_TRY(const auto grid, grid_of(prototype, found, count));
        return add_pairs(prototype, parts, grid_pairs(grid, prototype.topology == Topology::torus));
      }
      case Topology::ring: return add_pairs(prototype, parts, ring_pairs(count));
      case Topology::tree: return add_pairs(prototype, parts, tree_pairs(count, prototype.arity));
      case Topology::all_to_all: break;
    }
    if (count * (count - 1) / 2 > static_cast<std::int64_t>(max_links))
      return too_many("links", max_links, prototype.place);
    return add_pairs(prototype, parts, all_pairs(count));
  }

 private:
  static Error too_many(std::string_view what, std::size_t most, const Place& place) {
    return {
        .message = fmt::format("more than {} {}", most, what), .place = place.text(), .advice = "check count and grid"};
  }

  Expected<NamedParts> resolve(const Yaml& name) const {
    NamedParts found = names_.find(scope_, name.scalar);
    if (found.ends.empty()) {
      return Error{.message = fmt::format("there is no core or memory '{}'", shown(name.scalar)),
                   .place = name.place.text(),
                   .advice = meant_name(name.scalar, names_.known(scope_))};
    }
    return found;
  }

  const std::string& name_of_end(const End& end) const {
    return end.core.valid() ? hardware_[end.core].name : hardware_[end.memory].name;
  }

  Status check_once(const LinkPrototype& prototype, const std::vector<End>& parts) const {
    std::vector<std::pair<CoreId, MemoryId>> ends;
    for (const End& end : parts) ends.emplace_back(end.core, end.memory);
    std::sort(ends.begin(), ends.end());
    const auto twice = std::adjacent_find(ends.begin(), ends.end());
    if (twice == ends.end()) return Done{};
    return Error{.message = fmt::format("'{}' is joined to itself", shown(name_of_end({twice->first, twice->second}))),
                 .place = prototype.place.text(),
                 .advice = "name each part once"};
  }

  // `number`: which of several links of the entry it is; none: the only one.
  Status add(const LinkPrototype& prototype, std::vector<End> ends, std::optional<std::size_t> number) {
    if (hardware_.links.size() >= max_links) return too_many("links", max_links, prototype.place);
    const LinkId id(hardware_.links.size());
    Link link = prototype.link;
    if (!prototype.name.empty()) {
      link.name = names_.prefix(scope_) + prototype.name + (number ? std::to_string(*number) : "");
      names_.add_link(scope_, prototype.name, id);
    } else if (link.kind == LinkKind::bus) {
      link.name = fmt::format("{}bus{}", names_.prefix(scope_), id.index());
    } else {
      link.name = fmt::format("{}-{}", name_of_end(ends[0]), name_of_end(ends[1]));
    }
    link.ends = std::move(ends);
    hardware_.links.push_back(std::move(link));
    places_.links.push_back(prototype.place);
    return Done{};
  }

  Status add_pairs(const LinkPrototype& prototype, const std::vector<End>& parts, const Pairs& pairs) {
    std::size_t number = 0;
    for (const auto& [from, to] : pairs) {
      MONET_RETURN_IF_ERROR(add(prototype, {parts[static_cast<std::size_t>(from)], parts[static_cast<std::size_t>(to)]},
                                pairs.size() == 1 ? std::nullopt : std::optional(number++)));
    }
    return Done{};
  }

  // One to one, one to many, or each to its partner.
  Status join_two(const LinkPrototype& prototype, const std::vector<NamedParts>& found) {
    if (found.size() != 2) {
      return Error{.message = fmt::format("a link joins two parts, not {}", found.size()),
                   .place = prototype.place.text(),
                   .advice = "write link: [a, b], or bus or star for more"};
    }
    const std::vector<End>& a = found[0].ends;
    const std::vector<End>& b = found[1].ends;
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1) {
      return Error{.message = fmt::format("a link between {} parts and {}", a.size(), b.size()),
                   .place = prototype.place.text(),
                   .advice = "the names must stand for as many parts, or one of them for one"};
    }
    const std::size_t count = std::max(a.size(), b.size());
    for (std::size_t i = 0; i < count; ++i) {
      MONET_RETURN_IF_ERROR(add(prototype, {a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]},
                                count == 1 ? std::nullopt : std::optional(i)));
    }
    return Done{};
  }

  Status join_bus(const LinkPrototype& prototype, std::vector<End> parts) {
    if (parts.size() < 2) {
      return Error{
          .message = "a bus with fewer than two parts", .place = prototype.place.text(), .advice = "add the others"};
    }
    return add(prototype, std::move(parts), std::nullopt);
  }

  Status join_star(const LinkPrototype& prototype, const std::vector<NamedParts>& found,
                   const std::vector<End>& parts) {
    if (found.empty() || found.front().ends.size() != 1) {
      return Error{.message = "the middle of a star must be one part",
                   .place = prototype.place.text(),
                   .advice = "write the middle first: star: [switch, pe]"};
    }
    Pairs pairs;
    for (std::size_t i = 1; i < parts.size(); ++i) pairs.emplace_back(0, i);
    return add_pairs(prototype, parts, pairs);
  }

  static Expected<std::vector<std::int64_t>> grid_of(const LinkPrototype& prototype,
                                                     const std::vector<NamedParts>& found, std::int64_t parts) {
    std::vector<std::int64_t> grid = prototype.grid;
    if (grid.empty() && found.size() == 1 && found[0].repeats.size() == 1 && found[0].repeats[0]->is_grid) {
      grid = found[0].repeats[0]->shape;
    }
    // One part has no neighbours: a family at its smallest.
    if (grid.empty() && parts == 1) grid = {1};
    if (grid.empty()) {
      return Error{.message = "these parts have no grid",
                   .place = prototype.place.text(),
                   .advice = "write grid: [rows, columns] here or where the parts are described"};
    }
    std::int64_t count = 1;
    for (const std::int64_t size : grid) count *= size;
    if (count != parts) {
      return Error{.message = fmt::format("a grid of {} for {} parts", count, parts), .place = prototype.place.text()};
    }
    return grid;
  }

  ScopeId scope_;
  PartNames& names_;
  Hardware& hardware_;
  HardwarePlaces& places_;
  std::size_t& joined_;
};

}  // namespace

Status join_parts(const std::vector<LinkPrototype>& links, ScopeId scope, PartNames& names, Hardware& hardware,
                  HardwarePlaces& places, std::size_t& joined) {
  std::set<std::string> stated;
  for (const LinkPrototype& link : links) {
    if (!link.name.empty() && !stated.insert(link.name).second) {
      return Error{.message = fmt::format("two links are named '{}'", shown(link.name)),
                   .place = link.place.text(),
                   .advice = "give one of them another name"};
    }
    MONET_RETURN_IF_ERROR(Joiner(scope, names, hardware, places, joined).join(link));
  }
  return Done{};
}

}  // namespace monet
