# A room of src/: a folder with one job, compiled as a target of its own.
#
#   monet_room(NAME [USES ROOM ...] SOURCES FILE ...)    in src/NAME/room.cmake; files are relative to that folder
#   monet_compile_room(NAME)                             after all of its sources are known
#   monet_check_layers(ROOM ...)                         a target `layers`, which links each room with those it uses
#
# The target is monet_NAME. What a room uses lies below it (scripts/check_layering.py looks at every include); `layers`
# finds what is declared in a room below and defined in one above.
set(room_libraries nlohmann_json::nlohmann_json PkgConfig::CBC SQLite::SQLite3 xxhash yaml-cpp PkgConfig::HTTPLIB monet_options)

function(monet_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;SOURCES")
  list(TRANSFORM arg_SOURCES PREPEND ${name}/)
  add_library(monet_${name} OBJECT ${arg_SOURCES})
  target_include_directories(monet_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(monet_${name} PRIVATE fmt::fmt ${room_libraries})
  set(all ${name})
  foreach(room IN LISTS arg_USES)
    get_target_property(more monet_${room} MONET_ROOMS)
    list(APPEND all ${more})
  endforeach()
  list(REMOVE_DUPLICATES all)
  set_target_properties(monet_${name} PROPERTIES MONET_ROOMS "${all}")
endfunction()

function(monet_compile_room name)
  set(kind "")
  if(name IN_LIST hot_rooms)
    set(kind HOT ${name})
  elseif(name IN_LIST cold_rooms)
    set(kind COLD ${name})
  endif()
  monet_compile_in_groups(monet_${name} ${kind} ALONE ${files_alone})
endfunction()

function(monet_check_layers)
  add_custom_target(layers)
  foreach(name IN LISTS ARGV)
    get_target_property(all monet_${name} MONET_ROOMS)
    set(objects "")
    foreach(room IN LISTS all)
      list(APPEND objects $<TARGET_OBJECTS:monet_${room}>)
    endforeach()
    add_library(layers_${name} MODULE EXCLUDE_FROM_ALL ${objects})
    target_link_libraries(layers_${name} PRIVATE fmt::fmt ${room_libraries})
    target_link_options(layers_${name} PRIVATE -Wl,-z,defs)
    set_target_properties(layers_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers)
    add_dependencies(layers layers_${name})
  endforeach()
endfunction()
