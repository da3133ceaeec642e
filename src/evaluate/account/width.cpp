#include "evaluate/account/width.h"

namespace monet {

Width port_width(const Hardware& hardware, const std::set<MemoryId>& memories) {
  Width width;
  for (const MemoryId memory : memories) {
    for (const Port& port : hardware[memory].ports) {
      width.all += port.bits_per_cycle();
      if (port.kind != PortKind::write) width.out += port.bits_per_cycle();
      if (port.kind != PortKind::read) width.in += port.bits_per_cycle();
    }
  }
  return width;
}

Width link_width(const Hardware& hardware, const std::set<MemoryId>& memories) {
  std::set<LinkId> links;
  for (const Core& core : hardware.cores) {
    for (const Level& level : core.levels) {
      if (!memories.contains(level.memory)) continue;
      if (level.over_links) continue;  // those at the memory are found below
      if (!level.link.valid()) return {};
      links.insert(level.link);
    }
  }
  for (std::size_t i = 0; i < hardware.links.size(); ++i) {
    for (const End& end : hardware.links[i].ends) {
      if (end.memory.valid() && memories.contains(end.memory)) links.insert(LinkId(i));
    }
  }
  Width width;
  for (const LinkId id : links) {
    const Link& link = hardware[id];
    const bool separate = link.kind == LinkKind::link && link.both_ways;
    width.in += link.bits_per_cycle;
    width.out += link.bits_per_cycle;
    width.all += link.bits_per_cycle * (separate ? 2 : 1);
  }
  return width;
}

}  // namespace monet
