// A picture of boxes, lines and words. Colours are chosen by class, for light and dark screens.
#pragma once

#include <string>
#include <string_view>

namespace monet {

// As text of a page or picture: nothing in it is taken for a mark.
std::string html_escaped(std::string_view words);

class Svg {
 public:
  // Coordinates in pixels, y downwards. What is drawn later covers what was drawn before.
  void box(double x, double y, double width, double height, std::string_view style, double radius = 4);
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  // `anchor`: "start", "middle" or "end".
  void text(double x, double y, std::string_view words, std::string_view style, std::string_view anchor = "start");
  // The whole file. `title` is what a reader of the screen hears.
  std::string finish(double width, double height, std::string_view title) const;

  // Of words in the size of `style`, about.
  static double width_of(std::string_view words, std::string_view style = "small");

 private:
  std::string body_;
};

}  // namespace monet
