#include "explore/store/rescue.h"

#include "base/try.h"
#include "explore/store/rows.h"
#include "explore/store/salvage.h"
#include "explore/store/schema.h"

#include <unistd.h>

#include <fmt/format.h>

#include <filesystem>

namespace monet::explore {

namespace {

Status write_rows(Database& database, const Space& space, const std::map<Design, Outcome>& outcomes) {
  MONET_TRY(OutcomeRows rows, OutcomeRows::open(database, space));
  MONET_TRY(Transaction transaction, Transaction::begin(database, true));
  for (const auto& [design, outcome] : outcomes) MONET_RETURN_IF_ERROR(rows.write(outcome));
  return transaction.commit();
}

Expected<std::string> new_store(const std::string& target, const StoreContent& content,
                                const std::map<Design, Outcome>& outcomes) {
  bool exists = false;
  MONET_RETURN_IF_ERROR(make_store_file(
      target, content, exists, [&](Database& database) { return write_rows(database, content.space, outcomes); }));
  if (!exists) return target;
  return Error{.message = "there is such a file already", .place = target, .advice = "name another one with --store"};
}

Error needs_space(const std::string& path, const std::string& why) {
  return {.message = "the store does not say any more what it is of: " + why,
          .place = path,
          .advice = "give the space again: `monet explore SPACE --rescue " + path + "`"};
}

// As the store says it. What it does not say follows from the space, if that can be opened here.
Expected<StoreContent> content_in(const StoreIdentity& identity, const std::string& path) {
  if (identity.space_text.empty()) return needs_space(path, "its space is lost");
  auto space = Space::read_alone(identity.space_text, identity.space_path);
  if (!space) return needs_space(path, "its space cannot be read: " + space.error().message);
  const bool complete = !identity.version.empty() && !identity.fingerprint.empty() &&
                        identity.workloads.size() == space->workloads.size();
  if (complete) return StoreContent{*std::move(space), identity.fingerprint, identity.workloads, identity.version};
  space = Space::read_text(identity.space_text, identity.space_path);
  if (!space) return needs_space(path, space.error().message);
  const auto pricer = DesignPricer::open(*space);
  if (!pricer) return needs_space(path, pricer.error().message);
  return content_of(**pricer);
}

Expected<StoreContent> agreed(const StoreIdentity& identity, StoreContent given, const std::string& path) {
  const bool same_version = identity.version.empty() || identity.version == given.version;
  const bool same_text = identity.space_text.empty() || identity.space_text == given.space.text;
  const bool same = identity.fingerprint.empty() || !same_version || identity.fingerprint == given.fingerprint;
  if (!same_text || !same)
    return Error{.message = fmt::format("the store is not of {}", given.space.path),
                 .place = path,
                 .advice = "give the space that it was filled with, as it was then, or none"};
  if (!same_version) {  // fingerprints of two versions differ
    given.version = identity.version;
    if (!identity.fingerprint.empty()) given.fingerprint = identity.fingerprint;
  }
  return given;
}

std::vector<std::string> places_for(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  std::error_code ignored;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
  return {path, name, temporary / name};
}

// What the connection has, which no process fills any more.
Status copy_whole(Database& from, Database& to, const Space& space, const std::map<Design, Outcome>& pending) {
  MONET_RETURN_IF_ERROR(from.copy_to(to));
  MONET_RETURN_IF_ERROR(to.execute("DELETE FROM claims; DELETE FROM owners"));
  return write_rows(to, space, pending);
}

// Of the file that was filled: another store that was written over it has nothing of it.
Salvaged salvaged_from(const std::string& path, const StoreContent& content) {
  auto pages = PageReader::open(path);
  if (!pages) return {};
  const std::string fingerprint = salvage_identity(*pages).fingerprint;
  if (!fingerprint.empty() && fingerprint != content.fingerprint) pages->journal_alone();
  return salvage_outcomes(*pages, content.space);
}

}  // namespace

std::string name_for_rescued(const std::string& path) {
  constexpr std::string_view extension = ".sqlite";
  const std::string stem = path.ends_with(extension) ? path.substr(0, path.size() - extension.size()) : path;
  const auto is_taken = [](const std::string& name) {
    return access(name.c_str(), F_OK) == 0 || access((name + "-wal").c_str(), F_OK) == 0;
  };
  std::string name = stem + ".rescued.sqlite";
  for (int i = 2; is_taken(name); ++i) name = fmt::format("{}.rescued-{}.sqlite", stem, i);
  return name;
}

Expected<RescuedStore> rescue(const std::string& damaged, const std::optional<StoreContent>& given,
                              const std::string& target) {
  MONET_TRY(PageReader pages, PageReader::open(damaged));
  const StoreIdentity identity = salvage_identity(pages);
  MONET_TRY(const StoreContent content, given ? agreed(identity, *given, damaged) : content_in(identity, damaged));
  const Salvaged salvaged = salvage_outcomes(pages, content.space);
  if (salvaged.outcomes.empty())
    return Error{.message = "no design can be read any more",
                 .place = damaged,
                 .advice = given ? "is this the store, and the space that it was filled with? Else begin a new store"
                                 : "begin a new store with --store"};
  MONET_TRY(const std::string path,
            new_store(target.empty() ? name_for_rescued(damaged) : target, content, salvaged.outcomes));
  return RescuedStore{path, salvaged.outcomes.size(), salvaged.broken};
}

Expected<RescuedStore> rescue_open(Database& database, bool whole, const StoreContent& content,
                                   std::span<const Outcome> pending) {
  Salvaged found = whole ? Salvaged{} : salvaged_from(database.path(), content);
  for (const Outcome& outcome : pending) found.outcomes.emplace(outcome.design, outcome);
  if (!whole && found.outcomes.empty())
    return Error{.message = "no design can be read any more", .place = database.path(), .advice = ""};
  Error last;
  for (const std::string& place : places_for(database.path())) {
    const std::string target = name_for_rescued(place);
    bool exists = false;
    std::uint64_t designs = 0;
    const Status made = make_file(target, exists, [&](Database& made_here) -> Status {
      if (whole) {
        MONET_RETURN_IF_ERROR(copy_whole(database, made_here, content.space, found.outcomes));
      } else {
        MONET_RETURN_IF_ERROR(make_tables(made_here, content));
        MONET_RETURN_IF_ERROR(write_rows(made_here, content.space, found.outcomes));
      }
      MONET_TRY(const std::int64_t count, made_here.integer("SELECT count(*) FROM designs"));
      designs = static_cast<std::uint64_t>(count);
      return Done{};
    });
    if (made && !exists) return RescuedStore{target, designs, found.broken};
    last = made ? Error{.message = "there is such a file already", .place = target, .advice = ""} : made.error();
  }
  return last;
}

}  // namespace monet::explore
