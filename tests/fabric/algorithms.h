// Algorithms of collectives as messages, written from their descriptions (docs/parallel.md), for the simulator.
#pragma once

#include "fabric/simulator.h"

#include <algorithm>
#include <functional>

namespace monet::simulated {

using Items = std::vector<int>;
using Shards = std::vector<Items>;  // by the member that owns them

// Members in order, with the way from each to the next and to the one before; through one port both are direct.
struct Row {
  std::vector<int> members;
  bool closed = true;
  std::vector<std::vector<int>> up, down;  // paths from member i

  int size() const { return static_cast<int>(members.size()); }
  const std::vector<int>& path(int i, bool upwards) const { return upwards ? up[i] : down[i]; }
  int at(int i) const { return (i % size() + size()) % size(); }
  // Over several members.
  std::vector<int> way(int i, int distance, bool upwards) const {
    std::vector<int> all = {members[i]};
    for (int d = 0; d < distance; ++d) {
      const std::vector<int>& hop = path(at(upwards ? i + d : i - d), upwards);
      all.insert(all.end(), hop.begin() + 1, hop.end());
    }
    return all;
  }
};

inline Row ported(const std::vector<int>& members) {
  Row row{members, true, {}, {}};
  const int n = row.size();
  for (int i = 0; i < n; ++i) {
    row.up.push_back({members[i], members[(i + 1) % n]});
    row.down.push_back({members[i], members[(i + n - 1) % n]});
  }
  return row;
}

inline std::pair<Shards, Shards> halves(const Shards& shards) {
  std::pair<Shards, Shards> two{Shards(shards.size()), Shards(shards.size())};
  for (std::size_t j = 0; j < shards.size(); ++j)
    for (std::size_t k = 0; k < shards[j].size(); ++k)
      (k < shards[j].size() / 2 ? two.first : two.second)[j].push_back(shards[j][k]);
  return two;
}

// One way round a ring.
inline Steps one_way(const Row& row, const Shards& shards, bool upwards, bool adds) {
  const int n = row.size(), sign = upwards ? 1 : -1;
  Steps steps(n - 1);
  for (int t = 0; t + 1 < n; ++t)
    for (int i = 0; i < n; ++i)
      steps[t].push_back({row.path(i, upwards), shards[row.at(i - sign * (t + (adds ? 1 : 0)))], adds});
  return steps;
}

// Out from every member to both ends, one member a step; backwards for sums.
inline Steps along_line(const Row& row, const Shards& shards, bool adds) {
  const int n = row.size();
  Steps steps(n - 1);
  for (int t = 0; t + 1 < n; ++t) {
    for (int i = 0; i < n; ++i) {
      if (i + 1 < n && i - t >= 0)
        adds ? steps[n - 2 - t].push_back({row.down[i + 1], shards[i - t], true})
             : steps[t].push_back({row.up[i], shards[i - t], false});
      if (i > 0 && i + t < n)
        adds ? steps[n - 2 - t].push_back({row.up[i - 1], shards[i + t], true})
             : steps[t].push_back({row.down[i], shards[i + t], false});
    }
  }
  return steps;
}

// Both ways at once where the ring is closed.
inline Steps both_ways(const Row& row, const Shards& shards, bool adds) {
  if (!row.closed) return along_line(row, shards, adds);
  const auto [first, second] = halves(shards);
  const Steps up = one_way(row, first, true, adds), down = one_way(row, second, false, adds);
  Steps steps(up.size());
  for (std::size_t t = 0; t < up.size(); ++t)
    for (std::size_t i = 0; i < up[t].size(); ++i) steps[t].insert(steps[t].end(), {up[t][i], down[t][i]});
  return steps;
}

inline Items joined(const Shards& shards, const std::function<bool(int)>& wanted) {
  Items items;
  for (std::size_t j = 0; j < shards.size(); ++j)
    if (wanted(static_cast<int>(j))) items.insert(items.end(), shards[j].begin(), shards[j].end());
  return items;
}

// Recursive halving (sums) and doubling; the members are a power of two.
inline Steps halving(const std::vector<int>& members, const Shards& shards, bool adds) {
  const int n = static_cast<int>(members.size());
  Steps steps;
  for (int bit = adds ? n / 2 : 1; adds ? bit >= 1 : bit < n; bit = adds ? bit / 2 : bit * 2) {
    Step step;
    for (int i = 0; i < n; ++i) {
      const int other = i ^ bit;
      const int keeper = adds ? other : i;  // whose block is sent: as far as bits above `bit` say
      step.push_back({{members[i], members[other]},
                      joined(shards, [&](int j) { return (j & ~(bit - 1)) == (keeper & ~(bit - 1)); }),
                      adds});
    }
    steps.push_back(step);
  }
  return steps;
}

// Everybody to everybody, in turn (through one port) or at once.
inline Steps direct(const std::vector<int>& members, const Shards& shards, bool adds, bool at_once) {
  const int n = static_cast<int>(members.size());
  Steps steps(at_once ? 1 : n - 1);
  for (int d = 1; d < n; ++d)
    for (int i = 0; i < n; ++i)
      steps[at_once ? 0 : d - 1].push_back({{members[i], members[(i + d) % n]}, shards[adds ? (i + d) % n : i], adds});
  return steps;
}

// items_of(i, j): what member i has for member j.
using Between = std::function<Items(int, int)>;

inline Items half_of(const Items& items, bool first) {
  const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
  return first ? Items(items.begin(), middle) : Items(middle, items.end());
}

// All the way round, half of each message each way; on a port all upwards.
inline Steps exchange_round(const Row& row, const Between& items_of, bool one_port) {
  const int n = row.size();
  Steps steps;
  for (int d = 1; d < n; ++d) {
    // Store and forward: a port passes the messages of one hop before those of the next.
    Step step;
    for (int i = 0; i < n; ++i) {
      const int above = row.at(i + d), below = row.at(i - d);
      const Items up = items_of(i, above), down = items_of(i, below);
      step.push_back({row.way(i, d, true), one_port ? up : half_of(up, true), false});
      if (!one_port) step.push_back({row.way(i, d, false), half_of(down, false), false});
    }
    steps.push_back(step);
  }
  return steps;
}

inline Steps exchange_shortest(const Row& row, const Between& items_of) {
  const int n = row.size();
  Steps steps;
  for (int d = 1; row.closed ? 2 * d <= n : d < n; ++d) {
    const bool opposite = row.closed && 2 * d == n;
    Step step;
    for (int i = 0; i < n; ++i) {
      const int above = row.at(i + d), below = row.at(i - d);
      if (row.closed || i + d < n) {
        const Items all = items_of(i, above);
        step.push_back({row.way(i, d, true), opposite ? half_of(all, true) : all, false});
      }
      if (row.closed || i - d >= 0) {
        const Items all = items_of(i, below);
        step.push_back({row.way(i, d, false), opposite ? half_of(all, false) : all, false});
      }
    }
    steps.push_back(step);
  }
  return steps;
}

inline Steps exchange_direct(const std::vector<int>& members, const Between& items_of, bool at_once) {
  const int n = static_cast<int>(members.size());
  Steps steps(at_once ? 1 : n - 1);
  for (int d = 1; d < n; ++d)
    for (int i = 0; i < n; ++i)
      steps[at_once ? 0 : d - 1].push_back({{members[i], members[(i + d) % n]}, items_of(i, (i + d) % n), false});
  return steps;
}

// Rounds in which everything whose goal differs in one bit changes place.
inline Steps exchange_halving(const std::vector<int>& members, const Between& items_of) {
  const int n = static_cast<int>(members.size());
  Steps steps;
  for (int bit = 1; bit < n; bit *= 2) {
    Step step;
    for (int i = 0; i < n; ++i) {
      Items items;  // of all who have come here so far
      for (int from = 0; from < n; ++from)
        for (int to = 0; to < n; ++to) {
          const int here = (from & ~(bit - 1)) | (to & (bit - 1));
          if (here != i || ((to ^ i) & bit) == 0) continue;
          const Items some = items_of(from, to);
          items.insert(items.end(), some.begin(), some.end());
        }
      step.push_back({{members[i], members[i ^ bit]}, items, false});
    }
    steps.push_back(step);
  }
  return steps;
}

// From the first member, in pieces, one after the other.
inline Steps chain(const Row& row, const Shards& pieces, bool upwards) {
  const int n = row.size(), k = static_cast<int>(pieces.size());
  Steps steps(n - 2 + k);
  for (int piece = 0; piece < k; ++piece)
    for (int hop = 0; hop + 1 < n; ++hop)
      steps[piece + hop].push_back({row.path(row.at(upwards ? hop : -hop), upwards), pieces[piece], false});
  return steps;
}

inline Steps binomial(const std::vector<int>& members, const Items& items) {
  const int n = static_cast<int>(members.size());
  Steps steps;
  for (int have = 1; have < n; have *= 2) {
    Step step;
    for (int i = 0; i < have && i + have < n; ++i) step.push_back({{members[i], members[i + have]}, items, false});
    steps.push_back(step);
  }
  return steps;
}

// A scatter by halves, then a gather.
inline Steps scatter_and_gather(const std::vector<int>& members, const Shards& shards) {
  const int n = static_cast<int>(members.size());
  Steps steps;
  for (int bit = n / 2; bit >= 1; bit /= 2) {
    Step step;
    for (int i = 0; i < n; i += 2 * bit)
      step.push_back(
          {{members[i], members[i + bit]}, joined(shards, [&](int j) { return (j & ~(bit - 1)) == i + bit; }), false});
    steps.push_back(step);
  }
  return then(steps, halving(members, shards, false));
}

// A binary tree in order: ranks with low bits 0 are high; rank 0 is the root, and the others are below one of two to
// its power. Gives the parent of each.
inline std::vector<int> tree_parents(int n) {
  std::vector<int> parents(n, -1);
  for (int i = 1; i < n; ++i) {
    int bit = 1;
    while ((i & bit) == 0) bit *= 2;
    const int up = (i ^ bit) | (bit * 2);
    parents[i] = up < n ? up : i ^ bit;
  }
  return parents;
}

// Two such trees, in the second of which leaves are inside and inner members leaves; each takes one half, in pieces.
inline Steps two_trees(const std::vector<int>& members, const Shards& first, const Shards& second) {
  const int n = static_cast<int>(members.size()), k = static_cast<int>(first.size());
  const std::vector<int> parents = tree_parents(n);
  int depth = 0;
  while ((1 << depth) < n) ++depth;
  const auto rank_of = [&](int tree, int position) {
    if (tree == 0) return position;
    return n % 2 == 0 ? n - 1 - position : (position + 1) % n;
  };
  const auto level_of = [&](int position) {
    int level = 0;
    for (int at = position; parents[at] >= 0; at = parents[at]) ++level;
    return level;
  };
  Steps up(depth - 1 + k), down(depth - 1 + k);
  for (int tree = 0; tree < 2; ++tree) {
    for (int i = 1; i < n; ++i) {
      const int child = members[rank_of(tree, i)], parent = members[rank_of(tree, parents[i])];
      for (int piece = 0; piece < k; ++piece) {
        const Items& items = (tree == 0 ? first : second)[piece];
        up[depth - level_of(i) + piece].push_back({{child, parent}, items, true});
        down[level_of(i) - 1 + piece].push_back({{parent, child}, items, false});
      }
    }
  }
  return then(up, down);
}

}  // namespace monet::simulated
