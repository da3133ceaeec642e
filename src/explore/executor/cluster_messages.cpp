#include "explore/executor/cluster_messages.h"

#include "config/yaml.h"

#include <monet/version.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monet::explore {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

OutcomesMessage outcomes_of(const Json& json) {
  OutcomesMessage message{.batch = json.at("batch").get<std::uint64_t>(),
                          .lines = json.at("outcomes").get<std::vector<std::string>>(),
                          .seconds = json.at("seconds").get<double>()};
  for (const Json& one : json.at("failed")) {
    message.failed.emplace_back(one.at("design").get<Design>(), one.at("failure").get<std::string>());
  }
  return message;
}

}  // namespace

std::string hello_message(const ClusterJob& job, const std::string& address, double limit_s, int tries) {
  return text_of({{"type", "hello"},
                  {"protocol", cluster_protocol},
                  {"version", version},
                  {"address", address},
                  {"fingerprint", job.fingerprint},
                  {"space", {{"path", job.space_path}, {"text", job.space_text}}},
                  {"files", job.files},
                  {"options", {{"limit_s", limit_s}, {"tries", tries}}}});
}

std::string batch_message(std::uint64_t batch, std::span<const Design> designs) {
  return text_of(
      {{"type", "batch"}, {"batch", batch}, {"designs", std::vector<Design>(designs.begin(), designs.end())}});
}

std::string cancel_message(std::span<const std::uint64_t> batches) {
  return text_of({{"type", "cancel"}, {"batches", std::vector<std::uint64_t>(batches.begin(), batches.end())}});
}

std::string close_message() { return text_of({{"type", "close"}}); }

Expected<ClusterMessage> parse_message(const std::string& line) {
  std::string type, why = "not of a type that is known";
  try {
    const Json json = Json::parse(line);
    type = json.at("type").get<std::string>();
    if (type == "ready") {
      return ClusterMessage(ReadyMessage{.protocol = json.at("protocol").get<int>(),
                                         .fingerprint = json.at("fingerprint").get<std::string>(),
                                         .workers = json.at("workers").get<std::size_t>()});
    }
    if (type == "workers") return ClusterMessage(WorkersMessage{.workers = json.at("workers").get<std::size_t>()});
    if (type == "outcomes") return ClusterMessage(outcomes_of(json));
    if (type == "error") {
      return Error{.message = json.at("message").get<std::string>(), .advice = json.at("advice").get<std::string>()};
    }
  } catch (const Json::exception& error) {
    why = error.what();
  }
  return Error{.message = fmt::format("monet.cluster says what is no message: {} ({})", shown(line), why),
               .advice = "use the Python package of this version of the program"};
}

}  // namespace monet::explore
