monet_room(solvers
  USES base
  SOURCES
  apart.cpp
  cbc.cpp
  nsga2.cpp
  program.cpp
)
