#include "evaluate/machine/ways.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace monet {

Ways::Ways(const Hardware& hardware, std::vector<bool> hubs, bool with_buses)
    : hardware_(&hardware),
      cores_(static_cast<std::uint32_t>(hardware.cores.size())),
      memories_(static_cast<std::uint32_t>(hardware.memories.size())),
      hubs_(std::move(hubs)) {
  struct Edge {
    std::uint32_t from, to;
    LinkId link;
    bool forward;
  };
  std::vector<Edge> edges;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    for (const Level& level : hardware.cores[core].levels) {
      if (level.link.valid() || level.over_links) continue;  // the links say it
      const std::uint32_t memory = cores_ + static_cast<std::uint32_t>(level.memory.index());
      edges.push_back({core, memory, {}, true});
      edges.push_back({memory, core, {}, true});
    }
  }
  std::uint32_t places = cores_ + memories_;
  for (std::size_t l = 0; l < hardware.links.size(); ++l) {
    const Link& link = hardware.links[l];
    if (link.kind == LinkKind::bus) {
      for (const End& end : with_buses ? std::span(link.ends) : std::span<const End>()) {
        edges.push_back({place_of(end), places, LinkId(l), true});
        edges.push_back({places, place_of(end), {}, true});
      }
      ++places;
      continue;
    }
    edges.push_back({place_of(link.ends[0]), place_of(link.ends[1]), LinkId(l), true});
    if (link.both_ways) edges.push_back({place_of(link.ends[1]), place_of(link.ends[0]), LinkId(l), false});
  }
  const auto is_memory = [&](std::uint32_t place) { return place >= cores_ && place < cores_ + memories_; };
  const auto fill = [&](Steps& steps, std::uint32_t Edge::* at, std::uint32_t Edge::* other) {
    std::vector<std::uint32_t> leading(places, 0);
    for (const Edge& edge : edges) ++leading[edge.*other];
    const auto is_last = [&](const Edge& edge) {
      return is_memory(edge.*other) && leading[edge.*other] == 1 && !is_memory(edge.*at);
    };
    steps.last.assign(places, {nowhere, {}, true});
    steps.first.assign(places + 1, 0);
    for (const Edge& edge : edges) {
      if (is_last(edge)) {
        steps.last[edge.*other] = {edge.*at, edge.link, edge.forward};
      } else {
        ++steps.first[edge.*at + 1];
      }
    }
    for (std::uint32_t i = 0; i < places; ++i) steps.first[i + 1] += steps.first[i];
    steps.steps.resize(steps.first[places]);
    std::vector<std::uint32_t> next(steps.first.begin(), steps.first.end() - 1);
    for (const Edge& edge : edges) {
      if (!is_last(edge)) steps.steps[next[edge.*at]++] = {edge.*other, edge.link, edge.forward};
    }
  };
  fill(out_, &Edge::from, &Edge::to);
  fill(into_, &Edge::to, &Edge::from);
}

std::uint32_t Ways::place_of(const End& end) const {
  return static_cast<std::uint32_t>(end.core.valid() ? end.core.index() : cores_ + end.memory.index());
}

Ways::Way& Ways::way_to(Search& search, std::uint32_t place) {
  Way& way = search.ways[place];
  if (way.round != search.round) way = {.round = search.round};
  return way;
}

void Ways::begin(Search& search, MemoryId anchor) const {
  search.anchor = anchor;
  if (search.ways.empty()) search.ways.resize(out_.first.size() - 1);
  ++search.round;
  search.open = {};
  const auto start = cores_ + static_cast<std::uint32_t>(anchor.index());
  Way& way = way_to(search, start);
  way.links = 0;
  way.width = std::numeric_limits<double>::infinity();
  search.open.push({0, way.width, start});
}

void Ways::go_on(Search& search, const Steps& steps, std::uint32_t goal) const {
  const auto start = cores_ + static_cast<std::uint32_t>(search.anchor.index());
  if (const Step& last = steps.last[goal]; last.place != nowhere && goal != start) {
    if (way_to(search, goal).final) return;
    go_on(search, steps, last.place);
    if (search.ways[last.place].final) go_last(search, last, goal);
    return;
  }
  while (!way_to(search, goal).final && !search.open.empty()) {
    const Open now = search.open.top();
    search.open.pop();
    Way& here = search.ways[now.place];
    if (here.final) continue;
    here.final = true;
    const double latency = here.latency_cycles;
    const bool memory = now.place >= cores_ && now.place < cores_ + memories_;
    if (memory && now.place != start) continue;
    for (const Step& step : steps.at(now.place)) {
      Way& way = way_to(search, step.place);
      if (way.final) continue;
      const Link* link = step.link.valid() ? &(*hardware_)[step.link] : nullptr;
      const std::uint32_t links = now.links + (link != nullptr ? 1 : 0);
      const double width = link != nullptr ? std::min(now.width, link->bits_per_cycle) : now.width;
      if (links > way.links || (links == way.links && width <= way.width)) continue;
      way.links = links;
      way.width = width;
      way.latency_cycles = latency + (link != nullptr ? link->latency_cycles : 0);
      way.before = now.place;
      way.hop = {step.link, step.forward};
      search.open.push({links, width, step.place});
    }
  }
}

void Ways::go_last(Search& search, const Step& last, std::uint32_t goal) const {
  const Way& before = search.ways[last.place];
  Way& way = way_to(search, goal);
  way = {.links = before.links,
         .width = before.width,
         .latency_cycles = before.latency_cycles,
         .before = last.place,
         .hop = {last.link, last.forward},
         .final = true,
         .round = search.round};
  if (!last.link.valid()) return;
  const Link& link = (*hardware_)[last.link];
  ++way.links;
  way.width = std::min(way.width, link.bits_per_cycle);
  way.latency_cycles += link.latency_cycles;
}

Ways::Search& Ways::find(MemoryId from, MemoryId to, std::uint32_t& goal) {
  const bool forwards = hubs_[from.index()];
  Search& search = searches_[forwards ? 0 : hubs_[to.index()] ? 1 : 2];
  const MemoryId anchor = forwards ? from : to;
  goal = cores_ + static_cast<std::uint32_t>((forwards ? to : from).index());
  if (search.anchor != anchor) begin(search, anchor);
  go_on(search, forwards ? out_ : into_, goal);
  return search;
}

std::optional<std::vector<Hop>> Ways::between(MemoryId from, MemoryId to) {
  std::uint32_t goal = nowhere;
  const Search& search = find(from, to, goal);
  if (!search.ways[goal].final) return std::nullopt;
  std::vector<Hop> hops;
  for (std::uint32_t place = goal; search.ways[place].before != nowhere; place = search.ways[place].before) {
    if (search.ways[place].hop.link.valid()) hops.push_back(search.ways[place].hop);
  }
  if (hubs_[from.index()]) std::ranges::reverse(hops);
  return hops;
}

Ways::Reach Ways::reach(MemoryId from, MemoryId to) {
  std::uint32_t goal = nowhere;
  const Search& search = find(from, to, goal);
  const Way& way = search.ways[goal];
  if (!way.final) return {};
  return {.latency_cycles = way.latency_cycles, .bits_per_cycle = way.width};
}

}  // namespace monet
