#include "present/svg/svg.h"

#include <fmt/format.h>

namespace monet {

namespace {

constexpr std::string_view style_sheet = R"css(
    svg { font-family: system-ui, "DejaVu Sans", sans-serif; }
    .paper { fill: #ffffff; } .chip { fill: #f6f8fa; stroke: #8c959f; } .behind { fill: #eaeef2; stroke: #8c959f; }
    .group { fill: none; stroke: #8c959f; stroke-dasharray: 4 3; }
    .core { fill: #dbe9ff; stroke: #3b70c4; } .registers { fill: #fdf3c8; stroke: #b08d12; }
    .sram { fill: #d3efdb; stroke: #2f8f55; } .dram { fill: #ffe3c4; stroke: #c07420; }
    .storage { fill: #e9defa; stroke: #7d52c0; }
    .wire { stroke: #57606a; stroke-width: 1.2; } .bus { stroke: #57606a; stroke-width: 5; }
    .direct { stroke: #57606a; stroke-width: 1.2; stroke-dasharray: 2 3; }
    text { fill: #1f2328; } .faint { fill: #59636e; font-size: 10px; } .small { font-size: 11px; }
    .name { font-size: 12px; font-weight: 600; } .title { font-size: 16px; font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117; } .chip { fill: #161b22; stroke: #6e7681; } .behind { fill: #21262d; stroke: #6e7681; }
      .group { stroke: #6e7681; }
      .core { fill: #1b2f52; stroke: #6ea0ef; } .registers { fill: #443a12; stroke: #d3b03a; }
      .sram { fill: #173a26; stroke: #56b87c; } .dram { fill: #4a2f12; stroke: #e09a4d; }
      .storage { fill: #35264f; stroke: #a583de; }
      .wire, .bus, .direct { stroke: #9198a1; }
      text { fill: #f0f6fc; } .faint { fill: #9198a1; }
    }
)css";

}  // namespace

std::string html_escaped(std::string_view words) {
  std::string text;
  for (const char c : words) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '"': text += "&quot;"; break;
      default: text += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return text;
}

void Svg::box(double x, double y, double width, double height, std::string_view style, double radius) {
  body_ +=
      fmt::format("  <rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:g}\"/>\n",
                  style, x, y, width, height, radius);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ += fmt::format("  <line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1,
                       y1, x2, y2);
}

void Svg::text(double x, double y, std::string_view words, std::string_view style, std::string_view anchor) {
  body_ += fmt::format("  <text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", style, x, y,
                       anchor, html_escaped(words));
}

std::string Svg::finish(double width, double height, std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n  <title>{2}</title>\n  <style>{3}  </style>\n  <rect class=\"paper\" width=\"100%\" "
      "height=\"100%\"/>\n{4}</svg>\n",
      width, height, html_escaped(title), style_sheet, body_);
}

double Svg::width_of(std::string_view words, std::string_view style) {
  const double size = style == "title" ? 16 : style == "name" ? 12.6 : style == "faint" ? 10 : 11;
  double letters = 0;
  for (const char c : words) letters += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // not within a letter
  return 0.6 * size * letters;
}

}  // namespace monet
