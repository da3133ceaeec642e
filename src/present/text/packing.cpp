#include "base/csv.h"
#include "base/quantities.h"
#include "present/json/json.h"

#include <monet/pack.h>
#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

std::string id_field(const std::string& given) {
  const std::string id = csv_cell(given);
  if (id.find_first_of(",\" \t") == std::string::npos) return id;
  std::string text = "\"";
  for (const char c : id) {
    text += c;
    if (c == '"') text += c;
  }
  return text + "\"";
}

}  // namespace

std::string to_json(const Packing& packing) {
  Json json;
  json["schema"] = 1;
  json["file"] = packing.file;
  json["buffers"] = packing.buffers.size();
  json["capacity"] = packing.capacity ? Json(*packing.capacity) : Json(nullptr);
  json["peak_bytes"] = packing.peak_bytes;
  json["max_load_bytes"] = packing.max_load_bytes;
  json["placed"] = packing.placed;
  json["proven"] = packing.proven;
  Json fullest = Json::array();
  for (const std::size_t i : packing.fullest) fullest.push_back(packing.buffers[i].id);
  json["fullest"] = {{"time", packing.fullest_time}, {"buffers", std::move(fullest)}};
  json["wall_s"] = packing.wall_s;
  return text_of(json);
}

Text to_text(const Packing& packing) {
  Table table({{"memory"}, {"", Table::Align::right}, {"bytes", Table::Align::right}, {""}});
  const auto row = [&](const char* name, std::int64_t bytes, std::string note) {
    table.add({name, byte_size(bytes), grouped(bytes), std::move(note)});
  };
  if (packing.capacity)
    row("capacity", *packing.capacity, packing.placed ? "" : packing.proven ? "too little" : "no packing found");
  const bool least = packing.placed && packing.proven;
  std::string over;
  if (packing.max_load_bytes > 0 && packing.peak_bytes > packing.max_load_bytes) {
    const auto load = static_cast<double>(packing.max_load_bytes);
    over = fmt::format("{:.2f} % over the largest load", 100 * (static_cast<double>(packing.peak_bytes) / load - 1));
  }
  row("packed", packing.peak_bytes, least ? "the least that is possible" : over);
  row("largest load", packing.max_load_bytes,
      fmt::format("{} buffers at time {}", packing.fullest.size(), packing.fullest_time));
  return fmt::format("{}: {} buffers, {}\n\n", packing.file, grouped(static_cast<std::int64_t>(packing.buffers.size())),
                     seconds_text(packing.wall_s)) +
         table;
}

std::string to_csv(const Packing& packing) {
  const bool aligned = std::ranges::any_of(packing.buffers, [](const auto& buffer) { return buffer.alignment != 1; });
  std::string text = aligned ? "id,lower,upper,size,alignment,offset\n" : "id,lower,upper,size,offset\n";
  for (const PackedBuffer& buffer : packing.buffers) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},", id_field(buffer.id), buffer.lower, buffer.upper,
                   buffer.size);
    if (aligned) fmt::format_to(std::back_inserter(text), "{},", buffer.alignment);
    fmt::format_to(std::back_inserter(text), "{}\n", buffer.offset);
  }
  return text;
}

}  // namespace monet
