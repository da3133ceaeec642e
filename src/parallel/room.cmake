monet_room(parallel
  USES base graph
  SOURCES
  check.cpp
  check_nests.cpp
  check_views.cpp
  convert.cpp
  cut.cpp
  cut_views.cpp
  obstacles.cpp
  place.cpp
  prepare.cpp
  recipe.cpp
  split.cpp
  tensor_parallel.cpp
  tidy.cpp
)
