#include "remat/repair.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet::remat {

namespace {

// Four sums side by side: the inner loop of the search.
double excess_with(double change, const double* surplus, Row rows) {
  double sums[4] = {0, 0, 0, 0};
  Row row = 0;
  for (; row + 4 <= rows; row += 4)
    for (Row i = 0; i < 4; ++i) sums[i] += std::max(0.0, surplus[row + i] + change);
  for (; row < rows; ++row) sums[0] += std::max(0.0, surplus[row] + change);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace

Repair::Repair(const Problem& problem, std::int64_t budget, const Moves& moves)
    : problem_(problem), budget_(budget), moves_(moves), has_storage_(problem.size(), 0) {
  moves_.page = moves.page && problem.channel.has_value();
}

bool Repair::run(Sequence& sequence, Profile& profile, const Prices& prices, SeededRandom& random, double noise,
                 const Stop& stop) {
  prices_ = &prices;
  random_ = &random;
  noise_ = noise;
  stop_ = &stop;
  std::fill(has_storage_.begin(), has_storage_.end(), 0);
  for (const Run run : sequence)
    if (run.paged()) has_storage_[run.node()] = 1;
  // Every drop removes excess, but the end should be near too.
  const std::size_t most_runs = sequence.size() + 20 * problem_.size() + 100;
  constexpr std::size_t many_rows = 200;
  while (true) {
    profile.evaluate(sequence);
    if (profile.peak() <= budget_) return true;
    if (sequence.size() > most_runs || stop()) return false;
    sum_excess(profile);
    list_over(profile);
    chosen_.clear();
    if (!(over_.size() > many_rows ? find_drops(sequence, profile) : find_drop(sequence, profile))) return false;
    insert(sequence);
  }
}

void Repair::insert(Sequence& sequence) {
  for (const Choice& choice : chosen_)
    if (choice.chain.front().paged()) has_storage_[choice.chain.front().node()] = 1;
  if (chosen_.size() == 1) {
    const Choice& choice = chosen_.front();
    sequence.insert(sequence.begin() + choice.before, choice.chain.begin(), choice.chain.end());
    return;
  }
  std::ranges::sort(chosen_, {}, &Choice::before);
  inserted_.clear();
  Row next = 0;
  for (const Choice& choice : chosen_) {
    inserted_.insert(inserted_.end(), sequence.begin() + next, sequence.begin() + choice.before);
    inserted_.insert(inserted_.end(), choice.chain.begin(), choice.chain.end());
    next = choice.before;
  }
  inserted_.insert(inserted_.end(), sequence.begin() + next, sequence.end());
  sequence.swap(inserted_);
}

void Repair::list_over(const Profile& profile) {
  over_.clear();
  for (Row row = 0; row < profile.rows(); ++row)
    if (profile.bytes(row) > budget_) over_.push_back(row);
}

void Repair::sum_excess(const Profile& profile) {
  over_before_.resize(static_cast<std::size_t>(profile.rows()) + 1);
  excess_before_.resize(over_before_.size());
  surplus_.resize(over_before_.size());
  over_before_[0] = 0;
  excess_before_[0] = 0;
  for (Row row = 0; row < profile.rows(); ++row) {
    over_before_[row + 1] = over_before_[row] + (profile.bytes(row) > budget_ ? 1 : 0);
    excess_before_[row + 1] = excess_before_[row] + excess(profile.bytes(row));
    surplus_[row] = static_cast<double>(profile.bytes(row) - budget_);
  }
}

// At the fullest row, or at any that has too much.
bool Repair::find_drop(const Sequence& sequence, const Profile& profile) {
  bool found = random_->unit() < 0.5 && drop_at(profile.peak_row(), sequence, profile);
  while (!found && !over_.empty() && !(*stop_)()) {
    const std::size_t at = random_->below(over_.size());
    found = drop_at(over_[at], sequence, profile);
    over_[at] = over_.back();
    over_.pop_back();
  }
  if (found) chosen_.push_back(best_);
  return found;
}

// Several that have no row in common, so that each removes what it would alone.
bool Repair::find_drops(const Sequence& sequence, const Profile& profile) {
  std::size_t in_vain = 0;
  while (!over_.empty() && in_vain <= chosen_.size() / 2 && !(*stop_)()) {
    const std::size_t at = random_->below(over_.size());
    const Row row = over_[at];
    over_[at] = over_.back();
    over_.pop_back();
    const auto meets = [&](Row from, Row to) {
      return std::ranges::any_of(chosen_, [&](const Choice& other) { return from < other.before && other.from < to; });
    };
    if (meets(row - 1, row + 1) || !drop_at(row, sequence, profile)) continue;
    if (meets(best_.from, best_.before))
      ++in_vain;
    else
      chosen_.push_back(best_);
  }
  return !chosen_.empty();
}

bool Repair::drop_at(Row row, const Sequence& sequence, const Profile& profile) {
  best_.score = 0;
  best_.before = -1;
  gaps_.clear();
  for (Row run = 0; run < row; ++run) {
    if (profile.end(run) <= row || problem_.nodes[sequence[run].node()].bytes == 0) continue;
    const Row last_use = profile.last_use_before(run, row + 1);
    if (last_use == row) continue;
    gaps_.push_back(gap_of(run, row, last_use, sequence, profile));
  }
  std::ranges::sort(gaps_, [](const Gap& a, const Gap& b) { return a.limit > b.limit; });
  for (const Gap& gap : gaps_) {
    if (gap.limit <= best_.score) break;
    consider(gap, sequence, profile);
  }
  return best_.before >= 0;
}

Repair::Gap Repair::gap_of(Row run, Row row, Row last_use, const Sequence& sequence, const Profile& profile) const {
  Gap gap{.node = sequence[run].node(), .last_use = last_use, .next_use = profile.next_use(run, row)};
  gap.first = profile.first(run);
  gap.moves = last_use == run && (!gap.first || moves_.reorder);
  gap.refund = gap.moves ? prices_->of(sequence[run]) : 0;
  gap.factor = noise_ > 0 ? std::exp(noise_ * (2 * random_->unit() - 1)) : 1;
  const Row rows = over_before_[gap.next_use] - over_before_[gap.last_use + 1];
  gap.most = std::min(excess_before_[gap.next_use] - excess_before_[gap.last_use + 1],
                      static_cast<double>(rows) * static_cast<double>(problem_.nodes[gap.node].bytes));
  gap.limit = least_score(gap);
  return gap;
}

bool Repair::may_recompute(const Gap& gap) const {
  return gap.moves || (moves_.recompute && problem_.nodes[gap.node].recomputable);
}

double Repair::least_score(const Gap& gap) const {
  double price = std::numeric_limits<double>::infinity();
  if (moves_.page) price = page_price(gap);
  if (may_recompute(gap)) price = std::min(price, prices_->compute[gap.node] - gap.refund);
  return score(gap, gap.most, price);
}

// A first run stays where it is when it is paged in later.
double Repair::page_price(const Gap& gap) const {
  return prices_->page_in[gap.node] + (has_storage_[gap.node] != 0 ? 0 : prices_->page_out[gap.node]) -
         (gap.first ? 0 : gap.refund);
}

double Repair::chain_price(const Gap& gap) const {
  double price = -gap.refund;
  for (const NodeIndex member : chain_) price += prices_->compute[member];
  return price;
}

double Repair::score(const Gap& gap, double removed, double price) const {
  return gap.factor * removed / std::max(price, prices_->least);
}

void Repair::consider(const Gap& gap, const Sequence& sequence, const Profile& profile) {
  chain_.assign(1, gap.node);
  if (moves_.page) {
    kept_.clear();
    offer(gap, page_price(gap), true, sequence, profile);
  }
  if (!may_recompute(gap)) return;
  for (int depth = 0; depth <= moves_.chain_depth && chain_.size() <= moves_.chain_runs; ++depth) {
    const double price = chain_price(gap);
    if (score(gap, gap.most, price) <= best_.score) break;
    find_kept(gap, profile);
    offer(gap, price, false, sequence, profile);
    if (!moves_.recompute || !lengthen_chain()) break;
  }
}

void Repair::find_kept(const Gap& gap, const Profile& profile) {
  kept_.clear();
  needed_.resize(chain_.size());
  for (std::size_t member = 0; member < chain_.size(); ++member) {
    needed_[member] = member;
    const auto earlier = std::span(chain_).first(member);
    for (const NodeIndex operand : problem_.operands.of(chain_[member])) {
      const auto inside = std::ranges::lower_bound(earlier, operand);
      if (inside != earlier.end() && *inside == operand) {
        needed_[static_cast<std::size_t>(inside - earlier.begin())] = member;
        continue;
      }
      const Row end = profile.end(profile.latest(operand, gap.next_use));
      if (end >= gap.next_use) continue;
      const auto found = std::ranges::find(kept_, operand, &Kept::node);
      if (found == kept_.end())
        kept_.push_back({operand, end, problem_.nodes[operand].bytes, member});
      else
        found->needed = member;
    }
  }
}

bool Repair::lengthen_chain() {
  const std::size_t members = chain_.size();
  for (const Kept& kept : kept_)
    if (problem_.nodes[kept.node].recomputable) chain_.push_back(kept.node);
  std::ranges::sort(chain_);
  return chain_.size() > members;
}

void Repair::offer(const Gap& gap, double price, bool paged, const Sequence& sequence, const Profile& profile) {
  const double gain = removed(gap, sequence, profile);
  if (gain <= 0) return;
  const double found = score(gap, gain, price);
  if (found <= best_.score) return;
  best_.score = found;
  best_.before = gap.next_use;
  best_.from = gap.last_use;
  for (const Kept& kept : kept_) best_.from = std::min(best_.from, kept.end);
  best_.chain.clear();
  for (const NodeIndex member : chain_) best_.chain.emplace_back(member, paged);
}

// Excess that is gone with the chain in place.
double Repair::removed(const Gap& gap, const Sequence& sequence, const Profile& profile) {
  std::ranges::sort(kept_, {}, &Kept::end);
  const std::int64_t dropped = problem_.nodes[gap.node].bytes;
  double change = 0, gain = 0;
  Row row = kept_.empty() ? gap.last_use + 1 : std::min(kept_.front().end, gap.last_use) + 1;
  const auto count_to = [&](Row last) {
    if (last < row) return;
    if (change != 0)
      gain +=
          excess_before_[last + 1] - excess_before_[row] - excess_with(change, surplus_.data() + row, last + 1 - row);
    row = last + 1;
  };
  std::size_t next = 0;
  for (; next < kept_.size() && kept_[next].end < gap.last_use; ++next) {
    count_to(kept_[next].end);
    change += static_cast<double>(kept_[next].bytes);
  }
  count_to(gap.last_use);
  change -= static_cast<double>(dropped);
  for (; next < kept_.size(); ++next) {
    count_to(kept_[next].end);
    change += static_cast<double>(kept_[next].bytes);
  }
  count_to(gap.next_use - 1);
  return gain -
         added_in_chain(profile.bytes(gap.next_use) - problem_.nodes[sequence[gap.next_use].node()].bytes - dropped);
}

// Excess of the chain's own rows. `live`: what else is live there.
double Repair::added_in_chain(std::int64_t live) const {
  for (const Kept& kept : kept_) live += kept.bytes;
  double added = 0;
  for (std::size_t member = 0; member < chain_.size(); ++member) {
    live += problem_.nodes[chain_[member]].bytes;
    added += excess(live);
    for (const Kept& kept : kept_)
      if (kept.needed == member) live -= kept.bytes;
    for (std::size_t other = 0; other < member; ++other)
      if (needed_[other] == member) live -= problem_.nodes[chain_[other]].bytes;
  }
  return added;
}

}  // namespace monet::remat
