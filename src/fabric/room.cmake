monet_room(fabric
  USES base hardware
  SOURCES
  bound.cpp
  mesh.cpp
  phase.cpp
  price.cpp
)
