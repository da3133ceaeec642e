#include "evaluate/tiles/group_elements.h"

#include <algorithm>

namespace monet::tiling {

namespace {

// The boxes of one access in the view, one for each choice of runs along its axes.
bool add_view_boxes(const GroupAccess& access, std::size_t axis, std::int64_t inner, const Box& so_far,
                    ElementWork& work) {
  if (axis == 0) {
    work.boxes.push_back(so_far);
    return --work.budget >= 0;
  }
  for (const Runs& runs : work.viewed[axis - 1]) {
    Box box = so_far;
    box.base += runs.start * inner;
    if (!box.add(runs.length, inner) || !box.add(runs.count, runs.step * inner)) return false;
    if (!add_view_boxes(access, axis - 1, inner * access.axes[axis - 1].size, box, work)) return false;
  }
  return true;
}

// Adds the boxes in the stored tensor to work.all_boxes, each side within one axis.
bool add_boxes(const ReadGroup& group, const GroupAccess& access, ElementWork& work) {
  work.boxes.clear();
  const std::size_t rank = access.axes.size();
  if (work.viewed.size() < rank) work.viewed.resize(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    reach(access.axes[i], work.ranges, work.viewed[i]);
    if (work.viewed[i].empty()) return true;
  }
  if (!add_view_boxes(access, rank, 1, {}, work) || !work.runner.run(access.map, work.boxes, work.budget)) return false;
  std::int64_t inner = 1;
  for (std::size_t axis = group.axes.size(); axis-- > 0;) {
    if (!work.runner.split(inner, work.boxes, work.budget)) return false;
    inner *= group.sizes[axis];
  }
  work.all_boxes.insert(work.all_boxes.end(), work.boxes.begin(), work.boxes.end());
  return true;
}

// Positions along each axis of a box that has been told apart there.
void make_product(const ReadGroup& group, const Box& box, ElementWork& work) {
  std::int64_t inner = 1;
  std::size_t side = 0;
  const std::size_t first = work.products++ * group.axes.size();
  if (work.of_axes.size() < first + group.axes.size()) work.of_axes.resize(first + group.axes.size());
  AxisAccess& access = work.side_access;
  for (std::size_t axis = group.axes.size(); axis-- > 0;) {
    access.offset = box.base / inner % group.sizes[axis];
    access.size = group.sizes[axis];
    access.terms.clear();
    const std::int64_t outer = inner * group.sizes[axis];
    for (; side < box.rank && box.sides[side].step < outer; ++side) {
      access.terms.push_back({.size = box.sides[side].count, .factor = box.sides[side].step / inner});
    }
    reach(access, {}, work.of_axes[first + axis]);
    inner = outer;
  }
}

// All boxes, run by run.
bool make_intervals(ElementWork& work) {
  work.intervals.clear();
  for (std::size_t i = 0; i < work.all_boxes.size(); ++i) {
    const Box box = work.all_boxes[i];
    if (--work.budget < 0) return false;
    const bool runs = box.rank > 0 && box.sides[0].step == 1;
    if (box.rank == 0 || (runs && box.rank == 1)) {
      work.intervals.push_back({box.base, box.base + (runs ? box.sides[0].count : 1)});
      continue;
    }
    Box next = box;
    next.remove(box.rank - 1);
    work.budget -= box.sides[box.rank - 1].count;
    if (work.budget < 0) return false;
    for (std::int64_t k = 0; k < box.sides[box.rank - 1].count; ++k) {
      work.all_boxes.push_back(next);
      next.base += box.sides[box.rank - 1].step;
    }
  }
  std::ranges::sort(work.intervals, {}, &Interval::begin);
  std::size_t used = 0;
  for (const Interval& interval : work.intervals) {
    if (used > 0 && interval.begin <= work.intervals[used - 1].end) {
      work.intervals[used - 1].end = std::max(work.intervals[used - 1].end, interval.end);
    } else {
      work.intervals[used++] = interval;
    }
  }
  work.intervals.resize(used);
  return true;
}

}  // namespace

void simple_elements(const ReadGroup& group, ElementWork& work) {
  reach(group.axis, work.ranges, work.positions);
  if (group.shown_through) apply(group.map, work.positions);
}

Given collect_elements(const ReadGroup& group, ElementWork& work) {
  work.products = 0;
  work.all_boxes.clear();
  if (work.budget < 0) return Given::everything;
  for (const GroupAccess& access : group.accesses) {
    if (add_boxes(group, access, work)) continue;
    work.budget = -1;
    return Given::everything;
  }
  if (group.overlaps() && work.all_boxes.size() > 1) {
    if (make_intervals(work)) return Given::intervals;
    work.budget = -1;
    return Given::everything;
  }
  for (const Box& box : work.all_boxes) make_product(group, box, work);
  return Given::products;
}

std::int64_t whole_size(const ReadGroup& group) {
  ElementWork work;
  work.budget = group_budget;
  const auto set_range = [&](const AxisAccess& axis) {
    for (const AccessTerm& term : axis.terms) {
      if (term.slot != AccessTerm::no_slot) work.ranges[term.slot] = {0, term.size};
    }
  };
  if (group.simple) {
    set_range(group.axis);
    simple_elements(group, work);
    return size_of(work.positions);
  }
  for (const GroupAccess& access : group.accesses) std::ranges::for_each(access.axes, set_range);
  std::int64_t total = 0;
  switch (collect_elements(group, work)) {
    case Given::products:
      for (std::size_t i = 0; i < work.products; ++i) {
        std::int64_t elements = 1;
        for (const Positions& positions : work.product(i, group.axes.size())) elements *= size_of(positions);
        total += elements;
      }
      return total;
    case Given::intervals:
      for (const Interval& interval : work.intervals) total += interval.end - interval.begin;
      return total;
    case Given::everything: break;
  }
  total = 1;
  for (std::int64_t size : group.sizes) total *= size;
  return total;
}

}  // namespace monet::tiling
