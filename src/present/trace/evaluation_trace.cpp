// The format is that of Chrome's trace viewer, which Perfetto reads too: https://docs.google.com/document/d/
// 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Events of one thread must not overlap unless one is inside the other:
// what shares a link at one time gets lanes, each a thread of its own.
#include "present/json/json.h"
#include "present/shared/critical_runs.h"
#include "present/trace/trace_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

namespace monet {

namespace {

constexpr int process = 1;

std::string json_string(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct Slice {
  std::int64_t start = 0, end = 0;  // ns
  std::uint32_t thread = 0;
};

// What is written, in order of time; of equal times, a slice comes before what is bound to it.
struct Record {
  enum class Kind : std::uint8_t { slice, critical, flow_start, flow_end, counter };

  std::int64_t at = 0, end = 0;
  Kind kind = Kind::slice;
  std::uint32_t index = 0;  // of the event, the run, or the point of the curve
  std::uint32_t memory = 0;

  auto key() const { return std::tuple(at, kind, end, memory, index); }
};

class TraceWriter {
 public:
  TraceWriter(const Evaluation& evaluation, std::ostream& out)
      : evaluation_(evaluation), out_(out), runs_(critical_runs(evaluation.critical_path)) {}

  void write() {
    fmt::format_to(std::back_inserter(text_),
                   "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"model\":{},\"hardware\":{},\"clock_hz\":{}}},\n"
                   "\"traceEvents\":[\n",
                   json_string(evaluation_.model), json_string(evaluation_.hardware), evaluation_.clock_hz);
    name("process_name", 0, evaluation_.model + " on " + evaluation_.hardware);
    if (!runs_.empty()) name_thread(++threads_, "critical path");
    place_slices();
    collect();
    for (const Record& record : records_) write(record);
    text_ += "\n]}\n";
    flush(0);
  }

 private:
  // Whole nanoseconds keep what follows on from touching: rounding is monotonic.
  std::int64_t nanoseconds(double cycles) const {
    const double ns = evaluation_.clock_hz > 0 ? cycles / evaluation_.clock_hz * 1e9 : cycles * 1e3;
    return std::llround(std::clamp(std::isnan(ns) ? 0 : ns, 0.0, 9e18));
  }

  static std::string microseconds(std::int64_t ns) {
    return ns % 1000 == 0 ? fmt::format("{}", ns / 1000) : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  }

  void begin_event() {
    if (!first_) text_ += ",\n";
    first_ = false;
  }

  void flush(std::size_t above) {
    if (text_.size() <= above) return;
    out_ << text_;
    text_.clear();
  }

  void name(const char* what, std::uint32_t thread, const std::string& value) {
    begin_event();
    fmt::format_to(std::back_inserter(text_),
                   "{{\"name\":\"{}\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", what, process,
                   thread, json_string(value));
  }

  void name_thread(std::uint32_t thread, const std::string& value) {
    name("thread_name", thread, value);
    begin_event();
    fmt::format_to(
        std::back_inserter(text_),
        "{{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}", process,
        thread, thread);
  }

  // Tracks in the order of the machine's parts, then others as they come; without idle ones.
  void place_slices() {
    const std::size_t count = evaluation_.trace.size();
    std::vector<EventTime> times(count);
    std::vector<std::uint32_t> lane(count);
    for (std::size_t i = 0; i < count; ++i) {
      times[i].start = nanoseconds(evaluation_.trace[i].start);
      times[i].end = std::max(times[i].start, nanoseconds(evaluation_.trace[i].end));
    }
    slices_.resize(count);
    for (TraceTrack& track : trace_tracks(evaluation_)) {
      const std::string title = track.kind == "other" ? track.name : track.kind + " " + track.name;
      const std::uint32_t lanes = assign_lanes(track.events, times, lane);
      for (std::uint32_t i = 0; i < lanes; ++i)
        name_thread(threads_ + 1 + i, i == 0 ? title : fmt::format("{} ({})", title, i + 1));
      for (const std::uint32_t i : track.events) slices_[i] = {times[i].start, times[i].end, threads_ + 1 + lane[i]};
      threads_ += lanes;
    }
  }

  void collect() {
    using Kind = Record::Kind;
    for (std::uint32_t i = 0; i < slices_.size(); ++i) {
      records_.push_back({slices_[i].start, slices_[i].end, Kind::slice, i});
      const std::int64_t from = evaluation_.trace[i].flow_from();
      if (from < 0 || static_cast<std::size_t>(from) >= slices_.size() || from == i) continue;
      const Slice& source = slices_[static_cast<std::size_t>(from)];
      if (source.start > slices_[i].start) continue;
      // Inside the source: at its end another slice of the thread may begin.
      const std::int64_t middle = source.start + (source.end - source.start) / 2;
      records_.push_back({std::min(middle, slices_[i].start), 0, Kind::flow_start, i});
      records_.push_back({slices_[i].start, 0, Kind::flow_end, i});
    }
    for (std::uint32_t i = 0; i < runs_.size(); ++i)
      records_.push_back({nanoseconds(runs_[i].start), nanoseconds(runs_[i].end), Kind::critical, i});
    for (std::uint32_t memory = 0; memory < evaluation_.memories.size(); ++memory) {
      const std::vector<double>& times = evaluation_.memories[memory].curve_at;
      for (std::uint32_t i = 0; i < times.size(); ++i)
        records_.push_back({nanoseconds(times[i]), 0, Kind::counter, i, memory});
    }
    std::ranges::sort(records_, {}, &Record::key);
  }

  void write(const Record& record) {
    begin_event();
    const auto out = std::back_inserter(text_);
    switch (record.kind) {
      case Record::Kind::slice: {
        const TraceEvent& event = evaluation_.trace[record.index];
        write_slice(label_of(event), event.kind, record, slices_[record.index].thread, event.start, event.end);
        if (event.bytes > 0) fmt::format_to(out, ",\"bytes\":{}", event.bytes);
        const std::string cause = cause_of(event, evaluation_);
        if (!cause.empty()) fmt::format_to(out, ",\"waited for\":{}", json_string(cause));
        text_ += "}}";
        break;
      }
      case Record::Kind::critical: {
        const CriticalRun& run = runs_[record.index];
        write_slice(run.name, run.kind, record, 1, run.start, run.end);
        fmt::format_to(out, ",\"steps\":{}}}}}", run.steps);
        break;
      }
      case Record::Kind::flow_start:
        write_flow("s", record, static_cast<std::uint32_t>(evaluation_.trace[record.index].flow_from()));
        break;
      case Record::Kind::flow_end: write_flow("f", record, record.index); break;
      case Record::Kind::counter: write_counter(record); break;
    }
    flush(1 << 16);
  }

  // Without its last two brackets: more arguments may follow.
  void write_slice(const std::string& title, const std::string& kind, const Record& record, std::uint32_t thread,
                   double start, double end) {
    fmt::format_to(std::back_inserter(text_),
                   "{{\"name\":{},\"cat\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
                   "\"args\":{{\"start_cycle\":{},\"end_cycle\":{}",
                   json_string(title), json_string(kind.empty() ? "other" : kind), process, thread,
                   microseconds(record.at), microseconds(record.end - record.at), start, end);
  }

  // The id is that of the event at its end: each has one at most.
  void write_flow(const char* phase, const Record& record, std::uint32_t event) {
    fmt::format_to(std::back_inserter(text_),
                   "{{\"name\":\"data\",\"cat\":\"flow\",\"ph\":\"{}\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}{}}}",
                   phase, record.index, process, slices_[event].thread, microseconds(record.at),
                   *phase == 'f' ? ",\"bp\":\"e\"" : "");
  }

  void write_counter(const Record& record) {
    const MemoryResult& memory = evaluation_.memories[record.memory];
    fmt::format_to(std::back_inserter(text_), "{{\"name\":{},\"ph\":\"C\",\"pid\":{},\"ts\":{},\"args\":{{",
                   json_string(memory.name + " bytes"), process, microseconds(record.at));
    const std::vector<std::int64_t>& bytes = memory.curve[record.index];
    for (std::size_t role = 0; role < std::min(memory.roles.size(), bytes.size()); ++role)
      fmt::format_to(std::back_inserter(text_), "{}{}:{}", role == 0 ? "" : ",", json_string(memory.roles[role]),
                     bytes[role]);
    text_ += "}}";
  }

  const Evaluation& evaluation_;
  std::ostream& out_;
  std::vector<CriticalRun> runs_;
  std::vector<Slice> slices_;  // by event
  std::vector<Record> records_;
  std::uint32_t threads_ = 0;  // the last one that has a name
  std::string text_;
  bool first_ = true;
};

}  // namespace

void write_trace(const Evaluation& evaluation, std::ostream& out) { TraceWriter(evaluation, out).write(); }

std::string to_trace(const Evaluation& evaluation) {
  std::ostringstream out;
  write_trace(evaluation, out);
  return std::move(out).str();
}

}  // namespace monet
