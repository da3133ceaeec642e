monet_room(serve
  USES base config graph onnx hardware networks training mapping evaluate optimize explore present
  SOURCES
  answer.cpp
  api.cpp
  folder.cpp
  jobs.cpp
  question.cpp
  runs.cpp
  server.cpp
)
