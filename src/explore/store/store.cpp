#include "explore/store/store.h"

#include "base/try.h"
#include "explore/store/database.h"
#include "explore/store/owners.h"
#include "explore/store/presence.h"
#include "explore/store/rescue.h"
#include "explore/store/rows.h"
#include "explore/store/schema.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <unordered_set>
#include <utility>

namespace monet::explore {

namespace {

using Clock = std::chrono::steady_clock;

// Outcomes are written together, since each time waits for the disk.
constexpr std::size_t together = 64;
constexpr std::chrono::milliseconds longest_wait{50};

}  // namespace

StoreContent content_of(const DesignPricer& pricer) {
  StoreContent content{.space = pricer.space(), .fingerprint = pricer.fingerprint()};
  for (std::size_t i = 0; i < content.space.workloads.size(); ++i) {
    const OpenedStep& network = pricer.opened_steps()[i];
    content.workloads.push_back({content.space.workloads[i].name, pricer.graph_hashes()[i],
                                 static_cast<std::int64_t>(network.graph.nodes().size()), network.parameters});
  }
  return content;
}

struct Store::Impl {
  Database database;
  Space space;
  std::vector<StoredWorkload> workloads;
  std::string version, fingerprint;
  std::optional<OutcomeRows> rows;
  std::int64_t owner = 0;  // 0: it is not filled
  std::vector<Outcome> pending;
  Clock::time_point written = Clock::now();
  std::optional<Presence> presence;  // of a file that is filled
  Loss loss = Loss::none;
  std::uint64_t saved = 0;  // designs that were there, and those that this process wrote

  ~Impl() {
    if (owner == 0) return;
    if (!check_there()) return;
    (void)write_pending();
    if (auto transaction = Transaction::begin(database, true); transaction) {
      if (remove_owner(database, owner)) (void)transaction->commit();
    }
  }

  Error lost(const std::string& what) const {
    return {
        .message = fmt::format("the store {} while it was being filled, after {} designs had been saved", what, saved),
        .place = database.path(),
        .advice = "keep it where it is until the exploration has ended"};
  }

  // At a glance.
  Status check_there() {
    if (presence && loss == Loss::none) loss = presence->look(database);
    if (loss == Loss::none) return Done{};
    database.let_go();
    return lost(what_happened(loss));
  }

  // All that the file has, as another process would see it: this one may still see what it remembers.
  Status check_content() const {
    MONET_TRY(Database other, Database::open(database.path(), Database::Mode::read));
    MONET_TRY(const StoreIdentity identity, read_identity(other));
    if (identity.fingerprint != fingerprint) return other.damaged("it is another store");
    MONET_TRY(const std::int64_t designs, other.integer("SELECT count(*) FROM designs"));
    if (static_cast<std::uint64_t>(designs) < saved) return other.damaged(fmt::format("it has {} designs", designs));
    return Done{};
  }

  Error rescued(const std::string& what) {
    database.let_go();
    Error error = lost(what);
    const auto rescued = rescue_open(database, is_whole(loss), {space, fingerprint, workloads, version}, pending);
    if (!rescued) {
      error.advice = fmt::format("nothing could be saved: {}", rescued.error().text());
      return error;
    }
    pending.clear();
    presence->remove_journal();
    error.advice = fmt::format("{} designs are now in {}: go on with --store {} --resume", rescued->designs,
                               rescued->path, rescued->path);
    return error;
  }

  // Within a transaction; how many were new.
  Expected<std::uint64_t> write_rows() {
    MONET_TRY(Statement unclaim, database.prepare("DELETE FROM claims WHERE design = ?"));
    std::uint64_t fresh = 0;
    for (const Outcome& outcome : pending) {
      MONET_TRY(const bool is_new, rows->write(outcome));
      fresh += is_new ? 1 : 0;
      MONET_RETURN_IF_ERROR(unclaim.bind(static_cast<std::int64_t>(outcome.design)).run());
    }
    MONET_RETURN_IF_ERROR(beat(database, owner));
    return fresh;
  }

  void have_written(std::uint64_t fresh) {
    saved += fresh;
    pending.clear();
    written = Clock::now();
  }

  Status write_pending() {
    if (pending.empty()) return Done{};
    MONET_RETURN_IF_ERROR(check_there());
    MONET_TRY(Transaction transaction, Transaction::begin(database, true));
    MONET_TRY(const std::uint64_t fresh, write_rows());
    MONET_RETURN_IF_ERROR(transaction.commit());
    have_written(fresh);
    return Done{};
  }

  Status enter() {
    MONET_TRY(rows, OutcomeRows::open(database, space));
    MONET_TRY(Transaction transaction, Transaction::begin(database, true));
    MONET_TRY(const std::int64_t number, enter_owner(database));
    MONET_RETURN_IF_ERROR(remove_dead_owners(database, number));
    MONET_TRY(const std::int64_t designs, database.integer("SELECT count(*) FROM designs"));
    MONET_RETURN_IF_ERROR(transaction.commit());
    saved = static_cast<std::uint64_t>(designs);
    owner = number;
    return Done{};
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Expected<Store> Store::open_to_fill(const std::string& path, const StoreContent& content, bool create) {
  bool exists = false;
  MONET_RETURN_IF_ERROR(make_store_file(path, content, exists));
  if (exists && create)
    return Error{.message = "there is such a file already",
                 .place = path,
                 .advice = "go on with what it has by --resume, or name another one with --store"};
  MONET_TRY(Database database, Database::open(path, Database::Mode::write));
  MONET_TRY(StoreIdentity identity, read_identity(database));
  MONET_RETURN_IF_ERROR(check_same(identity, content, path));
  MONET_RETURN_IF_ERROR(database.execute("PRAGMA synchronous = FULL"));
  std::unique_ptr<Impl> impl(new Impl{std::move(database), content.space, std::move(identity.workloads),
                                      std::move(identity.version), std::move(identity.fingerprint)});
  impl->presence = Presence::of(impl->database);
  MONET_RETURN_IF_ERROR(impl->enter());
  return Store(std::move(impl));
}

Expected<Store> Store::open_to_fill(const std::string& path, const DesignPricer& pricer, bool create) {
  return open_to_fill(path, content_of(pricer), create);
}

Expected<Store> Store::open_to_read(const std::string& path) {
  if (std::error_code error; !std::filesystem::exists(path, error)) {
    return Error{.message = "there is no such store",
                 .place = path,
                 .advice = "check the path; `monet explore SPACE --store FILE` makes one"};
  }
  MONET_TRY(Database database, Database::open(path, Database::Mode::read));
  MONET_TRY(StoreIdentity identity, read_identity(database));
  auto space = Space::read_alone(identity.space_text, identity.space_path);
  if (!space) {
    Error error = std::move(space).error();
    error.message = "the space in the store cannot be read: " + error.message;
    if (!error.place.empty()) error.message = error.place + ": " + error.message;
    error.place = path;
    return error;
  }
  if (space->workloads.size() != identity.workloads.size())
    return database.damaged("its workloads are not those of its space");
  std::unique_ptr<Impl> impl(new Impl{std::move(database), *std::move(space), std::move(identity.workloads),
                                      std::move(identity.version), std::move(identity.fingerprint)});
  MONET_TRY(impl->rows, OutcomeRows::open(impl->database, impl->space));
  return Store(std::move(impl));
}

Expected<Store> Store::scratch(const StoreContent& content) {
  MONET_TRY(Database database, Database::open(":memory:", Database::Mode::make));
  MONET_RETURN_IF_ERROR(make_tables(database, content));
  MONET_TRY(StoreIdentity identity, read_identity(database));
  std::unique_ptr<Impl> impl(new Impl{std::move(database), content.space, std::move(identity.workloads),
                                      std::move(identity.version), std::move(identity.fingerprint)});
  MONET_RETURN_IF_ERROR(impl->enter());
  return Store(std::move(impl));
}

Expected<Store> Store::scratch(const DesignPricer& pricer) { return scratch(content_of(pricer)); }

const Space& Store::space() const { return impl_->space; }
const std::vector<StoredWorkload>& Store::workloads() const { return impl_->workloads; }
const std::string& Store::version() const { return impl_->version; }

Expected<std::optional<Outcome>> Store::find(Design design) {
  for (const Outcome& outcome : impl_->pending) {
    if (outcome.design == design) return std::optional(outcome);
  }
  return impl_->rows->find(design);
}

Expected<std::vector<Design>> Store::claim(std::span<const Design> designs, std::size_t least) {
  Database& database = impl_->database;
  MONET_RETURN_IF_ERROR(impl_->check_there());
  MONET_TRY(Transaction transaction, Transaction::begin(database, true));
  MONET_TRY(const std::uint64_t fresh, impl_->write_rows());
  MONET_RETURN_IF_ERROR(remove_dead_owners(database, impl_->owner));
  MONET_RETURN_IF_ERROR(beat(database, impl_->owner));
  MONET_TRY(const std::int64_t fillers, database.integer("SELECT count(*) FROM owners"));
  const auto processes = static_cast<std::size_t>(std::max<std::int64_t>(1, fillers));
  const std::size_t fair = (designs.size() + processes - 1) / processes;
  const std::size_t most = processes == 1 ? designs.size() : std::max(least, fair);
  MONET_TRY(Statement enter, database.prepare("INSERT OR IGNORE INTO claims VALUES (?, ?)"));
  MONET_TRY(Statement mine, database.prepare("SELECT 1 FROM claims WHERE design = ? AND owner = ?"));
  std::vector<Design> claimed;
  std::unordered_set<Design> asked;
  for (const Design design : designs) {
    if (claimed.size() >= most) break;
    if (!asked.insert(design).second) continue;
    MONET_TRY(const bool here, impl_->rows->has(design));
    if (here) continue;
    const auto number = static_cast<std::int64_t>(design);
    MONET_RETURN_IF_ERROR(enter.bind(number).bind(impl_->owner).run());
    MONET_TRY(const bool ours, mine.bind(number).bind(impl_->owner).step());
    if (ours) {
      mine.reset();
      claimed.push_back(design);
    }
  }
  MONET_RETURN_IF_ERROR(transaction.commit());
  impl_->have_written(fresh);
  return claimed;
}

Expected<std::vector<Design>> Store::awaited(std::span<const Design> designs) {
  Database& database = impl_->database;
  MONET_TRY(const auto dead, dead_owners(database, impl_->owner));
  MONET_TRY(Statement owner, database.prepare("SELECT owner FROM claims WHERE design = ? AND owner != ? "
                                              "AND owner IN (SELECT owner FROM owners)"));
  std::vector<Design> awaited;
  for (const Design design : designs) {
    MONET_TRY(const bool claimed, owner.bind(static_cast<std::int64_t>(design)).bind(impl_->owner).step());
    if (!claimed) continue;
    if (!dead.contains(owner.integer(0))) awaited.push_back(design);
    owner.reset();
  }
  return awaited;
}

Status Store::put(const Outcome& outcome) {
  impl_->pending.push_back(outcome);
  const bool due = impl_->pending.size() >= together || Clock::now() - impl_->written >= longest_wait;
  return due ? impl_->write_pending() : Status(Done{});
}

Status Store::flush() { return impl_->write_pending(); }

Status Store::check_kept() {
  if (!impl_->presence) return Done{};
  if (!impl_->check_there()) return impl_->rescued(what_happened(impl_->loss));
  const Status content = impl_->check_content();
  if (content) return Done{};
  impl_->loss = Loss::overwritten;
  return impl_->rescued(fmt::format("was damaged ({})", content.error().message));
}

std::uint64_t Store::size() {
  (void)impl_->write_pending();
  const auto count = impl_->database.integer("SELECT count(*) FROM designs");
  return count ? static_cast<std::uint64_t>(*count) : 0;
}

Status Store::for_each(const std::function<Status(const Outcome&)>& look) {
  MONET_RETURN_IF_ERROR(impl_->write_pending());
  return impl_->rows->for_each(look);
}

}  // namespace monet::explore
