# Compiles a target's files in groups: the compiler reads the headers once for a group, not once for a file.
#
#   monet_compile_in_groups(TARGET LINES [COLD ROOM ...])
#
# A group is a file that includes files of one room (a folder of src/ or tests/), in the order of their names, of about
# LINES lines together. So a change compiles the group of its file, and what the files of a room have in unnamed
# namespaces must differ; scripts/check_groups.sh compiles rooms as wholes, since limits of groups move as files grow.
# Groups name no folder of this machine: a compiler cache serves any clone. Rooms that are COLD spend their time in
# writing text and are compiled with -O1 in a release. MONET_GROUPS=OFF: one object a file, for everyday work.
function(monet_compile_in_groups target lines)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" COLD)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(FILTER sources EXCLUDE REGEX "^/")  # made by the build, such as embedded files
  list(SORT sources)
  if(NOT MONET_GROUPS)
    foreach(source IN LISTS sources)
      string(REGEX MATCH "^[^/]*" room ${source})
      if(room IN_LIST arg_COLD AND CMAKE_BUILD_TYPE STREQUAL Release)
        set_source_files_properties(${folder}/${source} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -O1)
      endif()
    endforeach()
    return()
  endif()

  set(last_room "")
  foreach(source IN LISTS sources)
    string(REGEX MATCH "^[^/]*" room ${source})
    file(STRINGS ${folder}/${source} text REGEX "[^ ]")
    list(LENGTH text length)
    if(NOT room STREQUAL last_room)
      set(last_room ${room})
      set(number 1)
      set(size 0)
    endif()
    math(EXPR size "${size} + ${length}")
    if(size GREATER lines AND size GREATER length)
      math(EXPR number "${number} + 1")
      set(size ${length})
    endif()
    set(group ${room}_${number})
    if(NOT DEFINED content_${group})
      list(APPEND groups ${group})
    endif()
    string(APPEND content_${group} "#include \"${source}\"\n")
    set_source_files_properties(${folder}/${source} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()

  foreach(group IN LISTS groups)
    set(file ${PROJECT_BINARY_DIR}/groups/${target}/${group}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content_${group}}" @ONLY)
    target_sources(${target} PRIVATE ${file})
    string(REGEX REPLACE "_[0-9]+$" "" room ${group})
    if(room IN_LIST arg_COLD AND CMAKE_BUILD_TYPE STREQUAL Release)
      set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -O1)
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
