// Lays a picture out from top to bottom: links between cores, cores, links to memories, memories on the chip, memories
// outside.
#include "present/svg/hardware_draw.h"

#include "base/try.h"
#include "hardware/hardware.h"
#include "present/svg/hardware_picture.h"
#include "present/svg/svg.h"

#include <monet/hardware.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::size_t most_in_full = 6;  // equal cores that are all drawn with what is in them
constexpr double margin = 24, gap = 28, padding = 10, line_height = 16, bar_height = 20, lane_height = 24;
constexpr double square_side = 16, square_gap = 8;

struct Area {
  double x = 0, y = 0, width = 0, height = 0;
  double centre() const { return x + width / 2; }
  double bottom() const { return y + height; }
};

bool in_full(const PictureGroup& group) { return group.names.size() <= most_in_full; }

std::string bar_text(const PictureMemory& memory) { return fmt::format("{}  {}", memory.label, memory.size); }

// One core with what is in it.
Area core_size(const PictureGroup& group) {
  double width = 96;
  for (const std::string& name : group.names) width = std::max(width, Svg::width_of(name, "name"));
  for (const std::string& work : group.work) width = std::max(width, Svg::width_of(work));
  for (const PictureMemory& memory : group.memories) width = std::max(width, Svg::width_of(bar_text(memory)) + padding);
  const double stack = group.gang > 1 ? 8 : 0;
  return {0, 0, width + 2 * padding + stack,
          2 * padding + line_height * static_cast<double>(1 + group.work.size()) +
              (bar_height + 4) * static_cast<double>(group.memories.size()) + stack};
}

double squares(std::size_t count) { return static_cast<double>(count) * (square_side + square_gap) - square_gap; }

Area group_size(const PictureGroup& group) {
  const Area core = core_size(group);
  Area area;
  if (in_full(group)) {
    area.width = static_cast<double>(group.columns) * (core.width + gap) - gap;
    area.height = static_cast<double>(group.rows) * (core.height + gap) - gap;
  } else {
    area.width = core.width + gap + squares(group.columns);
    area.height = std::max(core.height, squares(group.rows));
  }
  if (group.names.size() == 1) return area;
  area.width = std::max({area.width, Svg::width_of(group.title, "name"), Svg::width_of(group.wiring, "faint")});
  area.width += 2 * padding;
  area.height += 2 * padding + line_height + (group.wiring.empty() ? 0 : line_height);
  return area;
}

void draw_core(Svg& svg, const PictureGroup& group, const std::string& name, double x, double y) {
  Area core = core_size(group);
  if (group.gang > 1) {
    core.width -= 8;
    core.height -= 8;
    for (const double shift : {8.0, 4.0}) svg.box(x + shift, y + shift, core.width, core.height, "core");
  }
  svg.box(x, y, core.width, core.height, "core");
  const std::string title = group.gang > 1 ? fmt::format("{} x {}, one gang", group.gang, name) : name;
  double at = y + padding + 10;
  svg.text(x + core.width / 2, at, title, "name", "middle");
  for (const std::string& work : group.work) svg.text(x + core.width / 2, at += line_height, work, "small", "middle");
  at += 8;
  for (auto memory = group.memories.rbegin(); memory != group.memories.rend(); ++memory) {
    svg.box(x + padding, at, core.width - 2 * padding, bar_height,
            memory->kind == MemoryKind::registers ? "registers"
            : memory->kind == MemoryKind::sram    ? "sram"
                                                  : "dram",
            3);
    svg.text(x + core.width / 2, at + 14, bar_text(*memory), "small", "middle");
    at += bar_height + 4;
  }
}

// Small squares or whole cores in a grid, and the wires between neighbours.
void draw_cells(Svg& svg, const PictureGroup& group, double x, double y) {
  const Area core = core_size(group);
  const bool full = in_full(group);
  const double width = full ? core.width : square_side, height = full ? core.height : square_side;
  const double step_x = width + (full ? gap : square_gap), step_y = height + (full ? gap : square_gap);
  const auto column = [&](std::size_t i) {
    const std::size_t at = i % group.columns;
    const bool backwards = group.snake && i / group.columns % 2 == 1;
    return static_cast<double>(backwards ? group.columns - 1 - at : at);
  };
  const auto row = [&](std::size_t i) {
    const std::size_t at = i / group.columns;
    return static_cast<double>(at);
  };
  for (const auto& wire : group.wires) {
    if (std::abs(column(wire.from) - column(wire.to)) + std::abs(row(wire.from) - row(wire.to)) > 1.5 && !full)
      continue;
    svg.line(x + column(wire.from) * step_x + width / 2, y + row(wire.from) * step_y + height / 2,
             x + column(wire.to) * step_x + width / 2, y + row(wire.to) * step_y + height / 2, "wire");
  }
  for (std::size_t i = 0; i < group.names.size(); ++i) {
    const double left = x + column(i) * step_x, top = y + row(i) * step_y;
    if (full) {
      draw_core(svg, group, group.names[i], left, top);
    } else {
      svg.box(left, top, square_side, square_side, "core", 2);
    }
  }
}

void draw_group(Svg& svg, const PictureGroup& group, const Area& area) {
  if (group.names.size() == 1) return draw_core(svg, group, group.names.front(), area.x, area.y);
  svg.box(area.x, area.y, area.width, area.height, "group", 6);
  svg.text(area.x + padding, area.y + 16, group.title, "name");
  double x = area.x + padding;
  const double y = area.y + padding + line_height;
  if (!in_full(group)) {
    draw_core(svg, group, "each", x, y);
    x += core_size(group).width + gap;
  }
  draw_cells(svg, group, x, y);
  if (!group.wiring.empty()) svg.text(area.x + padding, area.bottom() - 8, group.wiring, "faint");
}

class Layout {
 public:
  explicit Layout(const Picture& picture) : picture_(picture) {}

  std::string draw() {
    sort_nets();
    place();
    Svg svg;
    svg.text(margin, 30, picture_.title, "title");
    svg.text(margin, 48, picture_.subtitle, "faint");
    const double shift = picture_.chips > 1 ? 6 : 0;
    if (shift > 0) {
      svg.box(chip_.x + 2 * shift, chip_.y + 2 * shift, chip_.width, chip_.height, "behind", 8);
      svg.box(chip_.x + shift, chip_.y + shift, chip_.width, chip_.height, "behind", 8);
    }
    svg.box(chip_.x, chip_.y, chip_.width, chip_.height, "chip", 8);
    if (picture_.chips > 1)
      svg.text(chip_.x + padding, chip_.y + 16, fmt::format("{} x {}", picture_.chips, picture_.chip_name), "name");
    draw_above(svg);
    draw_below(svg);
    for (std::size_t i = 0; i < picture_.groups.size(); ++i) draw_group(svg, picture_.groups[i], areas_[i]);
    for (std::size_t i = 0; i < picture_.memories.size(); ++i) draw_memory(svg, i);
    return svg.finish(width_, height_, picture_.title + ": " + picture_.subtitle);
  }

 private:
  bool is_group(std::size_t node) const { return node < picture_.groups.size(); }
  const PictureMemory& memory(std::size_t node) const { return picture_.memories[node - picture_.groups.size()]; }

  void sort_nets() {
    for (const PictureNet& net : picture_.nets) {
      const bool cores_only = std::ranges::all_of(net.ends, [&](std::size_t node) { return is_group(node); });
      const bool memories_only = std::ranges::none_of(net.ends, [&](std::size_t node) { return is_group(node); });
      (memories_only ? between_memories_ : cores_only ? above_ : below_).push_back(&net);
    }
  }

  // Left to right; gives the width.
  double place_row(const std::vector<std::size_t>& nodes, double y) {
    double x = chip_.x + padding;
    for (const std::size_t node : nodes) {
      areas_[node].x = x;
      areas_[node].y = y;
      x += areas_[node].width + gap;
    }
    return nodes.empty() ? 0 : x - gap - chip_.x + padding;
  }

  void place() {
    areas_.resize(picture_.groups.size() + picture_.memories.size());
    std::vector<std::size_t> groups, on_chip, outside;
    for (std::size_t i = 0; i < picture_.groups.size(); ++i) {
      areas_[i] = group_size(picture_.groups[i]);
      groups.push_back(i);
    }
    for (std::size_t node = groups.size(); node < areas_.size(); ++node) {
      const PictureMemory& m = memory(node);
      areas_[node].width = std::max({140.0, Svg::width_of(m.label, "name"), Svg::width_of(m.size)}) + 2 * padding;
      areas_[node].height = 44;
      (m.off_chip ? outside : on_chip).push_back(node);
    }
    chip_.x = margin;
    chip_.y = 64;
    double y = chip_.y + padding + (picture_.chips > 1 ? line_height : 0) +
               lane_height * static_cast<double>(above_.size()) + (above_.empty() ? 0 : 6);
    above_y_ = y;
    double width = place_row(groups, y);
    double tallest = 0;
    for (const std::size_t group : groups) tallest = std::max(tallest, areas_[group].height);
    y += tallest + padding;
    below_y_ = y;
    y += lane_height * static_cast<double>(below_.size());
    width = std::max(width, place_row(on_chip, y + padding));
    if (!on_chip.empty()) y += 44 + 2 * padding;
    for (const PictureNet* net : below_) width = std::max(width, Svg::width_of(net->label, "faint") + 60);
    chip_.width = std::max(width, 220.0);
    chip_.height = y - chip_.y + padding;
    const double outer = place_row(outside, chip_.bottom() + gap);
    centre(on_chip);
    centre(outside);
    const double words = std::max(Svg::width_of(picture_.title, "title"), Svg::width_of(picture_.subtitle, "faint"));
    width_ = std::max({chip_.width + 12, outer, words}) + 2 * margin;
    height_ = chip_.bottom() + (outside.empty() ? 0 : gap + 44) + margin + (picture_.chips > 1 ? 12 : 0);
  }

  void centre(const std::vector<std::size_t>& nodes) {
    if (nodes.empty()) return;
    const double used = areas_[nodes.back()].x + areas_[nodes.back()].width - areas_[nodes.front()].x;
    const double shift = std::max(0.0, (chip_.width - 2 * padding - used) / 2);
    for (const std::size_t node : nodes) areas_[node].x += shift;
  }

  // Where lane `index` of `count` leaves a part, so that wires do not fall on each other: lanes further out leave the
  // leftmost part further left, the others further right.
  double tap(const PictureNet& net, std::size_t node, std::size_t index, std::size_t count) const {
    const Area& area = areas_[node];
    const bool leftmost = std::ranges::all_of(net.ends, [&](std::size_t end) { return areas_[end].x >= area.x; });
    if (leftmost) index = count - 1 - index;
    return area.centre() + (static_cast<double>(index) - (static_cast<double>(count) - 1) / 2) *
                               std::min(18.0, area.width / static_cast<double>(count + 1));
  }

  static std::string_view style(const PictureNet& net) {
    return net.kind == PictureNet::Kind::bus ? "bus" : net.kind == PictureNet::Kind::direct ? "direct" : "wire";
  }

  // A horizontal lane with the label on it, and a wire to each end.
  void draw_lane(Svg& svg, const PictureNet& net, double y, std::size_t index, std::size_t count) {
    double left = 1e30, right = 0;
    for (const std::size_t node : net.ends) {
      const double x = tap(net, node, index, count);
      left = std::min(left, x);
      right = std::max(right, x);
      const Area& area = areas_[node];
      const double end = area.y > y ? area.y : area.bottom();
      svg.line(x, y, x, end, net.kind == PictureNet::Kind::bus ? "wire" : style(net));
    }
    const double words = left + 8;
    if (net.kind == PictureNet::Kind::bus) {
      left -= 14;
      right = std::max(right + 14, left + Svg::width_of(net.label, "faint") + 28);
    }
    if (right > left) svg.line(left, y, right, y, style(net));
    if (!net.label.empty()) svg.text(words, y - 5, net.label, "faint");
  }

  void draw_above(Svg& svg) {
    for (std::size_t i = 0; i < above_.size(); ++i)
      draw_lane(svg, *above_[i], above_y_ - lane_height * static_cast<double>(i) - 10, i, above_.size());
  }

  void draw_below(Svg& svg) {
    for (std::size_t i = 0; i < below_.size(); ++i)
      draw_lane(svg, *below_[i], below_y_ + lane_height * (static_cast<double>(i) + 0.6), i, below_.size());
    for (const PictureNet* net : between_memories_) {
      const Area *upper = &areas_[net->ends.front()], *lower = &areas_[net->ends.back()];
      if (upper->y > lower->y) std::swap(upper, lower);
      const double y = (upper->bottom() + lower->y) / 2;
      svg.line(upper->centre(), upper->bottom(), upper->centre(), y, style(*net));
      svg.line(upper->centre(), y, lower->centre(), y, style(*net));
      svg.line(lower->centre(), y, lower->centre(), lower->y, style(*net));
      if (!net->label.empty()) svg.text(lower->centre() + 6, lower->y - 6, net->label, "faint");
    }
  }

  void draw_memory(Svg& svg, std::size_t index) {
    const PictureMemory& m = picture_.memories[index];
    const Area& area = areas_[picture_.groups.size() + index];
    const std::string_view kind = m.kind == MemoryKind::dram      ? "dram"
                                  : m.kind == MemoryKind::storage ? "storage"
                                                                  : "sram";
    svg.box(area.x, area.y, area.width, area.height, kind);
    svg.text(area.centre(), area.y + 18, m.label, "name", "middle");
    svg.text(area.centre(), area.y + 34, m.size, "small", "middle");
  }

  const Picture& picture_;
  std::vector<const PictureNet*> above_, below_, between_memories_;
  std::vector<Area> areas_;  // of groups, then memories
  Area chip_;
  double above_y_ = 0, below_y_ = 0, width_ = 0, height_ = 0;
};

}  // namespace

std::string draw(const Hardware& hardware) {
  const Picture picture = picture_of(hardware);
  return Layout(picture).draw();
}

Expected<std::string> draw_hardware(const Machine& machine) {
  MONET_TRY(const std::shared_ptr<const Hardware> hardware, machine.hardware());
  return draw(*hardware);
}

}  // namespace monet
