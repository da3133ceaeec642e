#include "base/quantities.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "explore/space/open.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <ostream>

namespace monet::cli {

namespace {

constexpr std::uint64_t all_up_to = 20000;  // designs: a few minutes on one machine

Error wrong_arguments(std::string message, std::string advice) {
  return {.message = std::move(message), .place = "monet explore", .advice = std::move(advice)};
}

Status check_arguments(const ExploreCommand& command) {
  if (!command.rescue.empty()) {
    if (command.list || !command.show.empty())
      return wrong_arguments(fmt::format("--rescue and {} do not go together", command.list ? "--list" : "--show"),
                             "leave one of them out");
    return Done{};
  }
  const bool explores = command.show.empty() && !command.list;
  if (explores && command.options.space.empty())
    return wrong_arguments("a space is missing", "name a file or one of monet explore --list, or --show a store");
  if (!explores && !command.options.space.empty())
    return wrong_arguments(
        fmt::format("'{}' and {} do not go together", command.options.space, command.list ? "--list" : "--show"),
        "leave one of them out");
  if (command.list && !command.show.empty())
    return wrong_arguments("--list and --show do not go together", "leave one of them out");
  return Done{};
}

// edge_tpu.sqlite, edge_tpu-resnet18-b4.sqlite: not that of another network.
std::string store_name(std::string name, const ExploreOptions& options) {
  if (!options.network.empty()) {
    name += '-';
    for (const char c : std::filesystem::path(options.network).stem().string()) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
      name += plain ? c : '_';
    }
  }
  if (options.batch > 0) name += fmt::format("-b{}", options.batch);
  return name + ".sqlite";
}

// Asks the user for nothing that can be told from the space.
Expected<ExploreOptions> complete(const ExploreCommand& command) {
  ExploreOptions options = command.options;
  options.tolerance = command.tolerance_percent / 100;
  MONET_TRY(const explore::Space space, explore::open_space(options.space));
  if (command.all) {
    options.method = "all";
  } else if (!command.method.empty()) {
    options.method = command.method;
  } else if (options.samples > 0) {
    options.method = "sobol";
  } else {
    options.method = space.size() <= all_up_to ? "all" : "nsga2";
  }
  if (options.store.empty()) options.store = store_name(space.name, options);
  return options;
}

using Writer = Status (*)(const std::string& store, const WriteText& write);

// Status of the store, or of the file.
Status write_lines(std::ostream& out, const std::string& path, const std::string& store, Writer writer) {
  return writer(store, [&](const std::string& line) -> Status {
    out << line;
    if (out) return Done{};
    return Error{.message = "cannot be written", .place = path, .advice = "is there room on the disk?"};
  });
}

Status write_lines(const std::string& path, const std::string& store, Writer writer) {
  if (path.empty()) return Done{};
  MONET_TRY(WholeFile file, WholeFile::open(path));
  MONET_RETURN_IF_ERROR(write_lines(file.stream(), path, store, writer));
  MONET_RETURN_IF_ERROR(file.finish());
  return file.publish();
}

int write_page_alone(const std::string& path, const ShowOptions& options) {
  const auto page = exploration_page(options.store, options);
  return page ? write_text(path, *page) : report(page.error());
}

int write_output(const ExploreCommand& command, Exploration& exploration, const ShowOptions& options) {
  Status written = write_lines(command.csv, options.store, write_store_csv);
  if (written) written = write_lines(command.lines, options.store, write_store_json_lines);
  if (!written) return report(written.error());
  if (command.output.empty()) return 0;
  if (command.output.ends_with(".html")) return write_page_alone(command.output, options);
  const WithoutTime same(exploration.wall_s);
  FolderFiles files(command.output);
  files.page("report.html", [&] { return exploration_page(options.store, options); });
  files.file("designs.csv",
             [&](std::ostream& out) { written = write_lines(out, command.output, options.store, write_store_csv); });
  if (!written) return report(written.error());
  files.text("front.json", to_json(exploration) + "\n");
  return files.publish();
}

Error none_runs(const Exploration& exploration) {
  Error error{.kind = ErrorKind::infeasible, .place = exploration.store};
  error.message = fmt::format("none of the {} designs that were looked at can run the workloads", exploration.seen);
  if (!exploration.failures.empty()) {
    const auto& [reason, designs] = exploration.failures.front();
    error.message += fmt::format("; {} of them because: {}", designs, reason);
  }
  error.advice = "widen the parameters or the constraints of the space, or take smaller workloads";
  return error;
}

int list_spaces(const CommonOptions& common) {
  const auto spaces = builtin_spaces();
  if (!spaces) return report(spaces.error());
  if (common.json) return print_json(to_json(*spaces));
  Table table({{"space"}, {"designs", Table::Align::right}, {"description"}});
  for (const SpaceInfo& space : *spaces)
    table.add({space.name, grouped(static_cast<std::int64_t>(space.size)), space.description});
  return print(table);
}

int finish(const ExploreCommand& command, Exploration& exploration, const ShowOptions& options) {
  report(exploration.warnings, exploration.notes, command.common);
  if (const int status = write_output(command, exploration, options); status != 0) return status;
  const bool none = exploration.evaluated == 0 && exploration.seen > 0;
  if (command.common.json || !none) {
    const int status =
        command.common.json ? print_json(to_json(exploration)) : print(to_text(exploration, command.view));
    if (status != 0) return status;
  }
  return none ? report(none_runs(exploration)) : 0;
}

// No output may be written over the store.
Status keeps_the_store(const ExploreCommand& command, const std::string& store) {
  for (const std::string& file : {command.csv, command.lines, command.output}) {
    std::error_code none;
    if (file.empty() || (file != store && !std::filesystem::equivalent(file, store, none))) continue;
    return Error{.message = "this is the store", .place = file, .advice = "write to another file"};
  }
  return Done{};
}

int rescue(const ExploreCommand& command) {
  const auto rescued =
      rescue_store({.damaged = command.rescue, .space = command.options.space, .store = command.options.store});
  if (!rescued) return report(rescued.error());
  return command.common.json ? print_json(to_json(*rescued)) : print(to_text(*rescued));
}

}  // namespace

int run(const ExploreCommand& command) {
  if (const Status checked = check_arguments(command); !checked) return report(checked.error());
  if (!command.rescue.empty()) return rescue(command);
  if (command.list) return list_spaces(command.common);
  if (!command.show.empty()) {
    if (const Status kept = keeps_the_store(command, command.show); !kept) return report(kept.error());
    const ShowOptions options{
        .store = command.show, .objectives = command.options.objectives, .tolerance = command.tolerance_percent / 100};
    auto exploration = show_store(options);
    return exploration ? finish(command, *exploration, options) : report(exploration.error());
  }
  auto options = complete(command);
  if (!options) return report(options.error());
  if (const Status kept = keeps_the_store(command, options->store); !kept) return report(kept.error());
  options->stop = stop_on_interrupt();
  if (is_watched(command.common)) {
    options->progress = [](const std::string& who, std::size_t done, std::size_t all) {
      show_progress("designs by " + who, done, all);
    };
  }
  auto exploration = explore_space(*options);
  clear_progress();
  if (!exploration) return report(exploration.error());
  const int status =
      finish(command, *exploration,
             {.store = options->store, .objectives = options->objectives, .tolerance = options->tolerance});
  if (!exploration->complete)
    report({}, {fmt::format("ended early; the same command with --resume goes on with {}", options->store)},
           command.common);
  return status;
}

}  // namespace monet::cli
