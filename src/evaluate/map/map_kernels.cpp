#include "base/try.h"
#include "evaluate/kernels/kernel_bound.h"
#include "evaluate/map/map_network.h"
#include "kernels/laws/tiles.h"

namespace monet {

namespace {

bool has_tiles(const Kernel& kernel) {
  return kernel.kind == KernelKind::product || (kernel.kind == KernelKind::convolution && !kernel.depthwise());
}

MappedKernel mapped_kernel(const KernelLaws& laws, const Kernel& kernel, double us) {
  const KernelClass kernel_class = class_of(kernel);
  const ClassLaw* law = applied_law(laws, kernel_class);
  const KernelClass& used = law != nullptr ? law->kernel_class : kernel_class;
  MappedKernel row{.kernel_class = name_of(kernel_class), .law = std::string(form_of(used).name)};
  row.us = us;
  row.cold_share = kernel.cold_share;
  if (law != nullptr) {
    row.law_of = name_of(used);
    row.measured = static_cast<std::int64_t>(law->measured.size());
  }
  if (!has_tiles(kernel)) return row;
  const ProductShape shape = kernel.kind == KernelKind::product
                                 ? ProductShape{static_cast<double>(kernel.batch), static_cast<double>(kernel.m),
                                                static_cast<double>(kernel.n), static_cast<double>(kernel.k)}
                                 : product_of_convolution(kernel);
  const TileChoice tiles =
      choose_tiles(laws, shape, law != nullptr ? law->coefficients : default_coefficients(laws, kernel_class));
  row.tile_m = static_cast<std::int64_t>(tiles.rows);
  row.tile_n = static_cast<std::int64_t>(tiles.columns);
  row.split = static_cast<std::int64_t>(tiles.split);
  row.waves = tiles.waves;
  return row;
}

}  // namespace

NetworkMapping map_kernels(const NetworkGraph& network, const Hardware& hardware, const MapOptions& options, bool tf32,
                           NetworkMapping result) {
  const CoreId core = kernel_core(hardware);
  const KernelLaws& laws = *hardware[core].kernels;
  const KernelRoof roof(hardware, laws);
  const KernelStep step = kernel_step(network.graph, laws, tf32);
  for (std::size_t i = 0; i < step.lowered.launches.size(); ++i) {
    const Launch& launch = step.lowered.launches[i];
    const Node& node = network.graph[launch.cause];
    if (!wants_layer(options, node)) continue;
    Kernel kernel = launch.kernel;
    derive_sizes(kernel);
    const double us = step.costs.us[i], per_us = 1e-6 * hardware.clock_hz;
    MappedLayer layer{
        .name = node.name, .op = std::string(name_of(node.op)), .phase = std::string(name_of(node.phase))};
    layer.core = hardware[core].name;
    layer.macs = kernel.flops / 2;
    layer.cycles = us * per_us;
    layer.bound_cycles = layer.ideal_cycles = roof.least_us(kernel) * per_us;
    layer.energy_pj = step.costs.mj[i] * 1e9;
    layer.utilization = layer.ideal_cycles / layer.cycles;
    layer.kernel = mapped_kernel(laws, kernel, us);
    add_layer(result, std::move(layer));
  }
  result.views = static_cast<std::int64_t>(step.lowered.silent.size());
  return result;
}

}  // namespace monet
