// Brings an Einsum equation as ONNX writes it to its normal form: explicit, lower case, no spaces, no ellipsis.
#pragma once

#include "graph/einsum.h"

#include <monet/expected.h>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>

namespace monet::onnx {

namespace einsum_text {

constexpr char ellipsis = '*';

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Without spaces, "..." as one sign. Nothing when something else than letters, commas, dots and one arrow is there.
inline std::optional<std::string> condensed(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      result += ellipsis;
      i += 2;
    } else if (text.substr(i, 2) == "->" && result.find('>') == std::string::npos) {
      result += "->";
      i += 1;
    } else if (is_letter(text[i]) || text[i] == ',') {
      result += text[i];
    } else {
      return std::nullopt;
    }
  }
  return result;
}

// Letters that stand once in all operands, in the alphabet's order, behind the broadcast axes.
inline std::string implicit_output(const EinsumEquation& equation) {
  std::string all;
  for (const std::string& operand : equation.operands) all += operand;
  std::string output;
  for (char letter : all) {
    if (letter != ellipsis && std::ranges::count(all, letter) == 1) output += letter;
  }
  std::ranges::sort(output);
  return all.find(ellipsis) == std::string::npos ? output : ellipsis + output;
}

// Writes letters anew: capitals and the axes of an ellipsis get small letters that are free.
class Rewriter {
 public:
  Rewriter(std::string used, std::size_t broadcast_axes) : used_(std::move(used)) {
    for (std::size_t i = 0; i < broadcast_axes && !exhausted_; ++i) broadcast_letters_ += fresh();
  }

  // An ellipsis of fewer axes than the longest is aligned at its end.
  std::string rewritten(const std::string& letters, std::size_t ellipsis_axes) {
    std::string result;
    for (char letter : letters) {
      if (letter == ellipsis) {
        const std::size_t axes = std::min(ellipsis_axes, broadcast_letters_.size());
        result += broadcast_letters_.substr(broadcast_letters_.size() - axes);
      } else {
        result += letter >= 'a' ? letter : small(letter);
      }
    }
    return result;
  }
  bool exhausted() const { return exhausted_; }

 private:
  char small(char capital) {
    char& chosen = small_[static_cast<std::size_t>(capital - 'A')];
    if (chosen == 0) chosen = fresh();
    return chosen;
  }

  char fresh() {
    for (char letter = 'z'; letter >= 'a'; --letter) {
      if (used_.find(letter) != std::string::npos) continue;
      used_ += letter;
      return letter;
    }
    exhausted_ = true;
    return 'a';
  }

  std::string used_;
  std::string broadcast_letters_;
  std::array<char, 26> small_{};
  bool exhausted_ = false;
};

}  // namespace einsum_text

// `ranks`: the number of axes of each operand. Fails (message and advice only) on an equation that cannot be read.
inline Expected<EinsumEquation> normalized_einsum(std::string_view text, std::span<const std::size_t> ranks) {
  using namespace einsum_text;
  // 32 operands of 32 axes each, with room for spaces.
  constexpr std::size_t longest_equation = 4096;
  if (text.size() > longest_equation) {
    return Error{.message = fmt::format("has an equation of {} characters, and {} is the most that is read",
                                        text.size(), longest_equation),
                 .place = {},
                 .advice = {}};
  }
  const auto complaint = [&](const std::string& what) {
    return Error{.message = fmt::format("has the equation '{}' {}", text, what), .place = {}, .advice = {}};
  };
  const auto condensed_text = condensed(text);
  if (!condensed_text) return complaint("with signs other than letters, commas, '...' and one '->'");
  EinsumEquation equation = parse_einsum(*condensed_text);
  if (equation.operands.size() != ranks.size()) {
    return complaint(fmt::format("with {} operands, and {} inputs", equation.operands.size(), ranks.size()));
  }
  if (equation.output.find(',') != std::string::npos) return complaint("with two outputs");
  if (condensed_text->find("->") == std::string::npos) equation.output = implicit_output(equation);

  std::vector<std::size_t> hidden;
  std::string used = equation.output;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string& letters = equation.operands[i];
    const auto dots = static_cast<std::size_t>(std::ranges::count(letters, ellipsis));
    const std::size_t named = letters.size() - dots;
    if (dots > 1) return complaint("with two ellipses in one operand");
    if (ranks[i] < named || (dots == 0 && ranks[i] != named)) {
      return complaint(fmt::format("with {} letters for operand {}, which has {} axes", named, i + 1, ranks[i]));
    }
    hidden.push_back(ranks[i] - named);
    used += letters;
  }
  const auto output_dots = std::ranges::count(equation.output, ellipsis);
  const std::size_t most = *std::ranges::max_element(hidden);
  if (output_dots > 1) return complaint("with two ellipses in its output");
  if (most > 0 && output_dots == 0) return complaint("with an ellipsis in an operand and none in the output");

  Rewriter rewriter(std::move(used), most);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    equation.operands[i] = rewriter.rewritten(equation.operands[i], hidden[i]);
  }
  equation.output = rewriter.rewritten(equation.output, most);
  if (rewriter.exhausted()) return complaint("with more than 26 different axes");
  return equation;
}

}  // namespace monet::onnx
