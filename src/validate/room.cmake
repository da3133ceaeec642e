monet_room(validate
  USES base graph kernels hardware networks training mapping evaluate present
  SOURCES
  checkpoint.cpp
  dacapo.cpp
  dacapo_tables.cpp
  groundtruth.cpp
  h200.cpp
  h200_operators.cpp
  kernel_steps.cpp
  products.cpp
  robotics.cpp
  robotics_footprint.cpp
  silicon.cpp
  snax_mx.cpp
  tin_tin.cpp
  validation.cpp
)
