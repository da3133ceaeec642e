#include "kernels/compile/group.h"

#include <algorithm>
#include <tuple>

namespace monet::compiling {

namespace {

struct Pair {
  double bytes = 0;  // shared
  std::uint32_t a = 0, b = 0;
};

class Grouping {
 public:
  Grouping(const LoweredStep& step, const std::vector<Part>& parts, const std::vector<std::uint32_t>& stack_of,
           bool planned)
      : step_(step), parts_(parts), order_(step), stack_of_(stack_of), planned_(planned), seen_(parts.size(), 0) {
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      group_of_.push_back(i);
      members_.push_back({i});
    }
  }

  std::vector<LaunchGroup> run() {
    const std::vector<Pair> pairs = all_pairs();
    for (bool changed = true; changed;) {
      changed = false;
      for (const Pair& pair : pairs) changed |= join(group_of_[pair.a], group_of_[pair.b]);
    }
    return in_order();
  }

 private:
  std::vector<Pair> all_pairs() const {
    std::vector<Pair> pairs;
    const auto add = [&](std::uint32_t a, std::uint32_t b, double bytes) {
      if (parts_[a].kind == PartKind::library || parts_[b].kind == PartKind::library) return;
      if (a != b) pairs.push_back({bytes, std::min(a, b), std::max(a, b)});
    };
    for (std::size_t i = 0; i < step_.buffers.size(); ++i) {
      const AllocationId buffer(i);
      const auto bytes = static_cast<double>(step_.buffers[i].bytes);
      const auto& readers = order_.readers(buffer);
      for (std::uint32_t writer : order_.writers(buffer)) {
        for (std::uint32_t reader : readers) add(writer, reader, bytes);
      }
      if (bytes <= 0) continue;
      std::uint32_t before = 0;
      bool any = false;
      for (std::uint32_t reader : readers) {
        if (parts_[reader].kind == PartKind::library) continue;
        if (any) add(before, reader, bytes);
        before = reader;
        any = true;
      }
    }
    std::ranges::stable_sort(pairs, [](const Pair& x, const Pair& y) {
      return std::tuple(-x.bytes, x.b - x.a, x.a) < std::tuple(-y.bytes, y.b - y.a, y.a);
    });
    return pairs;
  }

  bool join(std::uint32_t g, std::uint32_t h) {
    if (g == h) return false;
    if (g > h) std::swap(g, h);
    LaunchGroup both = members_[g];
    both.insert(both.end(), members_[h].begin(), members_[h].end());
    std::ranges::sort(both);
    if (!stacks_allow(both) || !loops_allow(both) || between(g, h)) return false;
    for (std::uint32_t launch : members_[h]) group_of_[launch] = g;
    members_[h].clear();
    members_[g] = std::move(both);
    return true;
  }

  bool stacks_allow(const LaunchGroup& both) const {
    if (!planned_) return true;
    std::uint32_t first = 0;  // launch that carries out an operator
    bool any = false;
    for (std::uint32_t launch : both) {
      if (step_.launches[launch].nodes.empty()) continue;
      if (any && (stack_of_[launch] == 0 || stack_of_[launch] != stack_of_[first])) return false;
      first = launch;
      any = true;
    }
    return true;
  }

  bool loops_allow(const LaunchGroup& both) const {
    const Phase phase = step_.launches[both[0]].phase;
    std::int64_t domain = 0, kept = 0;
    PartKind sums = PartKind::element;
    for (std::uint32_t launch : both) {
      const Part& part = parts_[launch];
      if (part.kind == PartKind::library || step_.launches[launch].phase != phase) return false;
      domain = std::max(domain, part.domain);
      if (part.kind == PartKind::element) continue;
      if (sums != PartKind::element && (part.kind != sums || part.kept != kept)) return false;
      sums = part.kind;
      kept = part.kept;
    }
    return std::ranges::all_of(both, [&](std::uint32_t launch) {
      const Part& part = parts_[launch];
      if (part.kind != PartKind::element) {
        return part.domain == domain && (part.kind != PartKind::columns || read_as_sums(launch, both, kept));
      }
      if (part.domain == domain) return sums != PartKind::columns || read_inside(launch, both);
      return (sums != PartKind::element && part.domain == kept) || read_inside(launch, both);
    });
  }

  static bool contains(const LaunchGroup& group, std::uint32_t launch) {
    return std::ranges::binary_search(group, launch);
  }

  // What reads sums in their own kernel works on the sums.
  bool read_as_sums(std::uint32_t launch, const LaunchGroup& both, std::int64_t kept) const {
    for (const Touch& write : step_.launches[launch].writes) {
      for (std::uint32_t reader : order_.readers(write.buffer)) {
        if (reader > launch && contains(both, reader) && parts_[reader].domain > kept) return false;
      }
    }
    return true;
  }

  bool read_inside(std::uint32_t launch, const LaunchGroup& both) const {
    for (const Touch& write : step_.launches[launch].writes) {
      const Allocation& buffer = step_.buffers[write.buffer.index()];
      if (buffer.permanent || buffer.until_end || buffer.result || order_.writers(write.buffer).size() != 1)
        return false;
      const auto& readers = order_.readers(write.buffer);
      if (readers.empty()) return false;
      if (!std::ranges::all_of(readers, [&](std::uint32_t reader) { return contains(both, reader); })) return false;
    }
    return true;
  }

  // Whether a third group waits for one of the two and is waited for by the other.
  bool between(std::uint32_t g, std::uint32_t h) { return reaches(g, h) || reaches(h, g); }

  bool reaches(std::uint32_t from, std::uint32_t to) {
    ++stamp_;
    const Phase phase = step_.launches[members_[from][0]].phase;
    std::vector<std::uint32_t> stack;
    const auto visit = [&](std::uint32_t group) {
      for (std::uint32_t launch : members_[group]) {
        for (std::uint32_t next : order_.after(launch)) {
          const std::uint32_t other = group_of_[next];
          if (other == from || seen_[other] == stamp_ || step_.launches[next].phase != phase) continue;
          if (other == to && group == from) continue;  // directly: that is what joining is for
          seen_[other] = stamp_;
          if (other == to) return true;
          stack.push_back(other);
        }
      }
      return false;
    };
    if (visit(from)) return true;
    while (!stack.empty()) {
      const std::uint32_t group = stack.back();
      stack.pop_back();
      if (visit(group)) return true;
    }
    return false;
  }

  // Groups one after the other: of those that can run, the one whose last launch comes first.
  std::vector<LaunchGroup> in_order() const {
    std::vector<std::uint32_t> waits(members_.size(), 0);
    std::vector<std::vector<std::uint32_t>> next(members_.size());
    for (std::uint32_t launch = 0; launch < parts_.size(); ++launch) {
      for (std::uint32_t after : order_.after(launch)) {
        if (group_of_[after] != group_of_[launch]) next[group_of_[launch]].push_back(group_of_[after]);
      }
    }
    for (auto& list : next) {
      std::ranges::sort(list);
      const auto rest = std::ranges::unique(list);
      list.erase(rest.begin(), rest.end());
      for (std::uint32_t group : list) ++waits[group];
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ready;  // last launch, group: a heap, smallest on top
    const auto later = [](const auto& a, const auto& b) { return a > b; };
    const auto push = [&](std::uint32_t group) {
      ready.emplace_back(members_[group].back(), group);
      std::ranges::push_heap(ready, later);
    };
    for (std::uint32_t group = 0; group < members_.size(); ++group) {
      if (!members_[group].empty() && waits[group] == 0) push(group);
    }
    std::vector<LaunchGroup> result;
    while (!ready.empty()) {
      std::ranges::pop_heap(ready, later);
      const std::uint32_t group = ready.back().second;
      ready.pop_back();
      result.push_back(members_[group]);
      for (std::uint32_t each : next[group]) {
        if (--waits[each] == 0) push(each);
      }
    }
    return result;
  }

  const LoweredStep& step_;
  const std::vector<Part>& parts_;
  Order order_;
  const std::vector<std::uint32_t>& stack_of_;
  bool planned_;
  std::vector<std::uint32_t> group_of_;
  std::vector<LaunchGroup> members_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

std::vector<LaunchGroup> groups_of(const LoweredStep& step, const std::vector<Part>& parts,
                                   const std::vector<std::uint32_t>& stack_of, bool planned) {
  return Grouping(step, parts, stack_of, planned).run();
}

std::string why_apart(const Part& a, const Part& b, const Launch& first, const Launch& second) {
  if (a.kind == PartKind::library || b.kind == PartKind::library) {
    return "a product, convolution, pool, attention, loss or update is a kernel of a library, which takes no others in";
  }
  if (first.phase != second.phase) return "they are in different parts of the step";
  const bool sums = a.kind != PartKind::element && b.kind != PartKind::element;
  if (sums && (a.kind != b.kind || a.kept != b.kept)) return "they are sums of different kinds or numbers";
  if (a.domain != b.domain) return "their loops go over different numbers of elements";
  if (a.kind == PartKind::columns || b.kind == PartKind::columns) {
    return "sums over channels and down columns must be complete before they are read";
  }
  return "";
}

}  // namespace monet::compiling
