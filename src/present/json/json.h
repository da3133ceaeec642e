// JSON that several reports share. For .cpp files of this room only: the library takes seconds to compile.
#pragma once

#include <monet/inspect.h>
#include <monet/reach.h>

#include <nlohmann/json.hpp>

#include <cmath>

namespace monet {

struct Checkpointing;
struct Exploration;
struct Optimization;

using Json = nlohmann::ordered_json;

// What to_json() writes.
Json json_of(const Checkpointing& result);
Json json_of(const Exploration& exploration);
Json json_of(const Optimization& result);

Json json_of(const ByPhase& by_phase);
// "lowering", "expected_error" and both in words, "reach_text".
void add_reach(Json& json, const Reach& reach);
// The fields that every command on a network has.
void add_inspection(Json& json, const Inspection& inspection, bool with_layers);
std::string text_of(const Json& json);
// Infinite and not a number: null.
inline Json number_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }

}  // namespace monet
