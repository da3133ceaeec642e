// The keys of a hardware file, as tables: the reader accepts what stands here and nothing else, and the JSON schema is
// written from it.
#pragma once

#include "config/keys.h"

namespace monet {

const Block& machine_block();
const Block& cluster_block();
const Block& parameter_block();
const Block& effects_block();
const Block& memory_block();  // of the system
const Block& level_block();   // of a core
const Block& port_block();
const Block& core_block();
const Block& array_block();
const Block& vector_block();
const Block& rate_block();
const Block& dimension_block();
const Block& dataflow_block();
const Block& operation_block();
const Block& precision_block();
const Block& rate_precision_block();
const Block& rate_value_block();
const Block& energy_value_block();
const Block& link_block();
// Laws of kernels (hardware/kernel_keys.cpp).
const Block& kernels_block();
const Block& kernel_ceiling_block();
const Block& kernel_memory_block();
const Block& kernel_energy_block();
const Block& kernel_law_block();
const Block& validated_block();
// Levels of the network between chips (hardware/fabric_keys.cpp).
const Block& fabric_level_block();
const Block& fabric_efficiency_block();

}  // namespace monet
