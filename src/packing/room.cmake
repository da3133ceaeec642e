monet_room(packing
  USES base
  SOURCES
  check.cpp
  csv.cpp
  greedy.cpp
  order.cpp
  pack_file.cpp
  packing.cpp
  portfolio.cpp
  problem.cpp
  search.cpp
  search_bounds.cpp
  skyline.cpp
)
