#include "hardware/keys.h"

namespace monet {

const Block& fabric_level_block() {
  static const Block block = {
      "level of the fabric",
      joined({{{.name = "name", .meaning = "of the level: nvlink, ib …"},
               {.name = "chips",
                .form = Form::parameter,
                .meaning = "all that lie under one unit of it; any: as many as are asked for (outermost level alone)"},
               {.name = "kind",
                .form = Form::choice,
                .meaning = "left out: switch",
                .choices = {"switch", "ring", "torus", "full"}},
               {.name = "sizes",
                .form = Form::integers,
                .meaning = "of a torus: units of the level below along each dimension, outermost first"},
               {.name = "dimensions",
                .form = Form::integer,
                .meaning = "of a torus of any chips, whose sizes are then as equal as they can be"},
               {.name = "width",
                .form = Form::quantity,
                .meaning = "of one chip, each way, over all its links of this level together",
                .measure = Measure::bandwidth},
               {.name = "latency",
                .form = Form::quantity,
                .meaning = "of a message from chip to chip (ring, torus: over one link); left out: 0",
                .measure = Measure::time},
               {.name = "start",
                .form = Form::quantity,
                .meaning = "of a collective, before its first message; left out: 0",
                .measure = Measure::time},
               {.name = "reduces",
                .form = Form::boolean,
                .meaning = "the switch adds up what passes, and copies it to many; left out: false"},
               {.name = "energy",
                .form = Form::quantity,
                .meaning = "of what crosses the level (ring, torus: each link); left out: 0",
                .measure = Measure::energy_per_bit},
               {.name = "oversubscription",
                .form = Form::number,
                .meaning = "all chips at once get the width divided by this; left out: 1"},
               {.name = "share",
                .form = Form::number,
                .meaning = "of the chip's compute that a collective takes while it runs here; left out: 0"},
               {.name = "algorithms",
                .form = Form::names,
                .meaning = "that its library has beside ring and direct: tree, halving, in_switch; left out: all"},
               {.name = "efficiency",
                .form = Form::block,
                .meaning = "share of the width that collectives reach; left out: 1",
                .block = fabric_efficiency_block}},
              provenance_keys()})};
  return block;
}

const Block& fabric_efficiency_block() {
  static const Block block = {
      "efficiency of a level",
      joined({{{.name = "by_size",
                .form = Form::names,
                .meaning = "sizes of the whole buffer of a chip and the share at each: [1 MiB 0.2, 1 GiB 0.8]"},
               {.name = "in_switch",
                .form = Form::names,
                .meaning = "the same of collectives that the switch adds up; left out: as by_size"}},
              provenance_keys()})};
  return block;
}

}  // namespace monet
