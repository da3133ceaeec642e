#include "explore/store/store.h"

#include "base/try.h"
#include "explore/store/database.h"
#include "explore/store/owners.h"
#include "explore/store/rows.h"
#include "explore/store/schema.h"

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

StoreSubject subject_of(const DesignPricer& pricer) {
  StoreSubject subject{.space = pricer.space(), .fingerprint = pricer.fingerprint()};
  for (std::size_t i = 0; i < subject.space.workloads.size(); ++i) {
    const Subject& network = pricer.subjects()[i];
    subject.workloads.push_back({subject.space.workloads[i].name, pricer.graph_hashes()[i],
                                 static_cast<std::int64_t>(network.graph.nodes().size()), network.parameters});
  }
  return subject;
}

struct Store::Impl {
  Database database;
  Space space;
  std::vector<StoredWorkload> workloads;
  std::string version;
  std::optional<OutcomeRows> rows;
  std::int64_t owner = 0;  // 0: it is not filled
  std::vector<Outcome> pending;
  Clock::time_point written = Clock::now();

  ~Impl() {
    if (owner == 0) return;
    (void)write_pending();
    if (auto transaction = Transaction::begin(database, true); transaction) {
      if (remove_owner(database, owner)) (void)transaction->commit();
    }
  }

  // Within a transaction.
  Status write_rows() {
    MONET_TRY(Statement unclaim, database.prepare("DELETE FROM claims WHERE design = ?"));
    for (const Outcome& outcome : pending) {
      MONET_CHECK(rows->write(outcome));
      MONET_CHECK(unclaim.bind(static_cast<std::int64_t>(outcome.design)).run());
    }
    return beat(database, owner);
  }

  Status write_pending() {
    if (pending.empty()) return Done{};
    MONET_TRY(Transaction transaction, Transaction::begin(database, true));
    MONET_CHECK(write_rows());
    MONET_CHECK(transaction.commit());
    pending.clear();
    written = Clock::now();
    return Done{};
  }

  Status enter() {
    MONET_TRY(rows, OutcomeRows::open(database, space));
    MONET_TRY(Transaction transaction, Transaction::begin(database, true));
    MONET_TRY(const std::int64_t number, enter_owner(database));
    MONET_CHECK(transaction.commit());
    owner = number;
    return Done{};
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Expected<Store> Store::open_to_fill(const std::string& path, const StoreSubject& subject, bool create) {
  bool exists = false;
  MONET_CHECK(make_store_file(path, subject, exists));
  if (exists && create)
    return Error{.message = "there is such a file already",
                 .place = path,
                 .advice = "go on with what it has by --resume, or name another one with --store"};
  MONET_TRY(Database database, Database::open(path, Database::Mode::write));
  MONET_TRY(StoreIdentity identity, read_identity(database));
  MONET_CHECK(check_same(identity, subject, path));
  MONET_CHECK(database.execute("PRAGMA synchronous = FULL"));
  std::unique_ptr<Impl> impl(
      new Impl{std::move(database), subject.space, std::move(identity.workloads), std::move(identity.version)});
  MONET_CHECK(impl->enter());
  return Store(std::move(impl));
}

Expected<Store> Store::open_to_fill(const std::string& path, const DesignPricer& pricer, bool create) {
  return open_to_fill(path, subject_of(pricer), create);
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
  std::unique_ptr<Impl> impl(
      new Impl{std::move(database), *std::move(space), std::move(identity.workloads), std::move(identity.version)});
  MONET_TRY(impl->rows, OutcomeRows::open(impl->database, impl->space));
  return Store(std::move(impl));
}

Expected<Store> Store::scratch(const StoreSubject& subject) {
  MONET_TRY(Database database, Database::open(":memory:", Database::Mode::make));
  MONET_CHECK(make_tables(database, subject));
  MONET_TRY(StoreIdentity identity, read_identity(database));
  std::unique_ptr<Impl> impl(
      new Impl{std::move(database), subject.space, std::move(identity.workloads), std::move(identity.version)});
  MONET_CHECK(impl->enter());
  return Store(std::move(impl));
}

Expected<Store> Store::scratch(const DesignPricer& pricer) { return scratch(subject_of(pricer)); }

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
  MONET_TRY(Transaction transaction, Transaction::begin(database, true));
  MONET_CHECK(impl_->write_rows());
  MONET_TRY(const auto dead, dead_owners(database, impl_->owner));
  for (const std::int64_t owner : dead) MONET_CHECK(remove_owner(database, owner));
  MONET_CHECK(beat(database, impl_->owner));
  MONET_CHECK(database.execute("DELETE FROM claims WHERE owner NOT IN (SELECT owner FROM owners)"));
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
    MONET_CHECK(enter.bind(number).bind(impl_->owner).run());
    MONET_TRY(const bool ours, mine.bind(number).bind(impl_->owner).step());
    if (ours) {
      mine.reset();
      claimed.push_back(design);
    }
  }
  MONET_CHECK(transaction.commit());
  impl_->pending.clear();
  impl_->written = Clock::now();
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

std::uint64_t Store::size() {
  (void)impl_->write_pending();
  const auto count = impl_->database.integer("SELECT count(*) FROM designs");
  return count ? static_cast<std::uint64_t>(*count) : 0;
}

Status Store::for_each(const std::function<Status(const Outcome&)>& look) {
  MONET_CHECK(impl_->write_pending());
  return impl_->rows->for_each(look);
}

}  // namespace monet::explore
