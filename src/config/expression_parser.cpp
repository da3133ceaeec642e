#include "config/expression.h"

#include "base/suggest.h"
#include "base/try.h"
#include "config/expression_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet {

using namespace expression_code;

namespace {

constexpr std::size_t max_text = 10000;
constexpr int max_nesting = 64;

struct Function {
  std::string_view name;
  int code;
  int arguments;  // 0: one or more
};
constexpr std::array<Function, 9> functions = {{{"min", minimum, 0},
                                                {"max", maximum, 0},
                                                {"ceil", ceiling, 1},
                                                {"floor", floor_of, 1},
                                                {"round", round_of, 1},
                                                {"abs", absolute, 1},
                                                {"log2", logarithm, 1},
                                                {"sqrt", square_root, 1},
                                                {"if", choose, 3}}};
constexpr std::array<std::string_view, 3> operator_words = {"and", "or", "not"};
// Units that may follow a / after a quantity: 64 bit/cycle.
constexpr std::array<std::string_view, 5> divisor_units = {"cycle", "s", "bit", "B", "ms"};

const Function* function_named(std::string_view name) {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

bool is_word(std::string_view name) {
  return std::find(operator_words.begin(), operator_words.end(), name) != operator_words.end();
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_letter_or_digit(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

}  // namespace

// Recursive descent; every method leaves one value on the stack.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) { result_.text_ = std::string(text); }

  Expected<Expression> parse() {
    if (text_.size() > max_text) return fail("the expression is too long");
    MONET_RETURN_IF_ERROR(disjunction());
    skip_space();
    if (at_ < text_.size()) return fail(fmt::format("unexpected '{}'", text_.substr(at_, 1)));
    return std::move(result_);
  }

 private:
  struct Operator {
    std::string_view text;
    int code;
  };

  Error fail(std::string message, std::string advice = {}) const {
    return {.message = fmt::format("{} at column {} of the expression", message, at_ + 1), .advice = std::move(advice)};
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }

  // Takes `token` if it comes next; a word only as a whole.
  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    const std::size_t end = at_ + token.size();
    if (is_letter(token.front()) && end < text_.size() && is_letter_or_digit(text_[end])) return false;
    at_ = end;
    return true;
  }

  const Operator* take_one(std::span<const Operator> operators) {
    skip_space();
    for (const Operator& candidate : operators) {
      if (candidate.text == "*" && text_.substr(at_).starts_with("**")) continue;
      if (take(candidate.text)) return &candidate;
    }
    return nullptr;
  }

  Status emit(int code, double number = 0, int argument = 0, Dimension dimension = {}) {
    result_.program_.push_back({code, number, argument, dimension});
    if (code <= push_name) {
      ++stack_;
    } else if (code <= maximum) {
      --stack_;
    } else if (code == choose) {
      stack_ -= 2;
    }
    if (stack_ > static_cast<int>(max_stack)) return fail("the expression is too complex");
    return Done{};
  }

  // Operators of one precedence, from left to right.
  Status chain(std::span<const Operator> operators, Status (ExpressionParser::*operand)()) {
    MONET_RETURN_IF_ERROR((this->*operand)());
    while (const Operator* found = take_one(operators)) {
      MONET_RETURN_IF_ERROR((this->*operand)());
      MONET_RETURN_IF_ERROR(emit(found->code));
    }
    return Done{};
  }

  Status disjunction() {
    static constexpr std::array<Operator, 1> operators = {{{"or", either}}};
    return chain(operators, &ExpressionParser::conjunction);
  }
  Status conjunction() {
    static constexpr std::array<Operator, 1> operators = {{{"and", both}}};
    return chain(operators, &ExpressionParser::negation);
  }

  Status negation() {
    if (!take("not")) return comparison();
    MONET_RETURN_IF_ERROR(enter());
    MONET_RETURN_IF_ERROR(negation());
    --nesting_;
    return emit(invert);
  }

  Status comparison() {
    static constexpr std::array<Operator, 6> operators = {
        {{"==", equal}, {"!=", unequal}, {"<=", less_equal}, {">=", greater_equal}, {"<", less}, {">", greater}}};
    MONET_RETURN_IF_ERROR(sum());
    const Operator* found = take_one(operators);
    if (found == nullptr) return Done{};
    MONET_RETURN_IF_ERROR(sum());
    MONET_RETURN_IF_ERROR(emit(found->code));
    if (take_one(operators) != nullptr) return fail("a comparison of comparisons", "join two comparisons by `and`");
    return Done{};
  }

  Status sum() {
    static constexpr std::array<Operator, 2> operators = {{{"+", add}, {"-", subtract}}};
    return chain(operators, &ExpressionParser::product);
  }
  Status product() {
    static constexpr std::array<Operator, 3> operators = {{{"*", multiply}, {"/", divide}, {"%", remainder_of}}};
    return chain(operators, &ExpressionParser::sign);
  }

  Status sign() {
    if (!take("-")) return exponentiation();
    MONET_RETURN_IF_ERROR(enter());
    MONET_RETURN_IF_ERROR(sign());
    --nesting_;
    return emit(negate);
  }

  Status exponentiation() {
    MONET_RETURN_IF_ERROR(primary());
    if (!take("**")) return Done{};
    MONET_RETURN_IF_ERROR(enter());
    MONET_RETURN_IF_ERROR(sign());
    --nesting_;
    return emit(power);
  }

  Status enter() {
    if (++nesting_ > max_nesting) return fail(fmt::format("nesting deeper than {}", max_nesting));
    return Done{};
  }

  Status primary() {
    skip_space();
    if (at_ >= text_.size()) return fail("a value is missing");
    if (take("(")) {
      MONET_RETURN_IF_ERROR(enter());
      MONET_RETURN_IF_ERROR(disjunction());
      --nesting_;
      return close();
    }
    if (is_letter(text_[at_])) return name_or_call();
    if (text_[at_] != '+' && number_length(text_.substr(at_)) > 0) return quantity();
    return fail(fmt::format("unexpected '{}'", text_.substr(at_, 1)));
  }

  Status close() {
    if (!take(")")) return fail("')' is missing");
    return Done{};
  }

  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_letter_or_digit(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Status quantity() {
    const std::size_t length = number_length(text_.substr(at_));
    const std::string_view number = text_.substr(at_, length);
    at_ += length;
    const std::size_t before = at_;
    skip_space();
    std::string unit;
    const std::size_t start = at_;
    if (at_ < text_.size() && is_letter(text_[at_])) unit = word();
    if (is_word(unit)) {
      unit.clear();
      at_ = before;
    }
    if (!unit.empty() && take("/")) {
      const std::size_t slash = at_ - 1;
      skip_space();
      const std::string_view divisor = word();
      if (std::find(divisor_units.begin(), divisor_units.end(), divisor) != divisor_units.end()) {
        unit += fmt::format("/{}", divisor);
      } else {
        at_ = slash;
      }
    }
    auto parsed = make_quantity(number, unit);
    if (!parsed) {
      at_ = unit.empty() ? before - length : start;
      return fail(parsed.error().message, parsed.error().advice);
    }
    return emit(push_number, parsed->value, 0, parsed->dimension);
  }

  Status name_or_call() {
    const std::size_t start = at_;
    const std::string name(word());
    if (!take("(")) {
      if (function_named(name) != nullptr || is_word(name)) {
        at_ = start;
        return fail(fmt::format("'{}' is not a value", name));
      }
      auto& names = result_.names_;
      const auto found = std::find(names.begin(), names.end(), name);
      const auto index = static_cast<int>(found - names.begin());
      if (found == names.end()) names.push_back(name);
      return emit(push_name, 0, index);
    }
    const Function* function = function_named(name);
    if (function == nullptr) {
      at_ = start;
      std::vector<std::string> known;
      for (const Function& candidate : functions) known.emplace_back(candidate.name);
      const std::string near = nearest(name, known);
      return fail(fmt::format("unknown function '{}'", name.substr(0, 40)),
                  near.empty() ? fmt::format("functions: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean '{}'?", near));
    }
    MONET_RETURN_IF_ERROR(enter());
    MONET_RETURN_IF_ERROR(arguments(*function));
    --nesting_;
    return close();
  }

  Status arguments(const Function& function) {
    int count = 0;
    do {
      MONET_RETURN_IF_ERROR(disjunction());
      if (++count > 1 && function.arguments == 0) MONET_RETURN_IF_ERROR(emit(function.code));
    } while (take(","));
    if (function.arguments == 0) return Done{};
    if (count != function.arguments) {
      return fail(fmt::format("{} takes {} argument{}, not {}", function.name, function.arguments,
                              function.arguments == 1 ? "" : "s", count));
    }
    return emit(function.code);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  int stack_ = 0;
  Expression result_;
};

Expected<Expression> Expression::parse(std::string_view text) { return ExpressionParser(text).parse(); }

bool Expression::is_reserved(std::string_view name) {
  return function_named(name) != nullptr || is_word(name) ||
         std::find(divisor_units.begin(), divisor_units.end(), name) != divisor_units.end();
}

}  // namespace monet
