// Hardware described for ZigZag (one core with its memories) or Stream (a system of such cores, both generations of its
// files). What those tools do not model is switched off (`effects`), and there is no clock: `clock_hz` is 0.
//
// Where Stream's terms and ours differ: a core without compute units (off-chip, memory) becomes a memory; a pair of
// connected cores a link both ways; three or more a bus. Cores of one file follow each other and are named after it.
// The off-chip memory of the older generation is on a bus of its own with all cores, as wide as its port. Where it has
// several ports, reads and writes have a bus each with both_ways = false: the memory is first among the ends of the one
// (it only sends) and last among those of the other (it only receives).
#pragma once

#include "hardware/hardware.h"

#include <monet/expected.h>

#include <functional>
#include <string>

namespace monet {

struct ImportOptions {
  std::string mapping;  // path of a Stream mapping, which says what each core may run; empty: none
};

Expected<Hardware> import_hardware(const std::string& path, const ImportOptions& options = {});

// Text of the file of that path.
using FileReader = std::function<Expected<std::string>(const std::string& path)>;
Expected<Hardware> import_hardware_text(const std::string& text, const std::string& path, const FileReader& read,
                                        const ImportOptions& options = {});

}  // namespace monet
