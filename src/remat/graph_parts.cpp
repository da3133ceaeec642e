#include "remat/graph_parts.h"

#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <queue>
#include <unordered_map>

namespace monet::remat {

namespace {

using Pair = std::pair<NodeIndex, NodeIndex>;

class Assembly {
 public:
  Assembly(GraphParts parts, Problem problem, const std::string& file)
      : parts_(std::move(parts)), problem_(std::move(problem)), file_(file) {}

  Expected<GraphFile> run() {
    MONET_RETURN_IF_ERROR(number_ids());
    MONET_RETURN_IF_ERROR(find_pairs());
    MONET_TRY(const std::vector<NodeIndex> order, chosen_order());
    MONET_RETURN_IF_ERROR(fill(order));
    return GraphFile{std::move(problem_), std::move(notes_)};
  }

 private:
  Status number_ids() {
    if (parts_.nodes.empty())
      return Error{.message = "there are no nodes", .place = file_, .advice = "give a graph with at least one node"};
    for (NodeIndex i = 0; i < parts_.nodes.size(); ++i) {
      const auto [other, fresh] = index_.try_emplace(parts_.nodes[i].id, i);
      if (!fresh)
        return Error{.message = fmt::format("the id {} is that of {} too", parts_.nodes[i].id,
                                            parts_.nodes[other->second].place.substr(file_.size() + 2)),
                     .place = parts_.nodes[i].place,
                     .advice = "give each node an id of its own"};
    }
    return Done{};
  }

  Expected<NodeIndex> find(const std::string& id, const std::string& place) const {
    if (const auto found = index_.find(id); found != index_.end()) return found->second;
    std::vector<std::string> ids;
    for (const auto& part : parts_.nodes) ids.push_back(part.id);
    const std::string guess = nearest(id, ids);
    return Error{.message = fmt::format("there is no node with the id {}", id),
                 .place = place,
                 .advice = guess.empty() ? "name nodes of this file" : fmt::format("did you mean {}?", guess)};
  }

  Status find_pairs() {
    for (const auto& link : parts_.links) {
      MONET_TRY(const NodeIndex from, find(link.from, link.place));
      MONET_TRY(const NodeIndex to, find(link.to, link.place));
      if (from == to)
        return Error{.message = fmt::format("node {} reads itself", link.from),
                     .place = link.place,
                     .advice = "take the link out"};
      pairs_.emplace_back(from, to);
    }
    std::ranges::sort(pairs_);
    const auto same = std::ranges::unique(pairs_);
    pairs_.erase(same.begin(), same.end());
    return Done{};
  }

  // A link that goes back in the order.
  std::optional<Pair> backward_link(const std::vector<NodeIndex>& order) const {
    std::vector<NodeIndex> position(order.size());
    for (NodeIndex i = 0; i < order.size(); ++i) position[order[i]] = i;
    for (const Pair& pair : pairs_)
      if (position[pair.first] > position[pair.second]) return pair;
    return std::nullopt;
  }

  Expected<std::vector<NodeIndex>> given_order() const {
    std::vector<NodeIndex> order;
    std::vector<std::uint8_t> seen(parts_.nodes.size(), 0);
    const std::string advice = "list every node once, after those that it reads";
    for (const std::string& id : parts_.order) {
      MONET_TRY(const NodeIndex node, find(id, parts_.order_place));
      if (seen[node] != 0)
        return Error{
            .message = fmt::format("node {} is there twice", id), .place = parts_.order_place, .advice = advice};
      seen[node] = 1;
      order.push_back(node);
    }
    const auto absent = std::ranges::find(seen, 0);
    if (absent != seen.end())
      return Error{.message = fmt::format("node {} is not in the order",
                                          parts_.nodes[static_cast<std::size_t>(absent - seen.begin())].id),
                   .place = parts_.order_place,
                   .advice = advice};
    return order;
  }

  // By ids where all are numbers, else as in the file.
  std::vector<NodeIndex> natural_order() const {
    std::vector<NodeIndex> order(parts_.nodes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::int64_t> numbers;
    for (const auto& part : parts_.nodes) {
      std::int64_t number = 0;
      const char* const end = part.id.data() + part.id.size();
      if (std::from_chars(part.id.data(), end, number).ptr != end) return order;
      numbers.push_back(number);
    }
    std::ranges::stable_sort(order, {}, [&](NodeIndex i) { return numbers[i]; });
    return order;
  }

  Expected<std::vector<NodeIndex>> chosen_order() {
    const bool given = !parts_.order.empty();
    std::vector<NodeIndex> order = natural_order();
    if (given) {
      MONET_TRY(order, given_order());
    }
    const std::optional<Pair> back = backward_link(order);
    if (!back) return order;
    MONET_TRY(std::vector<NodeIndex> sorted, topological(order));
    if (given)
      return Error{.message = fmt::format("node {} comes before node {}, which it reads", parts_.nodes[back->second].id,
                                          parts_.nodes[back->first].id),
                   .place = parts_.order_place,
                   .advice = "list every node after those that it reads"};
    notes_.push_back(fmt::format(
        "{}: the order of the ids is no order to run the nodes in (node {} reads node {}); another was made", file_,
        parts_.nodes[back->second].id, parts_.nodes[back->first].id));
    return sorted;
  }

  // The earliest of `order` that can run comes first. Fails where there is a cycle.
  Expected<std::vector<NodeIndex>> topological(const std::vector<NodeIndex>& order) const {
    const std::size_t count = order.size();
    const Links users(count, pairs_);
    std::vector<NodeIndex> position(count), waits(count, 0), sorted;
    for (NodeIndex i = 0; i < count; ++i) position[order[i]] = i;
    for (const Pair& pair : pairs_) ++waits[pair.second];
    std::priority_queue<NodeIndex, std::vector<NodeIndex>, std::greater<>> ready;
    for (NodeIndex node = 0; node < count; ++node)
      if (waits[node] == 0) ready.push(position[node]);
    while (!ready.empty()) {
      const NodeIndex node = order[ready.top()];
      ready.pop();
      sorted.push_back(node);
      for (const NodeIndex user : users.of(node))
        if (--waits[user] == 0) ready.push(position[user]);
    }
    if (sorted.size() == count) return sorted;
    return Error{.message = fmt::format("the nodes wait for each other: {}", cycle(waits)),
                 .place = file_,
                 .advice = "a graph has no cycles: take a link out"};
  }

  // Back along links from a node that waits, until one is met again: "3 reads 2, 2 reads 3".
  std::string cycle(const std::vector<NodeIndex>& waits) const {
    std::vector<Pair> turned;
    for (const Pair& pair : pairs_)
      if (waits[pair.first] > 0 && waits[pair.second] > 0) turned.emplace_back(pair.second, pair.first);
    const Links operands(waits.size(), turned);
    NodeIndex node = 0;
    while (waits[node] == 0) ++node;
    std::vector<NodeIndex> path;
    std::vector<std::uint8_t> seen(waits.size(), 0);
    for (; seen[node] == 0; node = operands.of(node).front()) {
      seen[node] = 1;
      path.push_back(node);
    }
    path.erase(path.begin(), std::ranges::find(path, node));
    path.push_back(node);
    constexpr std::size_t most = 6;
    std::string text;
    for (std::size_t i = 0; i + 1 < path.size() && i < most; ++i)
      text += fmt::format("{}{} reads {}", i == 0 ? "" : ", ", parts_.nodes[path[i]].id, parts_.nodes[path[i + 1]].id);
    return path.size() - 1 > most ? text + " …" : text;
  }

  Status fill(const std::vector<NodeIndex>& order) {
    std::vector<NodeIndex> position(order.size());
    std::int64_t bytes = problem_.fixed_bytes;
    double times = 0;
    for (NodeIndex i = 0; i < order.size(); ++i) {
      position[order[i]] = i;
      Node& node = parts_.nodes[order[i]].node;
      bytes += node.bytes;  // both at most 2^53
      times += node.time + node.energy_j;
      constexpr double most_time = 1e60;
      if (bytes > std::int64_t{1} << 53 || times > most_time)
        return Error{.message = bytes > std::int64_t{1} << 53 ? "all nodes together have more than 2^53 bytes"
                                                              : "all nodes together take more time than 1e60",
                     .place = parts_.nodes[order[i]].place,
                     .advice = "use a larger unit"};
      problem_.nodes.push_back(std::move(node));
    }
    for (Pair& pair : pairs_) pair = {position[pair.first], position[pair.second]};
    problem_.connect(pairs_);
    return Done{};
  }

  GraphParts parts_;
  Problem problem_;
  const std::string& file_;
  std::vector<std::string> notes_;
  std::unordered_map<std::string, NodeIndex> index_;
  std::vector<Pair> pairs_;  // (operand, user), as numbered in the file
};

}  // namespace

Expected<GraphFile> assemble(GraphParts parts, Problem problem, const std::string& file) {
  return Assembly(std::move(parts), std::move(problem), file).run();
}

}  // namespace monet::remat
