#include "base/csv_records.h"
#include "base/try.h"
#include "validate/dacapo.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

namespace monet {

namespace {

constexpr const char* times_file = "dacapo_exec_time_tables.csv";
constexpr const char* products_file = "dacapo_gemm_dims.csv";
constexpr const char* give_the_tables =
    "they are made from the tables of casys-kaist/DaCapo: give the folder that has both with --data, or set "
    "MONET_SHARED to the folder that has them in reference/hardware";

bool has_tables(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / times_file, ignored) &&
         std::filesystem::exists(folder / products_file, ignored);
}

// Names in the table of products, where they are not those of the table of times.
std::string products_name(const std::string& network) {
  if (network == "vit_b_16") return "vitb16";
  if (network == "vit_b_32") return "vitb32";
  return network.ends_with("_2") ? network.substr(0, network.size() - 2) : network;
}

using ProductsByCase = std::map<std::string, std::vector<Product>>;

constexpr std::int64_t largest_size = std::int64_t{1} << 40;

Expected<std::int64_t> size_in(const CsvRecord& record, const char* column) {
  MONET_TRY(const std::int64_t size, record.integer(column));
  if (size < 1 || size > largest_size)
    return record.error(fmt::format("{} is out of range in column '{}'", size, column));
  return size;
}

Expected<ProductsByCase> read_products(const std::string& path) {
  MONET_TRY(const std::vector<CsvRecord> records, read_csv(path, give_the_tables));
  ProductsByCase products;
  for (const CsvRecord& record : records) {
    MONET_TRY(const std::string name, record.text("model_phase_batch"));
    Product product;
    MONET_TRY(product.rows, size_in(record, "m"));
    MONET_TRY(product.depth, size_in(record, "k"));
    MONET_TRY(product.columns, size_in(record, "n"));
    products[name].push_back(product);
  }
  return products;
}

Expected<DaCapoTime> time_of(const CsvRecord& record, const ProductsByCase& products) {
  DaCapoTime time;
  MONET_TRY(time.network, record.text("model"));
  MONET_TRY(time.phase, record.text("phase"));
  MONET_TRY(time.batch, record.integer("batch"));
  MONET_TRY(time.rows, record.integer("rows"));
  MONET_TRY(time.seconds, record.number("exec_time_s_published"));
  MONET_TRY(const std::int64_t mantissa, record.integer("mx_mantissa_bits"));
  static const std::map<std::int64_t, std::string> precisions = {{7, "mx9"}, {4, "mx6"}, {2, "mx4"}};
  const auto precision = precisions.find(mantissa);
  if (precision == precisions.end()) return record.error(fmt::format("no format has {} bits of mantissa", mantissa));
  time.precision = precision->second;
  if (!(time.seconds > 0 && std::isfinite(time.seconds))) return record.error("the time is not above 0");
  const std::string name = fmt::format("{}_{}_b{}", products_name(time.network), time.phase, time.batch);
  const auto found = products.find(name);
  if (found == products.end()) return record.error(fmt::format("{} has no products '{}'", products_file, name));
  time.products = found->second;
  return time;
}

}  // namespace

Expected<std::string> dacapo_tables_folder(const std::string& data, const std::string& own) {
  std::vector<std::filesystem::path> places;
  if (!data.empty()) places.emplace_back(data);
  const char* shared = std::getenv("MONET_SHARED");
  places.push_back(shared != nullptr ? shared : std::filesystem::path(own).parent_path().parent_path() / "shared");
  for (const std::filesystem::path& place : places) {
    for (const std::filesystem::path& folder : {place, place / "reference" / "hardware"}) {
      if (has_tables(folder)) return folder.string();
    }
  }
  return Error{.message = fmt::format("the tables of DaCapo's simulator are not here: {} and {} are needed", times_file,
                                      products_file),
               .place = places.front().string(),
               .advice = give_the_tables};
}

Expected<std::vector<DaCapoTime>> read_dacapo_tables(const std::string& folder) {
  MONET_TRY(const ProductsByCase products, read_products(fmt::format("{}/{}", folder, products_file)));
  MONET_TRY(const std::vector<CsvRecord> records, read_csv(fmt::format("{}/{}", folder, times_file), give_the_tables));
  std::vector<DaCapoTime> times;
  for (const CsvRecord& record : records) {
    MONET_TRY(DaCapoTime time, time_of(record, products));
    times.push_back(std::move(time));
  }
  return times;
}

}  // namespace monet
