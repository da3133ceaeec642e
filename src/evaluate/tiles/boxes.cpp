#include "evaluate/tiles/boxes.h"

#include "base/checked.h"

#include <algorithm>

namespace monet::tiling {

namespace {

// What lies below the boundary in a box whose sides are told apart there: none of it carries over.
struct Halves {
  std::int64_t low_extent = 0;  // of all sides that step by less
  std::size_t low_sides = 0;    // the first ones
  bool high_fits = true;        // all others step in multiples
};

Halves halves_of(const Box& box, std::int64_t boundary) {
  Halves halves;
  for (std::size_t i = 0; i < box.rank; ++i) {
    if (box.sides[i].step < boundary) {
      halves.low_extent += box.sides[i].step * (box.sides[i].count - 1);
      ++halves.low_sides;
    } else if (box.sides[i].step % boundary != 0) {
      halves.high_fits = false;
    }
  }
  return halves;
}

// Some positions of a side. Sides are not joined: they may lie on two sides of a boundary.
Box part(const Box& box, std::size_t side, std::int64_t first, std::int64_t count) {
  Box result = box;
  result.base += first * box.sides[side].step;
  result.sides[side].count = count;
  if (count == 1) result.remove(side);
  return result;
}

// Single positions along a side.
bool enumerate(const Box& box, std::size_t side, std::vector<Box>& result, std::int64_t& budget) {
  budget -= box.sides[side].count;
  if (budget < 0) return false;
  for (std::int64_t i = 0; i < box.sides[side].count; ++i) result.push_back(part(box, side, i, 1));
  return true;
}

}  // namespace

bool Box::insert(std::int64_t count, std::int64_t step) {
  if (rank == max_rank) return false;
  std::size_t at = rank++;
  for (; at > 0 && sides[at - 1].step > step; --at) sides[at] = sides[at - 1];
  sides[at] = {count, step};
  return true;
}

bool Box::add(std::int64_t count, std::int64_t step) {
  if (count == 1 || step == 0) return true;
  if (step < 0) {
    base += step * (count - 1);
    step = -step;
  }
  if (!insert(count, step)) return false;
  for (std::size_t i = 1; i < rank;) {
    if (sides[i - 1].step * sides[i - 1].count == sides[i].step) {
      sides[i - 1].count *= sides[i].count;
      remove(i);
    } else {
      ++i;
    }
  }
  return true;
}

void Box::remove(std::size_t side) {
  for (std::size_t i = side + 1; i < rank; ++i) sides[i - 1] = sides[i];
  --rank;
}

bool BoxRunner::split(std::int64_t boundary, std::vector<Box>& boxes, std::int64_t& budget) {
  const auto fits = [&](const Box& box) {
    const Halves halves = halves_of(box, boundary);
    return halves.high_fits && box.base % boundary + halves.low_extent < boundary;
  };
  if (boundary == 1 || std::ranges::all_of(boxes, fits)) return true;
  open_.swap(boxes);
  boxes.clear();
  while (!open_.empty()) {
    if (--budget < 0) return false;
    const Box box = open_.back();
    open_.pop_back();
    const Halves halves = halves_of(box, boundary);
    if (!halves.high_fits) {
      std::size_t side = halves.low_sides;
      while (box.sides[side].step % boundary == 0) ++side;
      if (!enumerate(box, side, open_, budget)) return false;
      continue;
    }
    const std::int64_t low = box.base % boundary;
    if (low + halves.low_extent < boundary) {
      boxes.push_back(box);
      continue;
    }
    const std::size_t side = halves.low_sides - 1;
    const auto [count, step] = box.sides[side];
    const std::int64_t rest = low % step + halves.low_extent - step * (count - 1);
    if (boundary % step != 0 || rest >= step) {
      if (!enumerate(box, side, open_, budget)) return false;
      continue;
    }
    // Up to the boundary, whole multiples of it, and what is left.
    const std::int64_t whole = boundary / step;
    const std::int64_t head = (whole - low / step) % whole;
    if (head > 0) boxes.push_back(part(box, side, 0, std::min(head, count)));
    if (count <= head) continue;
    const std::int64_t blocks = (count - head) / whole;
    const std::int64_t tail = (count - head) % whole;
    if (blocks > 0) {
      Box middle = part(box, side, head, whole);
      if (blocks > 1 && !middle.insert(blocks, boundary)) return false;
      boxes.push_back(middle);
    }
    if (tail > 0) boxes.push_back(part(box, side, count - tail, tail));
  }
  return true;
}

void BoxRunner::swap_digits(const MapStep& step, Box& box) {
  const std::int64_t inner = step.inner, fast = step.result, slow = step.size;
  Box result;
  const std::int64_t digits = box.base / inner;
  const std::int64_t outer = digits / fast / slow;
  result.base = ((outer * fast + digits % fast) * slow + digits / fast % slow) * inner + box.base % inner;
  for (std::size_t i = 0; i < box.rank; ++i) {
    auto [count, by] = box.sides[i];
    if (by >= inner * fast * slow || by < inner) {
      result.add(count, by);
    } else {
      result.add(count, by < inner * fast ? by * slow : by / fast);
    }
  }
  box = result;
}

bool BoxRunner::shift_digit(const MapStep& step, std::vector<Box>& boxes, std::int64_t& budget) {
  const std::int64_t inner = step.inner, block = step.inner * step.size;
  const AffineMap& map = step.affine;
  open_.swap(boxes);
  boxes.clear();
  while (!open_.empty()) {
    if (--budget < 0) return false;
    Box box = open_.back();
    open_.pop_back();
    std::size_t first = 0;
    while (first < box.rank && box.sides[first].step < inner) ++first;
    std::size_t last = first;
    std::int64_t extent = 0;
    for (; last < box.rank && box.sides[last].step < block; ++last) {
      extent += box.sides[last].step / inner * (box.sides[last].count - 1);
    }
    std::int64_t digit = box.base / inner % step.size;
    if (digit + extent < map.begin || digit >= map.end) continue;
    if (digit < map.begin || digit + extent >= map.end) {
      if (last == first) continue;
      if (last - first > 1) {
        if (!enumerate(box, last - 1, open_, budget)) return false;
        continue;
      }
      const std::int64_t by = box.sides[first].step / inner;
      const std::int64_t from = std::max<std::int64_t>(0, ceil_divide(map.begin - digit, by));
      const std::int64_t to = std::min(box.sides[first].count, ceil_divide(map.end - digit, by));
      if (from >= to) continue;
      box.base += from * box.sides[first].step;
      box.sides[first].count = to - from;
      digit += from * by;
    }
    Box result;
    result.base = (box.base / block * step.result + map.scale * digit + map.offset) * inner + box.base % inner;
    bool room = true;
    for (std::size_t i = 0; i < box.rank; ++i) {
      auto [count, by] = box.sides[i];
      if (i >= first) by = i < last ? by * map.scale : by / step.size * step.result;
      room = room && result.add(count, by);
    }
    if (!room) return false;
    boxes.push_back(result);
  }
  return true;
}

bool BoxRunner::look_up_digit(const MapStep& step, std::vector<Box>& boxes, std::int64_t& budget) {
  const std::int64_t inner = step.inner, block = step.inner * step.size;
  open_.swap(boxes);
  boxes.clear();
  std::vector<std::int64_t> digits;
  for (const Box& box : open_) {
    Box others;
    others.base = box.base / block * step.result * inner + box.base % inner;
    digits.assign(1, box.base / inner % step.size);
    for (std::size_t i = box.rank; i-- > 0;) {
      const auto [count, by] = box.sides[i];
      if (by < inner || by >= block) {
        if (!others.add(count, by < inner ? by : by / step.size * step.result)) return false;
        continue;
      }
      budget -= static_cast<std::int64_t>(digits.size()) * count;
      if (budget < 0) return false;
      std::vector<std::int64_t> all;
      for (std::int64_t digit : digits) {
        for (std::int64_t k = 0; k < count; ++k) all.push_back(digit + k * (by / inner));
      }
      digits = std::move(all);
    }
    // Values that go on in equal steps are one box.
    std::int64_t start = 0, difference = 0, count = 0;
    const auto flush = [&] {
      if (count == 0) return true;
      Box next = others;
      next.base += start * inner;
      if (!next.add(count, difference * inner)) return false;
      boxes.push_back(next);
      return true;
    };
    for (std::int64_t digit : digits) {
      const std::int64_t value = (*step.table)[static_cast<std::size_t>(digit)];
      if (value < 0 || value >= step.result) continue;
      if (count == 1) difference = value - start;
      if (count > 0 && difference != 0 && value == start + count * difference) {
        ++count;
        continue;
      }
      if (!flush()) return false;
      start = value;
      count = 1;
    }
    if (!flush()) return false;
  }
  open_.clear();
  return true;
}

bool BoxRunner::run(const IndexMap& map, std::vector<Box>& boxes, std::int64_t& budget) {
  for (const MapStep& step : map.steps) {
    const bool swaps = step.kind == MapStep::Kind::swap;
    if (!split(step.inner, boxes, budget)) return false;
    if (swaps && !split(step.inner * step.result, boxes, budget)) return false;
    if (!split(step.inner * step.size * (swaps ? step.result : 1), boxes, budget)) return false;
    if (swaps) {
      for (Box& box : boxes) swap_digits(step, box);
    } else if (step.kind == MapStep::Kind::affine) {
      if (!shift_digit(step, boxes, budget)) return false;
    } else {
      if (!look_up_digit(step, boxes, budget)) return false;
    }
  }
  return true;
}

}  // namespace monet::tiling
