# Compiles a target's files in groups: the compiler reads the headers once for a group, not once for a file.
#
#   monet_compile_in_groups(TARGET LINES)
#
# Files of one room (a folder of src/ or tests/) share a group until it has LINES lines; a folder that fits into one group
# is not split. So a change compiles the group of its file, and names in unnamed namespaces must differ within a room:
# scripts/check_layering.py checks that, since a group's limits move with the files. Off (MONET_GROUPS=OFF): one object a file.
function(monet_compile_in_groups target lines)
  if(NOT MONET_GROUPS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(made ${sources})
  list(FILTER made INCLUDE REGEX "^/")  # by the build: embedded files, each an object of its own
  list(FILTER sources EXCLUDE REGEX "^/")
  list(SORT sources)
  set_target_properties(${target} PROPERTIES SOURCES "${sources};${made}")
  set(room "")
  set(group 0)
  set(size 0)
  foreach(source IN LISTS sources)
    string(REGEX MATCH "^[^/]*" this_room ${source})
    file(STRINGS ${folder}/${source} text REGEX "[^ ]")
    list(LENGTH text length)
    math(EXPR grown "${size} + ${length}")
    if(NOT this_room STREQUAL room OR grown GREATER lines)
      set(room ${this_room})
      math(EXPR group "${group} + 1")
      set(grown ${length})
    endif()
    set(size ${grown})
    set_property(SOURCE ${folder}/${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${room}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
