#include "present/page/exploration_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace monet {

using explore::PolicyKind;
using explore::Space;
using explore::Workload;

namespace {

// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

class CommandLine {
 public:
  explicit CommandLine(std::string beginning) : text_(std::move(beginning)) {}

  CommandLine& word(const std::string& word) {
    text_ += " " + shell_word(word);
    return *this;
  }
  CommandLine& option(const char* name, const std::string& value) {
    text_ += fmt::format(" {} {}", name, shell_word(value));
    return *this;
  }
  CommandLine& options(const char* name, const std::vector<std::string>& values) {
    for (const std::string& value : values) option(name, value);
    return *this;
  }
  CommandLine& flag(const char* name, bool given) {
    if (given) text_ += fmt::format(" {}", name);
    return *this;
  }
  // Of an option that is not at its default.
  CommandLine& changed(const char* name, const std::string& value, const std::string& usual) {
    return value == usual ? *this : option(name, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// What evaluate, fuse and checkpoint are told of the network and of the machine.
void add_network_and_machine(CommandLine& line, const Space& space, const Workload& workload) {
  const TrainOptions& train = workload.options.train;
  const TrainOptions usual;
  line.word(workload.network.name());
  if (train.batch) line.option("--batch", fmt::format("{}", *train.batch));
  for (const auto& [name, size] : train.dimensions) line.option("--dim", fmt::format("{}={}", name, size));
  line.option("--hardware", space.hardware_text.empty() ? space.hardware : "machine.yaml");
  line.flag("{set}", true);
  for (const explore::Derived& derived : space.derived) line.option("--set", derived.name + "=" + derived.text);
  line.changed("--precision", train.precision, "");
  line.flag("--inference", workload.options.inference);
  line.changed("--loss", train.loss, usual.loss).changed("--optimizer", train.optimizer, usual.optimizer);
  line.changed("--optimizer-form", train.optimizer_form, usual.optimizer_form);
  line.changed("--conv-gradient", train.conv_gradient, usual.conv_gradient);
  line.options("--freeze", train.freeze).options("--train", train.train);
  if (train.lora_rank) line.option("--lora", fmt::format("{}", *train.lora_rank));
  line.flag("--off-chip", space.off_chip).flag("--zigzag", space.zigzag);
}

std::string command_of(const Space& space, const Workload& workload) {
  const explore::Policy& policy = space.policy;
  CommandLine evaluate("monet evaluate");
  add_network_and_machine(evaluate, space, workload);
  if (policy.kind == PolicyKind::standard) return evaluate.text();
  evaluate.option("--plan", "plan.yaml");
  const bool fused = policy.kind == PolicyKind::fused;
  CommandLine plan(fused ? "monet fuse" : "monet checkpoint");
  add_network_and_machine(plan, space, workload);
  plan.option("--objective", policy.objective);
  if (fused) {
    plan.option("--limit", fmt::format("{}", policy.limit)).flag("--no-improve", !policy.improve);
  } else {
    if (!policy.budget.empty()) plan.option("--memory-budget", policy.budget);
    plan.option("--evaluations", fmt::format("{}", policy.evaluations));
  }
  plan.option("-o", "plan.yaml");
  return plan.text() + " && " + evaluate.text();
}

}  // namespace

DesignCommands commands_of(const Space& space) {
  DesignCommands result;
  if (!space.hardware_text.empty()) {
    result.notes.push_back(
        fmt::format("the machine is written in the space itself: to run a design alone, put what stands under "
                    "'hardware:' in {} into machine.yaml",
                    space.path));
  }
  for (const Workload& workload : space.workloads) {
    if (space.policy.kind == PolicyKind::checkpointed && workload.options.inference) {
      result.notes.push_back(
          fmt::format("there is no command that makes the plan of {} alone: it is inference", workload.name));
      continue;
    }
    result.commands.emplace_back(workload.name, command_of(space, workload));
  }
  return result;
}

}  // namespace monet
