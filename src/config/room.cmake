monet_room(config
  USES base graph
  SOURCES
  check_keys.cpp
  expression.cpp
  expression_parser.cpp
  keys.cpp
  parameters.cpp
  ranges.cpp
  units.cpp
  words.cpp
  yaml.cpp
  yaml_fields.cpp
  yaml_node.cpp
  yaml_values.cpp
)
