monet_room(pipeline
  USES base
  SOURCES
  order.cpp
  stages.cpp
  timeline.cpp
)
