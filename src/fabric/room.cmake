monet_room(fabric
  USES base graph hardware
  SOURCES
  bound.cpp
  mesh.cpp
  phase.cpp
  price.cpp
)
