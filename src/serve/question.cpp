#include "serve/question.h"

#include "base/try.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace monet::serving {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> commands = {"evaluate", "fuse", "checkpoint", "optimize", "explore"};
constexpr std::array<std::string_view, 17> known = {
    "command",  "network", "machine", "machine_yaml", "set",   "batch",   "precision",   "optimizer",    "inference",
    "lowering", "order",   "plan",    "objective",    "space", "samples", "evaluations", "memory_budget"};

Error wrong(std::string_view key, std::string message, std::string advice) {
  return Error{.message = std::move(message), .place = std::string(key), .advice = std::move(advice)};
}

// A word as a shell takes it.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./:=,%+@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

class Reader {
 public:
  Reader(const Json& json, Question& question) : json_(json), question_(question) {}

  Expected<std::string> word(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return std::string();
    if (!found->is_string()) return wrong(key, "is no text", "give a text");
    return found->get<std::string>();
  }
  Expected<std::int64_t> number(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return std::int64_t{0};
    if (!found->is_number_integer() || found->get<std::int64_t>() < 1)
      return wrong(key, "is no whole number above zero", "give one, or leave it out");
    return found->get<std::int64_t>();
  }
  // A word that is an option, too.
  Status option(const char* key, const char* name, std::string& value) {
    MONET_TRY(value, word(key));
    // No option of a page names a file.
    if (value.find_first_of("/\\") != std::string::npos)
      return wrong(key, fmt::format("'{}' looks like a file", value), "give a name");
    if (!value.empty()) add(name, value);
    return Done{};
  }
  void add(const char* name, const std::string& value) {
    question_.words += fmt::format(" {} {}", name, shell_word(value));
  }

  Expected<HardwareParameters> parameters() const {
    HardwareParameters values;
    const auto found = json_.find("set");
    if (found == json_.end() || found->is_null()) return values;
    if (!found->is_object()) return wrong("set", "is no object", R"(give {"NAME": "VALUE"})");
    for (const auto& [name, value] : found->items()) {
      if (!value.is_string() && !value.is_number())
        return wrong("set", fmt::format("'{}' has no value", name), "give a text or a number");
      values.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    return values;
  }

 private:
  const Json& json_;
  Question& question_;
};

Status read_step(const Json& json, const ServeFolder& folder, Reader& read, Question& question) {
  MONET_TRY(const std::string network, read.word("network"));
  MONET_TRY(question.network, folder.network(network));
  const std::string shown_network = std::filesystem::path(network).filename().string();
  MONET_TRY(const std::string preset, read.word("machine"));
  MONET_TRY(HardwareParameters parameters, read.parameters());
  MONET_TRY(const std::string yaml, read.word("machine_yaml"));
  if (preset.empty() == yaml.empty())
    return wrong("machine", "give a preset or the text of a machine", "one of machine and machine_yaml");
  question.title = fmt::format("{} on {}", shown_network, yaml.empty() ? preset : "a machine of one's own");
  question.words +=
      fmt::format(" {} --hardware {}", shell_word(shown_network), yaml.empty() ? shell_word(preset) : "machine.yaml");
  for (const auto& [name, value] : parameters) read.add("--set", fmt::format("{}={}", name, value));
  if (yaml.empty()) {
    MONET_TRY(question.step.machine, folder.preset(preset, std::move(parameters)));
  } else {
    MONET_TRY(question.step.machine, folder.machine(yaml, std::move(parameters)));
  }
  MONET_TRY(const std::int64_t batch, read.number("batch"));
  if (batch > 0) {
    question.step.train.batch = batch;
    read.add("--batch", std::to_string(batch));
  }
  MONET_RETURN_IF_ERROR(read.option("precision", "--precision", question.step.train.precision));
  std::string optimizer;
  MONET_RETURN_IF_ERROR(read.option("optimizer", "--optimizer", optimizer));
  if (!optimizer.empty()) question.step.train.optimizer = optimizer;
  MONET_RETURN_IF_ERROR(read.option("lowering", "--lowering", question.step.lowering));
  MONET_RETURN_IF_ERROR(read.option("order", "--order", question.step.order));
  if (const auto found = json.find("inference"); found != json.end() && !found->is_null()) {
    if (!found->is_boolean()) return wrong("inference", "is neither true nor false", "give one of them");
    question.step.inference = found->get<bool>();
    if (question.step.inference) question.words += " --inference";
  }
  MONET_TRY(const std::string plan, read.word("plan"));
  if (!plan.empty()) {
    MONET_TRY(question.step.plan, plan_from(plan, "plan"));
    question.words += " --plan plan.yaml";
  }
  return Done{};
}

}  // namespace

Expected<Question> question_from(const Json& json, const ServeFolder& folder) {
  if (!json.is_object()) return wrong("request", "is no JSON object", R"(give {"network": …, "machine": …})");
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) == known.end())
      return wrong(key, "is not known", fmt::format("known are {}", fmt::join(known, ", ")));
  }
  Question question;
  Reader read(json, question);
  MONET_TRY(std::string command, read.word("command"));
  if (!command.empty()) question.command = std::move(command);
  if (std::ranges::find(commands, question.command) == commands.end())
    return wrong("command", fmt::format("there is no '{}'", question.command),
                 fmt::format("give one of {}", fmt::join(commands, ", ")));
  question.words = "monet " + question.command;
  MONET_TRY(question.samples, read.number("samples"));
  MONET_TRY(question.evaluations, read.number("evaluations"));
  if (question.command == "explore") {
    MONET_TRY(question.space, read.word("space"));
    if (question.space.find_first_of("/\\.") != std::string::npos || question.space.empty())
      return wrong("space", "is not the name of a space that comes with the program", "GET /api/spaces lists them");
    question.title = "space " + question.space;
    question.words += " " + shell_word(question.space);
    question.store_key = question.space;
    MONET_TRY(const std::string network, read.word("network"));
    if (!network.empty()) {
      MONET_TRY(question.space_network, folder.network_name(network));
      const std::string shown_network = std::filesystem::path(network).filename().string();
      question.title = fmt::format("space {} for {}", question.space, shown_network);
      read.add("--network", shown_network);
      question.store_key += "|" + network;
      MONET_TRY(question.batch, read.number("batch"));
      if (question.batch > 0) read.add("--batch", std::to_string(question.batch));
    }
    if (question.samples > 0) question.words += fmt::format(" --method nsga2 --samples {}", question.samples);
    question.store_key += fmt::format("|{}", question.batch);
    return question;
  }
  MONET_RETURN_IF_ERROR(read_step(json, folder, read, question));
  MONET_RETURN_IF_ERROR(read.option("objective", "--objective", question.step.objective));
  if (question.step.objective.empty()) question.step.objective = "latency";
  MONET_RETURN_IF_ERROR(read.option("memory_budget", "--memory-budget", question.memory_budget));
  if (question.evaluations > 0 && question.command != "evaluate" && question.command != "fuse")
    read.add("--evaluations", std::to_string(question.evaluations));
  return question;
}

}  // namespace monet::serving
