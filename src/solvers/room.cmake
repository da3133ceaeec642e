monet_room(solvers
  USES base
  SOURCES
  nsga2.cpp
  program.cpp
)
