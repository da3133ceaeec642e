// Random machines, as the text of a hardware file: cores of several kinds, memories of their own or shared ones of any
// size, with or without DRAM, joined in any way.
#pragma once

#include "mapping/random_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace monet::test {

class RandomHardware {
 public:
  explicit RandomHardware(Random& random) : random_(random) {}

  std::string make() {
    // How data come from home memory.
    home_ = random_.one_of<Home>({Home::level, Home::level, Home::bus, Home::bus, Home::links, Home::beside,
                                  Home::on_chip, Home::own, Home::mixed});
    shared_local_ = random_.chance(0.25);
    const std::int64_t kinds = random_.between(1, 3);
    for (std::int64_t i = 0; i < kinds; ++i) add_kind(i, kinds);
    std::string text = "monet: 1\nname: random\nclock: 1 GHz\n";
    if (random_.chance(0.3)) text += "effects: {fill_drain: false, memory_latency: false}\n";
    text += "memories:\n";
    std::string memories;
    if (home_ != Home::own && home_ != Home::on_chip) memories += memory("dram", home_size(), "dram", 0);
    if (home_ == Home::on_chip) memories += memory("main", home_size(), "sram", 0);
    if (shared_local_) memories += memory("l2", local_size(), "sram", 0);
    storage_ = random_.chance(0.35);
    if (storage_) {
      memories += fmt::format(
          "  flash: {{kind: storage, size: {}, page: {} B, ports: {{rw: {{width: {} bit/cycle}}}}, read_latency: {} "
          "cycle, "
          "write_latency: {} cycle}}\n",
          random_.chance(0.8) ? "16 MiB" : "8 KiB", random_.one_of<int>({1, 16, 512}), random_.one_of<int>({4, 16, 64}),
          random_.between(0, 50), random_.between(0, 50));
    }
    text += memories.empty() ? "  {}\n" : memories;
    text += "cores:\n" + cores_;
    text += "links:\n" + links();
    return text;
  }

 private:
  enum class Home { level, bus, links, beside, on_chip, own, mixed };

  std::string home_size() { return random_.chance(0.9) ? "64 MiB" : "4 KiB"; }
  std::string local_size() {
    const std::int64_t bytes = std::int64_t{1} << random_.between(random_.chance(0.1) ? 5 : 8, 16);
    return fmt::format("{} B", bytes + random_.between(0, bytes / 2));
  }

  std::string ports(int most) {
    const int width = 1 << random_.between(3, most);
    const int least = random_.chance(0.5) ? width : std::max(1, width >> random_.between(0, 4));
    const std::string bits =
        least == width ? fmt::format("{} bit/cycle", width) : fmt::format("{}..{} bit/cycle", least, width);
    if (random_.chance(0.5)) return fmt::format("rw: {{width: {}}}", bits);
    return fmt::format("r: {{kind: read, width: {0}}}, w: {{kind: write, width: {0}}}", bits);
  }

  std::string memory(const std::string& name, const std::string& size, const std::string& kind, int indent,
                     const std::string& more = {}) {
    return fmt::format(
        "{:{}}  {}: {{kind: {}, size: {}, ports: {{{}}}, read_energy: {} pJ, write_energy: {} pJ{}{}{}}}\n", "", indent,
        name, kind, size, ports(8), random_.between(0, 20), random_.between(0, 20),
        random_.chance(0.2) ? fmt::format(", latency: {} cycle", random_.between(1, 20)) : "",
        random_.chance(0.05) && kind == "sram" ? ", double_buffered: true" : "", more);
  }

  std::string operations() {
    return random_.chance(0.5) ? "all: {cycles: 1, energy: 1 pJ}"
                               : "all: {cycles: 2, energy: 1 pJ}, mac: {cycles: 1, energy: 1 pJ}";
  }
  std::string precisions() {
    if (random_.chance(0.7)) return {};
    return random_.one_of<std::string>({"        precisions: {int8: {rate: 1, accumulate: int32}}\n",
                                        "        precisions: {fp16: {rate: 1, accumulate: fp32}, fp32: {rate: 0.5}}\n",
                                        "        precisions: {bf16: {rate: 1, accumulate: fp32}}\n"});
  }

  std::string unit(bool everything) {
    switch (random_.between(0, 2)) {
      case 0: {
        std::string ops = everything ? operations() : "mac: {cycles: 1, energy: 1 pJ}, add: {cycles: 1, energy: 1 pJ}";
        std::string dims;
        const std::vector<std::string> loops = {"", "K", "C", "K, OX", "B, D, OY", "C, FX, FY"};
        for (std::int64_t i = random_.between(1, 3); i > 0; --i) {
          const std::string of = random_.one_of(loops);
          dims += fmt::format("{}d{}: {{size: {}{}}}", dims.empty() ? "" : ", ", i, random_.between(1, 8),
                              of.empty() ? "" : ", loops: [" + of + "]");
        }
        std::string text =
            fmt::format("    array:\n        dimensions: {{{}}}\n        operations: {{{}}}\n", dims, ops);
        text += precisions();
        if (random_.chance(0.2)) text += fmt::format("        fill: {} cycle\n", random_.between(1, 20));
        return text;
      }
      case 1:
        return fmt::format("    vector:\n        lanes: {}\n        operations: {{{}}}\n{}", random_.between(1, 16),
                           everything ? operations() : "arithmetic: {cycles: 1, energy: 1 pJ}", precisions());
      default:
        return fmt::format("    rate: {{operations: {{{}: {} MOP/s}}, energy: {{all: 2 pJ}}}}\n",
                           everything ? "all" : "mac", random_.between(10, 4000));
    }
  }

  void add_kind(std::int64_t number, std::int64_t kinds) {
    const std::string name = fmt::format("k{}", number);
    const std::int64_t count = kinds == 1 ? random_.between(1, 6) : random_.between(1, 6 / kinds);
    const bool everything = number == 0 ? random_.chance(0.97) : random_.chance(0.5);
    // One that a gang or a clock of its own makes different.
    std::string text = fmt::format("  {}:\n", name);
    if (count > 1) {
      text += count % 2 == 0 && random_.chance(0.5) ? fmt::format("    grid: [{}, 2]\n", count / 2)
                                                    : fmt::format("    count: {}\n", count);
    }
    const std::string compute = unit(everything);
    const bool rate = compute.find("rate: {op") != std::string::npos;
    const bool gang = !rate && random_.chance(0.1);
    if (gang) text += "    gang: 2\n";
    if (random_.chance(0.1)) text += random_.chance(0.5) ? "    clock: 500 MHz\n" : "    clock: 1.6 GHz\n";
    text += compute;
    text += "    memories:\n";
    std::string levels;
    if (!rate && random_.chance(0.3)) levels += registers();
    levels += own_levels();
    if (shared_local_ && (number == 0 || random_.chance(0.7))) levels += "      l2: {use: l2}\n";
    std::string top;
    if (home_ == Home::level || home_ == Home::bus || home_ == Home::links || (home_ == Home::mixed && number == 0)) {
      top = "      dram: {use: dram}\n";
    }
    if (home_ == Home::on_chip) top = "      main: {use: main}\n";
    if (top.empty() && home_ == Home::own && random_.chance(0.05)) {
      // Paths that never meet.
      levels += memory("top_weights", home_size(), "sram", 4, ", paths: [weight]") +
                memory("top_acts", home_size(), "sram", 4, ", paths: [input, output]");
    } else if (top.empty()) {
      levels += memory("top", home_ == Home::own ? home_size() : local_size(), "sram", 4);
    }
    levels += top;
    text += levels;
    cores_ += text;
    names_.push_back(name);
    counts_.push_back(count);
  }

  std::string registers() {
    const std::string path = random_.one_of<std::string>({"weight", "output"});
    return fmt::format(
        "      regs: {{kind: registers, size: {} B, paths: [{}], ports: {{r: {{kind: read, width: 32 bit/cycle}}, "
        "w: {{kind: write, width: 32 bit/cycle}}}}, read_energy: 0.1 pJ, write_energy: 0.1 pJ}}\n",
        random_.one_of<int>({4, 16, 64}), path);
  }

  std::string own_levels() {
    switch (random_.between(0, 5)) {
      case 0: return {};
      case 1:
        return memory("weights", local_size(), "sram", 4, ", paths: [weight]") +
               memory("acts", local_size(), "sram", 4, ", paths: [input, output]");
      case 2: return memory("sram0", local_size(), "sram", 4) + memory("sram1", local_size(), "sram", 4);
      case 3:
        return memory("sram0", local_size(), "sram", 4,
                      random_.one_of<std::string>(
                          {", paths: [input]", ", paths: [weight]", ", paths: [output]", ", paths: [input, weight]"}));
      default: return memory("sram", local_size(), "sram", 4);
    }
  }

  std::string links() {
    std::string text;
    const auto width = [&] { return 1 << random_.between(3, 8); };
    const auto rest = [&] {
      return fmt::format("width: {} bit/cycle, latency: {} cycle, energy: {} pJ/bit{}", width(), random_.between(0, 3),
                         random_.between(0, 2), random_.chance(0.01) ? ", one_way: true" : "");
    };
    const std::string all = fmt::format("{}", fmt::join(names_, ", "));
    switch (home_) {
      case Home::bus: text += fmt::format("  - {{bus: [{}, dram], {}, name: memory_bus}}\n", all, rest()); break;
      case Home::links:
        for (const std::string& name : names_) text += fmt::format("  - {{link: [dram, {}], {}}}\n", name, rest());
        break;
      case Home::beside:
      case Home::mixed:
        if (random_.chance(0.5)) {
          text += fmt::format("  - {{bus: [{}, dram], {}, name: memory_bus}}\n", all, rest());
        } else {
          for (const std::string& name : names_) text += fmt::format("  - {{link: [dram, {}], {}}}\n", name, rest());
        }
        break;
      default: break;
    }
    std::int64_t cores = 0;
    for (const std::int64_t count : counts_) cores += count;
    const bool needed = home_ == Home::own && cores > 1;
    if (cores > 1 && (needed || random_.chance(0.6))) {
      switch (random_.between(0, 3)) {
        case 0: text += fmt::format("  - {{bus: [{}], {}, name: core_bus}}\n", all, rest()); break;
        case 1: text += fmt::format("  - {{ring: [{}], {}}}\n", all, rest()); break;
        case 2: text += fmt::format("  - {{all_to_all: [{}], {}}}\n", all, rest()); break;
        default: text += fmt::format("  - {{mesh: [{}], grid: [1, {}], {}}}\n", all, cores, rest()); break;
      }
    }
    if (storage_) {
      const bool to_home = home_ != Home::own && home_ != Home::on_chip && random_.chance(0.5);
      text += fmt::format("  - {{bus: [flash, {}], {}, name: storage_bus}}\n", to_home ? "dram" : all, rest());
    }
    return text.empty() ? "  []\n" : text;
  }

  Random& random_;
  Home home_ = Home::level;
  bool shared_local_ = false, storage_ = false;
  std::string cores_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> counts_;
};

}  // namespace monet::test
