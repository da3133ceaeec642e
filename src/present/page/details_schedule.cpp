#include "present/page/details_parts.h"
#include "present/trace/trace_tracks.h"

#include <algorithm>
#include <tuple>

namespace monet {

namespace {

// Whole ticks. Rounding is monotonic: what follows on keeps touching.
std::int64_t ticks(double cycles, double tick) {
  return cycles > 0 && std::isfinite(cycles) ? std::llround(cycles / tick) : 0;
}

EventTime rounded(double start, double end, double tick) {
  const std::int64_t from = ticks(start, tick);
  return {.start = from, .end = std::max(from, ticks(end, tick))};
}

class ScheduleColumns {
 public:
  explicit ScheduleColumns(const Evaluation& evaluation)
      : evaluation_(evaluation), events_(evaluation.trace), tracks_(trace_tracks(evaluation)) {
    std::vector<double> all;
    for (const TraceEvent& event : events_) all.push_back(event.start), all.push_back(event.end);
    tick_ = tick_of(all);
    for (const TraceEvent& event : events_) times_.push_back(rounded(event.start, event.end, tick_));
    lanes_.resize(events_.size());
    position_.resize(events_.size());
    std::erase_if(tracks_, [](const TraceTrack& track) { return track.kind != "core" && track.events.empty(); });
    for (TraceTrack& track : tracks_) {
      lanes_of_.push_back(assign_lanes(track.events, times_, lanes_));
      for (const std::uint32_t event : track.events) {
        position_[event] = static_cast<std::int64_t>(order_.size());
        order_.push_back(event);
      }
    }
    for (const char* const phase : {"forward", "backward", "optimizer"}) kinds_.index(phase);
    causes_.index("");
  }

  void write(DetailsText& out) {
    out.add("tick", tick_);
    write_tracks(out);
    // Columns of numbers fill the tables that are written after them.
    column(out, "name", [&](const TraceEvent& event) { return names_.index(event.name); });
    column(out, "kind", [&](const TraceEvent& event) { return kinds_.index(event.kind); });
    column(out, "cause", [&](const TraceEvent& event) { return causes_.index(cause_of(event)); });
    names_.write(out, "names");
    kinds_.write(out, "kinds");
    causes_.write(out, "causes");
    write_starts(out);
    out.column("length", order_.size(), [&](std::size_t i) { return times_[order_[i]].end - times_[order_[i]].start; });
    column(out, "part", [](const TraceEvent& event) { return event.part; });
    column(out, "node", [&](const TraceEvent& event) { return row_of(event); });
    out.column("lane", order_.size(), [&](std::size_t i) { return std::int64_t{lanes_[order_[i]]}; });
    column(out, "from", [&](const TraceEvent& event) {
      const std::int64_t from = event.flow_from();
      return from >= 0 && from < static_cast<std::int64_t>(events_.size()) ? position_[static_cast<std::size_t>(from)]
                                                                           : std::int64_t{-1};
    });
    column(out, "bytes", [](const TraceEvent& event) { return event.bytes; });
    write_critical(out);
  }

 private:
  template <class Value>
  void column(DetailsText& out, std::string_view key, const Value& value) const {
    out.column(key, order_.size(), [&](std::size_t i) { return value(events_[order_[i]]); });
  }

  std::int64_t row_of(const TraceEvent& event) const {
    return event.operator_row < static_cast<std::int64_t>(evaluation_.operators.size()) ? event.operator_row : -1;
  }

  // Without the number of the tile that it waited for, so that few are different.
  std::string cause_of(const TraceEvent& event) const {
    if (event.by < 0 || event.by >= static_cast<std::int64_t>(events_.size())) return "";
    TraceEvent by = events_[static_cast<std::size_t>(event.by)];
    by.part = -1;
    return monet::cause_of(event.wait, label_of(by));
  }

  void write_tracks(DetailsText& out) const {
    out.open("tracks", '[');
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      out.open("", '{');
      out.add("name", tracks_[i].name);
      out.add("kind", tracks_[i].kind);
      out.add("events", static_cast<std::int64_t>(tracks_[i].events.size()));
      out.add("lanes", std::int64_t{lanes_of_[i]});
      out.close('}');
    }
    out.close(']');
  }

  void write_starts(DetailsText& out) const {
    std::vector<std::int64_t> steps;
    for (const TraceTrack& track : tracks_) {
      std::int64_t before = 0;
      for (const std::uint32_t event : track.events) {
        steps.push_back(times_[event].start - before);
        before = times_[event].start;
      }
    }
    out.column("start", steps.size(), [&](std::size_t i) { return steps[i]; });
  }

  void write_critical(DetailsText& out) const {
    std::vector<std::size_t> critical;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].critical) critical.push_back(i);
    }
    std::ranges::sort(critical, {}, [&](std::size_t i) { return std::tuple(events_[i].start, events_[i].end, i); });
    out.column("critical", critical.size(), [&](std::size_t i) { return position_[critical[i]]; });
  }

  const Evaluation& evaluation_;
  const std::vector<TraceEvent>& events_;
  std::vector<TraceTrack> tracks_;
  std::vector<std::uint32_t> lanes_of_;  // by track: how many
  double tick_ = 1;
  std::vector<EventTime> times_;        // by event, in ticks
  std::vector<std::uint32_t> lanes_;    // by event
  std::vector<std::uint32_t> order_;    // events as they are written
  std::vector<std::int64_t> position_;  // by event
  StringTable names_, kinds_, causes_;
};

}  // namespace

void write_schedule(DetailsText& out, const Evaluation& evaluation) {
  out.open("schedule", '{');
  ScheduleColumns(evaluation).write(out);
  out.close('}');
}

void write_lifetimes(DetailsText& out, const Evaluation& evaluation) {
  const std::vector<Lifetime>& stays = evaluation.lifetimes;
  std::vector<double> all;
  for (const Lifetime& stay : stays) all.push_back(stay.start), all.push_back(stay.end);
  const double tick = tick_of(all);
  StringTable memories, names, roles;
  const auto column = [&](std::string_view key, const auto& value) {
    out.column(key, stays.size(), [&](std::size_t i) { return value(stays[i]); });
  };
  out.open("lifetimes", '{');
  out.add("tick", tick);
  column("memory", [&](const Lifetime& stay) { return memories.index(stay.memory); });
  column("name", [&](const Lifetime& stay) { return names.index(stay.tensor); });
  column("role", [&](const Lifetime& stay) { return roles.index(stay.role); });
  memories.write(out, "memories");
  names.write(out, "names");
  roles.write(out, "roles");
  column("start", [&](const Lifetime& stay) { return ticks(stay.start, tick); });
  column("length", [&](const Lifetime& stay) {
    const EventTime time = rounded(stay.start, stay.end, tick);
    return time.end - time.start;
  });
  column("bytes", [](const Lifetime& stay) { return stay.bytes; });
  column("address", [](const Lifetime& stay) { return stay.address; });
  out.close('}');
}

}  // namespace monet
