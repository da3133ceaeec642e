// Whatever the text, reading it as a recipe ends with a recipe or an error with a place; a step can then be made in it.
#include "graph/builder.h"
#include "graph/verify.h"
#include "training/recipe.h"
#include "training/step.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace monet;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

Graph small_network() {
  GraphBuilder builder("small");
  TensorId x = builder.input("x", {4, 6});
  const Attributes plain = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  x = builder.add(Op::MatMul, "one", {x, builder.parameter("w1", {6, 5})}, plain);
  x = builder.add(Op::Relu, "relu", {x});
  builder.output(builder.add(Op::MatMul, "two", {x, builder.parameter("w2", {5, 3})}, plain));
  return *builder.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find(".y") != std::string::npos) return 0;  // other files are none of its business
  const auto recipe = training::parse_recipe(text, "fuzz.yaml");
  if (!recipe && recipe.error().kind == ErrorKind::defect) fail(recipe.error().text());
  if (!recipe && recipe.error().place.empty()) fail("an error without a place: " + recipe.error().text());
  if (!recipe) return 0;
  const auto step = training::make_training_step(
      {small_network(), false, {}, {}}, {.loss = {.kind = training::LossKind::mean_squared_error}, .recipe = *recipe});
  if (!step) fail(step.error().text());
  if (const Status status = verify(step->graph); !status) fail(status.error().text());
  return 0;
}
