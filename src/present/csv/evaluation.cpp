#include "base/csv.h"

#include <monet/evaluate.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet {

std::string to_csv(const Evaluation& evaluation) {
  std::string text =
      "name,operator,phase,stack,cores,tiles,macs,start,end,busy_cycles,compute_cycles,stall_cycles,load_cycles,"
      "fill_cycles,slowed_cycles,wait_cycles,bound_cycles,energy_pj,compute_pj,memory_pj,network_pj,transfer_pj,"
      "home_read_bytes,home_write_bytes,recomputed,precision,converted\n";
  for (const OperatorResult& row : evaluation.operators) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                        csv_field(row.name), csv_field(row.op), row.phase, csv_field(row.stack),
                        csv_field(fmt::format("{}", fmt::join(row.cores, ";"))), row.tiles, row.macs, row.start,
                        row.end, row.busy_cycles, row.compute_cycles, row.stall_cycles, row.load_cycles,
                        row.fill_cycles, row.slowed_cycles, row.wait_cycles, row.bound_cycles, row.energy_pj,
                        row.compute_pj, row.memory_pj, row.network_pj, row.transfer_pj, row.home_read_bytes,
                        row.home_write_bytes, row.recomputed ? 1 : 0, csv_field(row.precision), row.converted ? 1 : 0);
  }
  return text;
}

std::string to_lifetimes_csv(const Evaluation& evaluation) {
  std::string text = "memory,name,role,start,end,bytes,address\n";
  for (const Lifetime& row : evaluation.lifetimes) {
    text += fmt::format("{},{},{},{},{},{},", csv_field(row.memory), csv_field(row.name), csv_field(row.role),
                        row.start, row.end, row.bytes);
    if (row.address >= 0) text += fmt::format("{}", row.address);
    text += '\n';
  }
  return text;
}

}  // namespace monet
