// DaCapo's simulator against the preset dacapo, whose cycle rule was written from that simulator: an emulation.
#include "validate/dacapo.h"

#include "base/try.h"
#include "evaluate/open/opened_step.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

namespace monet {

namespace {

// The preset with so many of its rows, opened once.
class Arrays {
 public:
  Expected<double> seconds(std::int64_t rows, const std::vector<Product>& products, const std::string& precision) {
    auto found = arrays_.find(rows);
    if (found == arrays_.end()) {
      MONET_TRY(RuledCore core, RuledCore::open("dacapo", {{"engine_rows", fmt::format("{}", rows)}}));
      found = arrays_.emplace(rows, std::move(core)).first;
    }
    double cycles = 0;
    for (const Product& product : products) {
      MONET_TRY(const double each, found->second.cycles(product, precision));
      cycles += each;
    }
    return cycles / found->second.clock_hz();
  }

 private:
  std::map<std::int64_t, RuledCore> arrays_;
};

std::string shown(const std::string& precision) { return "MX" + precision.substr(2); }

std::string case_of(const DaCapoTime& time) {
  return fmt::format("{}, {}, batch {}, {}, {} rows", time.network, time.trains() ? "training" : "inference",
                     time.batch, shown(time.precision), time.rows);
}

// The last third of a training step's products are those of weight gradients.
std::vector<Product> with_weight_gradients_turned(const DaCapoTime& time) {
  std::vector<Product> products = time.products;
  const auto first = products.begin() + static_cast<std::ptrdiff_t>(products.size() / 3 * 2);
  std::transform(first, products.end(), first, [](const Product& product) { return product.turned(); });
  return products;
}

struct Mean {
  double sum = 0, worst = 0;
  int rows = 0;

  void add(double error) {
    sum += std::abs(error);
    worst = std::max(worst, std::abs(error));
    ++rows;
  }
  std::string text() const { return fmt::format("mean {:.3f} %, worst {:.3f} %", rows == 0 ? 0 : sum / rows, worst); }
};

double percent_off(double modelled, double published) { return 100 * (modelled / published - 1); }

struct OwnGraph {
  const char* network;  // as the tables call it
  const char* model;
  // Names of the products that the tables have too; empty: all.
  std::vector<std::string> shared_with_tables;
  // With the gradient of the image, which training does not need and the tables have, and weight gradients turned.
  bool as_tables;
  const char* what;
};

const std::vector<OwnGraph>& own_graphs() {
  constexpr const char* plain = "our graph: no gradient of the image";
  constexpr const char* completed = "our graph, with the gradient of the image and weight gradients turned";
  static const std::vector<std::string> no_attention = {"conv_proj", ".mlp.", "heads.head"};
  static const std::vector<OwnGraph> graphs = {
      {"resnet18", "resnet18:classes=10", {}, false, plain},
      {"resnet18", "resnet18:classes=10", {}, true, completed},
      {"resnet34", "resnet34:classes=10", {}, false, plain},
      {"resnet34", "resnet34:classes=10", {}, true, completed},
      {"vit_b_32", "vit-b-32:classes=10", no_attention, true,
       "our graph without attention, which the tables leave out, with the gradient of the image"},
      {"vit_b_32", "vit-b-32:classes=10", {}, false, "our whole graph: attention too, no gradient of the image"},
  };
  return graphs;
}

Expected<std::vector<Product>> products_of_own(const OwnGraph& own, std::int64_t batch) {
  TrainOptions options;
  options.batch = batch;
  options.optimizer = "momentum";
  MONET_TRY(const NetworkGraph step, open_network_as_asked(own.model, options, true));
  std::vector<Product> products;
  for (const NodeProduct& product : products_of(step.graph)) {
    const auto named = [&](const std::string& part) { return product.node.find(part) != std::string::npos; };
    if (!own.shared_with_tables.empty() && std::ranges::none_of(own.shared_with_tables, named)) continue;
    const bool turned = own.as_tables && product.op == Op::ConvWeightGrad;
    products.push_back(turned ? product.sizes.turned() : product.sizes);
  }
  if (own.as_tables) {
    const Product first = products.front();
    products.push_back({.rows = first.rows, .depth = first.columns, .columns = first.depth});
  }
  return products;
}

constexpr std::int64_t own_batch = 16;  // DaCapo's own for training
constexpr std::int64_t all_rows = 16;

// Our own training graphs beside the published times: rows of the whole array, and the mean over all parts of it.
Status add_own_graphs(const std::vector<DaCapoTime>& times, Arrays& arrays, Validation& validation) {
  for (const OwnGraph& own : own_graphs()) {
    MONET_TRY(const std::vector<Product> products, products_of_own(own, own_batch));
    Mean mean;
    for (const DaCapoTime& time : times) {
      if (time.network != own.network || !time.trains() || time.batch != own_batch) continue;
      MONET_TRY(const double seconds, arrays.seconds(time.rows, products, time.precision));
      mean.add(percent_off(seconds, time.seconds));
      if (time.rows == all_rows) {
        validation.rows.push_back({case_of(time) + ", own graph", "s an iteration", time.seconds, seconds, own.what});
      }
    }
    if (mean.rows > 0) {
      validation.notes.push_back(fmt::format("{}, batch {}, {}, over 1 to 16 rows and three formats: {}", own.network,
                                             own_batch, own.what, mean.text()));
    }
  }
  return Done{};
}

}  // namespace

Expected<Validation> validate_dacapo(const std::string& folder, const ValidateOptions& options) {
  MONET_TRY(const std::vector<DaCapoTime> times, read_dacapo_tables(folder));
  Validation validation{
      .name = "dacapo", .rows = {}, .notes = {}, .label = "emulation of a simulator, not silicon", .brief = true};
  Arrays arrays;
  std::map<std::pair<std::string, std::int64_t>, std::pair<Mean, Mean>> turned;  // as stored, and turned
  for (const DaCapoTime& time : times) {
    if (options.stop && options.stop()) return validation;
    MONET_TRY(const double seconds, arrays.seconds(time.rows, time.products, time.precision));
    validation.rows.push_back({case_of(time),
                               fmt::format("{} {} {}, s", time.network, time.phase, shown(time.precision)),
                               time.seconds, seconds, ""});
    if (!time.trains() || !time.network.starts_with("resnet")) continue;
    MONET_TRY(const double other, arrays.seconds(time.rows, with_weight_gradients_turned(time), time.precision));
    auto& [as_stored, as_turned] = turned[{time.network, time.batch}];
    as_stored.add(percent_off(seconds, time.seconds));
    as_turned.add(percent_off(other, time.seconds));
  }
  validation.notes = {
      "the times are outputs of DaCapo's own simulator, and the rule in presets/dacapo.yaml was written from that "
      "simulator's queue logic and settled on these tables: agreement shows that the rule was carried over, not that a "
      "chip would be so fast",
      "each product by the cycle rule of the preset, its size as the authors' table of products has it",
  };
  for (const auto& [of, means] : turned) {
    validation.notes.push_back(
        fmt::format("{}, training, batch {}: {} with the products as stored; {} with those of weight gradients turned "
                    "(rows are output channels)",
                    of.first, of.second, means.first.text(), means.second.text()));
  }
  MONET_RETURN_IF_ERROR(add_own_graphs(times, arrays, validation));
  MONET_RETURN_IF_ERROR(keep_wanted(validation, options));
  constexpr std::size_t most_shown = 100;
  validation.brief = validation.rows.size() > most_shown;
  return validation;
}

}  // namespace monet
