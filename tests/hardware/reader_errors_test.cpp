// Every message that a wrong file can give, with its place.
#include "hardware/support.h"

namespace monet {
namespace {

using test::changed;
using test::message_of;
using test::small_machine;
using testing::HasSubstr;

TEST(HardwareErrors, TheMachine) {
  EXPECT_EQ(message_of("[1, 2]\n"),
            "m.yaml:1:1: a hardware file is a block of keys, not a list (see docs/hardware.md for an example)");
  EXPECT_EQ(message_of(changed("monet: 1\n", "")),
            "m.yaml:1:1: the version of the format is missing (write monet: 1 in the first line)");
  EXPECT_EQ(message_of(changed("monet: 1\n", "monet: 2\n")),
            "m.yaml:1:8: version 2 of the format; this program reads version 1 (take a newer program)");
  EXPECT_EQ(message_of(changed("name: small\n", "")), "m.yaml:1:1: the machine has no name (write name: my_machine)");
  EXPECT_EQ(message_of(changed("500 MHz", "0.5 Hz")),
            "m.yaml:3:8: '0.5 Hz' is less than any machine has (write a value from 1 Hz to 1000 GHz)");
  EXPECT_EQ(message_of(changed("500 MHz", "0 Hz")),
            "m.yaml:3:8: a clock below 1 Hz (write a frequency, for example 500 MHz)");
  EXPECT_EQ(message_of(changed("22 nm", "22 mm")),
            "m.yaml:4:13: '22 mm' is more than any machine has (write a value from 0.1 nm to 1000000 nm)");
  EXPECT_EQ(message_of(changed("22 nm", "0 nm")),
            "m.yaml:4:13: no such technology node (write a length, for example 22 nm)");
  EXPECT_EQ(message_of("energies: by sizes\n" + small_machine),
            "m.yaml:1:11: 'energies' of the machine cannot be 'by sizes' (did you mean 'by size'?)");
}

TEST(HardwareErrors, ValuesThatNoMachineHasNameTheRange) {
  EXPECT_EQ(message_of(changed("500 MHz", "1e300 MHz")),
            "m.yaml:3:8: '1e300 MHz' is more than any machine has (write a value from 1 Hz to 1000 GHz)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}", "{mac: {energy: 1e-300 pJ}}")),
            "m.yaml:16:34: '1e-300 pJ' is less than any machine has (write 0, or a value from 1e-12 pJ to 1e+12 "
            "pJ)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}", "{mac: 1e-300}")),
            "m.yaml:16:25: '1e-300' is less than any machine has (write 0, or a value from 1e-09 cycle to 1e+12 "
            "cycle)");
}

TEST(HardwareErrors, KeysAndForms) {
  EXPECT_EQ(message_of(changed("        size: 64 KiB", "        siez: 64 KiB")),
            "m.yaml:28:9: unknown key 'siez' in memory of a core 'sram' (did you mean 'size'?)");
  EXPECT_EQ(message_of("whatever_this_may_be: 1\n" + small_machine).substr(0, 79),
            "m.yaml:1:1: unknown key 'whatever_this_may_be' in the machine (known: monet, na");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 64")),
            "m.yaml:28:15: '64': a unit is missing (write a size, for example 2 MiB or 64 kbit)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 64 MHz")),
            "m.yaml:28:15: '64 MHz': the unit does not fit here (write a size, for example 2 MiB or 64 kbit)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 64 KB")),
            "m.yaml:28:15: unknown unit 'KB' (write kB for 1000 bytes or KiB for 1024)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: -64 KiB")), "m.yaml:28:15: '-64 KiB' is negative");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 0 B")),
            "m.yaml:28:15: the memory 'sram' has no size (write size: 2 MiB)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 1.5 bit")),
            "m.yaml:28:15: 'size' is not a whole number of bits: 1.5");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 0.3 bit")),
            "m.yaml:28:15: '0.3 bit' is less than any machine has (write a value from 1 bit to 128 PiB)");
  EXPECT_EQ(
      message_of(changed("size: 64 KiB", "size: .nan")),
      "m.yaml:28:15: '.nan' does not start with a number (write a number, with its unit if it has one: 4 or 2 MiB)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 64 EiB")),
            "m.yaml:28:15: '64 EiB' is more than any machine has (write a value from 1 bit to 128 PiB)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: [64 KiB]")),
            "m.yaml:28:15: 'size' of memory of a core 'sram' is a list (write a size, for example 2 MiB or 64 kbit)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size:")),
            "m.yaml:29:9: 'size' of memory of a core 'sram' has no value (remove it or state it)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: {value: 64 KiB, sourc: x}")),
            "m.yaml:28:31: unknown key 'sourc' beside the value of 'size' of memory of a core 'sram' (did you mean "
            "'source'?)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: {value: 64 KiB, confidence: [A]}")),
            "m.yaml:28:43: 'confidence' is a list (write a text)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: {value: {value: 64 KiB}}")),
            "m.yaml:28:23: 'value' of 'size' of memory of a core 'sram' is a block of keys (write the value itself)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: = 64 KiB +")),
            "m.yaml:28:15: a value is missing at column 11 of the expression");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: =memory")),
            "m.yaml:28:15: 'memory' is no parameter (this file has no parameters)");
  EXPECT_EQ(message_of(changed("size: 64 KiB", "size: 64 KiB\n        double_buffered: yes")),
            "m.yaml:29:26: 'yes' is neither true nor false (write true or false)");
  EXPECT_EQ(message_of(changed("kind: registers", "kind: register")),
            "m.yaml:19:15: 'kind' of memory of a core 'registers' cannot be 'register' (did you mean 'registers'?)");
  EXPECT_EQ(message_of("links: {mesh: pe}\n" + small_machine),
            "m.yaml:1:8: 'links' of the machine is a block of keys (write a list: a line starting with - for each)");
  EXPECT_EQ(message_of("clusters: 3\n" + small_machine),
            "m.yaml:1:11: 'clusters' of the machine is one value (write a block with a name for each cluster)");
  EXPECT_THAT(message_of("effects: 3\n" + small_machine),
              HasSubstr("m.yaml:1:10: 'effects' of the machine is one value (write a block"));
  EXPECT_EQ(message_of(changed("  pe:\n", "  p e:\n")),
            "m.yaml:13:3: 'p e' cannot be a name (no spaces, commas or /, at most 100 characters)");
  EXPECT_EQ(message_of("notes: {a: 1}\n" + small_machine),
            "m.yaml:1:8: 'notes' of the machine is a block of keys (write a name or a list of names: [a, b])");
  EXPECT_EQ(message_of("notes: [[1]]\n" + small_machine),
            "m.yaml:1:9: an item of 'notes' of the machine is a list (write a name or a list of names: [a, b])");
}

TEST(HardwareErrors, Ports) {
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "256..32 bit/cycle")),
            "m.yaml:29:29: the smallest width (256) is more than the largest (32) (write the smaller first)");
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "0 bit/cycle")),
            "m.yaml:29:29: the width is not positive (write a bandwidth, for example 512 bit/cycle or 17 MB/s)");
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "32..256")),
            "m.yaml:29:29: a unit is missing (write a bandwidth, for example 512 bit/cycle or 17 MB/s)");
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "1.5 bit/cycle")),
            "m.yaml:29:29: not a whole number of bits (write width: 1.5 bit/cycle, word: 32 bit for a word that takes "
            "several "
            "cycles)");
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "[1 bit/cycle, 2 bit/cycle, 3 bit/cycle]")),
            "m.yaml:29:29: a list of 3 where two should be (write the smallest access and the whole word)");
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "\"[3] bit/cycle\"")),
            "m.yaml:29:29: '[3] bit/cycle' is not a range (write 64..512 bit/cycle)");
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "..256 bit/cycle")),
            "m.yaml:29:29: '' does not start with a number");
  EXPECT_EQ(message_of(changed("{width: 32..256 bit/cycle}", "{}")),
            "m.yaml:29:21: a port without a width (write width: 64 bit/cycle)");
  EXPECT_EQ(message_of(changed("        ports: {rw: {width: 32..256 bit/cycle}}\n", "")),
            "m.yaml:28:9: the memory 'sram' has no ports (write ports: {rw: {kind: read_write, width: 64 bit/cycle}})");
  EXPECT_EQ(message_of(changed("32..256 bit/cycle", "256 bit/cycle, moves: [weights to_low]")),
            "m.yaml:29:52: 'weights' is neither a path nor a transfer (did you mean 'weight'?)");
  EXPECT_EQ(
      message_of(changed("r: {kind: read, width: 8 bit/cycle}",
                         "r: {kind: read, width: 8 bit/cycle, moves: [weight from_high]}")),
      "m.yaml:23:55: the port 'r' is of kind read: it cannot do from_high (from_high and from_low write the memory)");
  EXPECT_EQ(message_of(changed("r: {kind: read, width: 8 bit/cycle}",
                               "r: {kind: read, width: 8 bit/cycle, moves: [input to_low]}")),
            "m.yaml:23:55: the memory does not hold the path 'input' (add it to `paths`)");
  EXPECT_EQ(message_of(changed("r: {kind: read, width: 8 bit/cycle}",
                               "r: {kind: read, width: 8 bit/cycle, moves: [weight to_high]}")),
            "m.yaml:23:55: only output goes to_high (input and weight come from_high and go to_low)");
}

TEST(HardwareErrors, Levels) {
  EXPECT_EQ(message_of(changed("paths: weight", "paths: weights")),
            "m.yaml:21:16: there is no path 'weights' (did you mean 'weight'?)");
  EXPECT_EQ(message_of(changed("paths: weight\n", "paths: weight\n        serves: [X]\n")),
            "m.yaml:22:18: the core has no dimension 'X' (known: K, C, all)");
  EXPECT_EQ(message_of(changed("{use: dram}", "{use: drum}")),
            "m.yaml:32:7: there is no memory 'drum' to use (did you mean 'dram'?)");
  EXPECT_EQ(message_of(changed("{use: dram}", "{use: pe}")),
            "m.yaml:32:7: there is no memory 'pe' to use (did you mean 'pe'?)");
  EXPECT_EQ(message_of(changed("{use: dram}", "{use: dram, size: 1 B}")),
            "m.yaml:32:25: 'size' beside 'use' (state it where the memory of the system is described)");
  EXPECT_EQ(message_of(changed("    array:\n", "    count: 2\n    grid: [2, 2]\n    array:\n")),
            "m.yaml:14:12: both count and grid (state one of them)");
  EXPECT_EQ(message_of(changed("    array:\n", "    grid: [2, 2, 2, 2]\n    array:\n")),
            "m.yaml:14:11: a grid of 4 sizes (write rows and columns: [4, 4])");
  EXPECT_EQ(message_of(changed("    array:\n", "    count: 0\n    array:\n")),
            "m.yaml:14:12: 'count' cannot be 0 (write a whole number from 1 to 1048576)");
}

TEST(HardwareErrors, Units) {
  EXPECT_EQ(message_of(changed("dimensions: {K: 4, C: {size: 2, loops: [C, FX]}}", "area: 1 mm2")),
            "m.yaml:15:7: an array without dimensions (write dimensions: {K: 32, C: 32})");
  EXPECT_EQ(message_of(changed("C: {size: 2, loops: [C, FX]}", "C: {loops: [C, FX]}")),
            "m.yaml:15:29: the dimension 'C' has no size (write size: 32)");
  EXPECT_EQ(message_of(changed("loops: [C, FX]", "loops: [C, Q]")).substr(0, 41),
            "m.yaml:15:50: there is no loop 'Q' (known");
  EXPECT_EQ(message_of(changed("{K: 4,", "{gang: 4,")),
            "m.yaml:15:20: 'gang' cannot name a dimension (`serves` needs the word for itself)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}", "{mca: {energy: 0.5 pJ}}")),
            "m.yaml:16:20: there is no kind of operation 'mca' (did you mean 'mac'?)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}", "{}")),
            "m.yaml:16:19: no operation is listed (write mac: 1 cycle)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}", "{mac: 0}")),
            "m.yaml:16:25: mac takes no cycles (leave it out where the unit cannot do it)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}", "{mac: -1}")), "m.yaml:16:25: '-1' is negative");
  EXPECT_EQ(
      message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      precisions: {pf16: 1}\n")),
      "m.yaml:17:20: 'pf16' is no precision (for example fp32, tf32, bf16, fp16, fp8, fp8_e4m3, int8, int4, mxfp8, "
      "mxint8, mx9)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}\n",
                               "{mac: {energy: 0.5 pJ}}\n      precisions: {fp16: {accumulate: x}}\n")),
            "m.yaml:17:39: 'x' is no precision (for example fp32 or int32)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      precisions: {fp16: 0}\n")),
            "m.yaml:17:26: fp16 at rate 0 (leave it out)");
  EXPECT_EQ(
      message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      precisions: {fp16: 1 pJ}\n")),
      "m.yaml:17:26: '1 pJ' has a unit (write a number without a unit)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      precisions: {fp16: -1}\n")),
            "m.yaml:17:26: 'rate' is too small (from 0 to 1000000000000000)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      precisions: {}\n")),
            "m.yaml:17:19: no precision is listed (leave the key out for all)");
  EXPECT_EQ(
      message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      cycle_rule: row * depth\n")),
      "m.yaml:17:19: 'row' is neither a parameter nor a size of the tile (did you mean 'rows'?)");
  EXPECT_EQ(message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      cycle_rule: rows *\n")),
            "m.yaml:17:19: a value is missing at column 7 of the expression");
  EXPECT_EQ(message_of("parameters: {rows: 3}\n" +
                       changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      cycle_rule: rows\n")),
            "m.yaml:18:19: 'rows' is a parameter and a size of the tile (give the parameter another name)");
  EXPECT_EQ(
      message_of(changed("{mac: {energy: 0.5 pJ}}\n", "{mac: {energy: 0.5 pJ}}\n      energy_per_cycle: 5 pJ/cycle\n")),
      "m.yaml:17:25: an energy for each cycle of a rule that the array does not have (write a cycle_rule, or give "
      "the energy of the operations)");
  EXPECT_EQ(
      message_of(changed("    memories:\n      registers:", "    vector: {lanes: 4}\n    memories:\n      registers:")),
      "m.yaml:17:13: a vector unit that lists no operations (write operations: {arithmetic: {cycles: 1}, exp: {cycles: "
      "4}})");
  EXPECT_EQ(message_of(changed("    memories:\n      registers:",
                               "    vector: {operations: {add: 1}}\n    memories:\n      registers:")),
            "m.yaml:17:13: a vector unit without lanes (write lanes: 64)");
  EXPECT_EQ(message_of(changed("    memories:\n      registers:",
                               "    rate: {operations: {all: 1 OP/s}}\n    memories:\n      registers:")),
            "m.yaml:17:11: both units and a rate (describe a core by its units or by what was measured on it)");
  EXPECT_EQ(message_of(changed("    array:\n", "    operators: [Con]\n    array:\n")).substr(0, 56),
            "m.yaml:14:17: there is no operator or family 'Con' (did ");
  EXPECT_EQ(message_of(changed("    array:\n", "    operators: [convolution, 'Conv*', Add]\n    array:\n")),
            "no error");
}

TEST(HardwareErrors, Rates) {
  const auto rate = [](const std::string& text) {
    return message_of("monet: 1\nname: m\nclock: 1 GHz\ncores: {a: {rate: {" + text + "}}}\n");
  };
  EXPECT_EQ(rate("energy: {all: 1 pJ}"),
            "m.yaml:4:19: a rate without operations a second (write operations: {all: 6.4 MOP/s})");
  EXPECT_EQ(rate("operations: {all: 0 OP/s}"), "m.yaml:4:38: no rate for all (write 6.4 MOP/s)");
  EXPECT_EQ(rate("operations: {all: {source: x}}"), "m.yaml:4:38: no rate for all (write 6.4 MOP/s)");
  EXPECT_EQ(rate("operations: {all: 1 OP/s}, energy: {all: {source: x}}"),
            "m.yaml:4:61: no energy for all (write 1.7 nJ)");
  EXPECT_EQ(rate("operations: {all: 1 OPS}"), "m.yaml:4:38: unknown unit 'OPS' (did you mean 'OP'?)");
  EXPECT_EQ(rate("operations: {all: 1 OP/s}"), "no error");
  EXPECT_EQ(rate("operations: {all: 1 OP/s}, precisions: {int8: {operation_energy: {mac: 1 pJ}}}"),
            "m.yaml:4:85: energies without operations a second (write operations: {mac: 8 MOP/s}, or energy: 0.5 for "
            "all of them)");
  EXPECT_EQ(rate("operations: {all: 1 OP/s}, precisions: {int8: {operations: {mac: 0 OP/s}}}"),
            "m.yaml:4:85: no rate for mac (write 6.4 MOP/s)");
}

TEST(HardwareErrors, CostsThatCannotBeDerived) {
  const std::string no_technology = changed("technology: 22 nm\n", "");
  EXPECT_EQ(message_of(no_technology), "no error");
  EXPECT_EQ(
      message_of(test::with(no_technology, "        read_energy: 20 pJ\n", "")),
      "m.yaml:27:9: the energy is left out, and so is the technology to derive it from (state it, or technology: 22 nm "
      "for the machine)");
  EXPECT_EQ(
      message_of(test::with(no_technology, "{mac: {energy: 0.5 pJ}}", "{mac: 1}")),
      "m.yaml:14:7: the energy of mac is left out, and so is the technology to derive it from (write mac: {cycles: 1, "
      "energy: 0.04 pJ}, or technology: 22 nm for the machine)");
  EXPECT_EQ(message_of(changed("    read_energy: 700 pJ\n", "")),
            "m.yaml:7:5: the energy of this DRAM is left out, and so is its type (state read_energy and write_energy, "
            "or type: "
            "LPDDR4)");
  EXPECT_EQ(message_of(changed("    read_energy: 700 pJ\n", "    type: LPDDR\n")).substr(0, 50),
            "m.yaml:10:11: no table has the energy of 'LPDDR' (");
  EXPECT_EQ(message_of(changed("        size: 64 KiB\n", "        size: 64 KiB\n        type: LPDDR4\n")),
            "m.yaml:29:15: only DRAM has a type (remove it, or write kind: dram)");
}

}  // namespace
}  // namespace monet
