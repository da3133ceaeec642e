monet_room(kernels
  USES base graph config
  SOURCES
  kernel.cpp
)
