#include "serve/api.h"

#include "base/try.h"
#include "hardware/presets.h"
#include "networks/builtin.h"
#include "training/recipe.h"

#include <monet/explore.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace monet::serving {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t most_runs = 500;
constexpr std::int64_t quick_step = 1000;  // tiles of a step that is evaluated again within a blink

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

ApiResponse json_response(const Json& json) { return {.body = text_of(json)}; }

Error not_found(const std::string& what) {
  return Error{.message = "there is no " + what, .place = "not found", .advice = "the page asks for what there is"};
}

Expected<Json> parsed(const std::string& body) {
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_discarded()) return json;
  return Error{.message = "the request is no JSON", .place = "request", .advice = "send one JSON object"};
}

Json json_of(const Error& error) {
  return {{"message", error.message}, {"place", error.place}, {"advice", error.advice}};
}

Json json_of(const Run& run) {
  return {{"id", run.id},
          {"at", run.at},
          {"command", run.command},
          {"title", run.title},
          {"words", run.words},
          {"question", Json::parse(run.question, nullptr, false)},
          {"latency_s", run.latency_s},
          {"energy_pj", run.energy_pj},
          {"peak_bytes", run.peak_bytes}};
}

Json json_of(const JobReport& job) {
  Json json = {{"id", job.id},
               {"state", name_of(job.state)},
               {"title", job.title},
               {"words", job.words},
               {"what", job.what},
               {"done", job.done},
               {"all", job.all},
               {"run", job.run},
               {"question", Json::parse(job.asked, nullptr, false)}};
  if (job.state == JobState::failed) json["error"] = json_of(job.error);
  return json;
}

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// One of `free_` while it lives.
class Turn {
 public:
  explicit Turn(std::counting_semaphore<>& free) : free_(free) { free_.acquire(); }
  ~Turn() { free_.release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::counting_semaphore<>& free_;
};

Json description(const HardwareReport& report) {
  Json parameters = Json::object();
  for (const auto& [name, value] : report.parameters) parameters[name] = value;
  return {{"name", report.name}, {"description", report.description}, {"parameters", parameters}};
}

}  // namespace

ApiResponse response_of(const Error& error) {
  int status = error.kind == ErrorKind::user ? 400 : error.kind == ErrorKind::infeasible ? 422 : 500;
  if (error.place == "not found") status = 404;
  return {.status = status, .body = text_of({{"error", json_of(error)}})};
}

Api::Api(ServeFolder folder, Runs runs, std::ptrdiff_t threads)
    : folder_(std::move(folder)), runs_(std::move(runs)), free_(threads), jobs_(1, folder_, runs_, cache_) {}

ApiResponse Api::handle(const ApiRequest& request) {
  auto response = route(request);
  return response ? *std::move(response) : response_of(response.error());
}

Expected<ApiResponse> Api::route(const ApiRequest& request) {
  std::vector<std::string> parts = parts_of(request.path);
  if (parts.size() < 2 || parts[0] != "api") return not_found("such address");
  parts.resize(4);
  const std::string& what = parts[1];
  if (what == "networks") return networks(request);
  if (what == "machines") return machines(request, parts[2]);
  if (what == "evaluate" && request.method == "POST") return evaluate(request);
  if (what == "runs" && request.method == "GET") return runs(parts[2], parts[3]);
  if (what == "jobs") return jobs(request, parts[2], parts[3]);
  if (what == "compare" && request.method == "GET") return compare(request);
  if (what == "recipes" && request.method == "GET") return json_response(training::recipe_names());
  if (what == "spaces" && request.method == "GET") {
    MONET_TRY(const std::vector<SpaceInfo> spaces, builtin_spaces());
    Json json = Json::array();
    for (const SpaceInfo& space : spaces) json.push_back({{"name", space.name}, {"description", space.description}});
    return json_response(json);
  }
  return not_found("such address");
}

Expected<ApiResponse> Api::networks(const ApiRequest& request) {
  if (request.method == "POST") {
    const auto name = request.query.find("name");
    MONET_TRY(const std::string kept,
              folder_.keep_network(request.body, name == request.query.end() ? "" : name->second));
    MONET_TRY(const Network network, folder_.network(kept));
    // What cannot be read is said now, not when it is evaluated.
    MONET_TRY(const Inspection inspection, inspect(network));
    return json_response({{"network", kept},
                          {"parameters", inspection.parameters},
                          {"macs", inspection.macs.forward},
                          {"warnings", inspection.warnings}});
  }
  Json json = Json::array();
  for (const BuiltinInfo& network : builtin_networks())
    json.push_back({{"name", network.name}, {"description", network.description}});
  return json_response(json);
}

Expected<ApiResponse> Api::machines(const ApiRequest& request, const std::string& name) {
  if (request.method == "POST") {
    MONET_TRY(const Machine machine, folder_.machine(request.body, {}));
    MONET_TRY(const HardwareReport report, describe_hardware(machine));
    return json_response(description(report));
  }
  if (name.empty()) {
    MONET_TRY(const std::vector<PresetSummary> presets, list_hardware());
    Json json = Json::array();
    for (const PresetSummary& preset : presets)
      json.push_back({{"name", preset.name}, {"description", preset.description}});
    return json_response(json);
  }
  const std::string* text = preset_text(name);
  if (text == nullptr) return not_found("preset of that name");
  MONET_TRY(const HardwareReport report, describe_hardware(Machine(name)));
  Json json = description(report);
  json["text"] = *text;
  return json_response(json);
}

Expected<ApiResponse> Api::evaluate(const ApiRequest& request) {
  MONET_TRY(const Json asked, parsed(request.body));
  MONET_TRY(Question question, question_from(asked, folder_));
  if (question.command != "evaluate")
    return Error{
        .message = "'" + question.command + "' takes long", .place = "command", .advice = "POST it to /api/jobs"};
  const auto keep = request.query.find("keep");
  const bool kept = keep == request.query.end() || keep->second != "no";
  // What moves with a slider has to be quick: the second answer beside it is for results that are kept.
  question.step.compare = question.step.advise = kept;
  question.step.suggest_up_to = kept ? quick_step : 0;
  question.step.jobs = 1;
  const Turn turn(free_);
  MONET_TRY(Run run, answer(question, folder_, {}, cache_));
  run.question = text_of(asked);
  std::int64_t id = 0;
  if (kept) {
    MONET_TRY(id, runs_.add(run));
  }
  return ApiResponse{
      .body = fmt::format(R"({{"run": {}, "words": {}, "result": {}}})", id, text_of(run.words), run.result)};
}

Expected<ApiResponse> Api::runs(const std::string& id, const std::string& part) {
  if (id.empty()) {
    MONET_TRY(const std::vector<Run> runs, runs_.list(most_runs));
    Json json = Json::array();
    for (const Run& run : runs) json.push_back(json_of(run));
    return json_response(json);
  }
  MONET_TRY(const std::optional<Run> run, runs_.find(number_of(id)));
  if (!run) return not_found("run of that number");
  if (part == "plan") return ApiResponse{.type = "text/yaml; charset=utf-8", .body = run->plan};
  if (part == "page") {
    MONET_TRY(const Json asked, parsed(run->question));
    MONET_TRY(const Question question, question_from(asked, folder_));
    const Turn turn(free_);
    MONET_TRY(std::string page, page_of(question, *run, folder_, cache_));
    return ApiResponse{.type = "text/html; charset=utf-8", .body = std::move(page)};
  }
  if (!part.empty()) return not_found("such part of a run");
  return ApiResponse{.body = fmt::format(R"({{"run": {}, "result": {}}})", text_of(json_of(*run)), run->result)};
}

Expected<ApiResponse> Api::jobs(const ApiRequest& request, const std::string& id, const std::string& part) {
  if (request.method == "POST" && id.empty()) {
    MONET_TRY(const Json asked, parsed(request.body));
    MONET_TRY(Question question, question_from(asked, folder_));
    MONET_TRY(const std::int64_t job, jobs_.add(std::move(question), text_of(asked)));
    return json_response({{"job", job}});
  }
  if (request.method == "POST" && (part == "stop" || part == "pause")) {
    if (!(part == "stop" ? jobs_.stop(number_of(id)) : jobs_.pause(number_of(id))))
      return not_found(part == "stop" ? "job of that number" : "job of that number that runs");
    return json_response({{"job", number_of(id)}});
  }
  if (request.method == "POST" && part == "resume") {
    MONET_TRY(const std::int64_t job, jobs_.resume(number_of(id)));
    return json_response({{"job", job}});
  }
  if (request.method != "GET" || !part.empty()) return not_found("such address");
  if (!id.empty()) return job(number_of(id));
  Json json = Json::array();
  for (const JobReport& job : jobs_.list()) json.push_back(json_of(job));
  return json_response(json);
}

Expected<ApiResponse> Api::job(std::int64_t id) {
  const std::optional<JobReport> found = jobs_.find(id);
  if (!found) return not_found("job of that number");
  Json json = json_of(*found);
  json["front"] = Json::array();
  for (const FoundPlan& plan : found->front)
    json["front"].push_back(
        {{"latency_s", plan.latency_s}, {"energy_pj", plan.energy_pj}, {"peak_bytes", plan.peak_bytes}});
  if (!found->store.empty()) {
    // Absent until its first designs are written.
    if (const auto so_far = show_store({.store = found->store})) {
      for (const DesignResult& design : so_far->front) {
        Json point = {{"design", design.design}};
        for (const auto& [name, value] : design.metrics) point[name] = value;
        for (const auto& [name, value] : design.parameters) point["parameters"][name] = value;
        json["front"].push_back(std::move(point));
      }
    }
  }
  return json_response(json);
}

// ?a=3&b=5: two runs side by side.
Expected<ApiResponse> Api::compare(const ApiRequest& request) {
  std::array<std::string, 2> results, names;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto id = request.query.find(i == 0 ? "a" : "b");
    MONET_TRY(const std::optional<Run> run, runs_.find(id == request.query.end() ? 0 : number_of(id->second)));
    if (!run) return not_found("run of that number: ask /api/compare?a=N&b=M");
    MONET_TRY(const Json asked, parsed(run->question));
    MONET_TRY(const Question question, question_from(asked, folder_));
    const Turn turn(free_);
    MONET_TRY(results[i], evaluated_plan(question, *run, cache_));
    names[i] = fmt::format("run {}", run->id);
  }
  MONET_TRY(std::string comparison, compared(results[0], names[0], results[1], names[1]));
  return ApiResponse{.body =
                         fmt::format(R"({{"comparison": {}, "a": {}, "b": {}}})", comparison, results[0], results[1])};
}

}  // namespace monet::serving
