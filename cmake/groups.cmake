# Compiles a target's files in groups: the compiler reads the headers once for a group, not once for a file.
#
#   monet_compile_in_groups(TARGET [HOT ROOM ...] [COLD ROOM ...] [ALONE FILE ...])
#
# A group is a file that includes files of one room (a folder of src/ or tests/), in the order of their names, of
# MONET_GROUP_LINES lines together. So a change compiles the group of its file, and what files of a room have in unnamed
# namespaces must differ: builds with clang, whose groups are whole rooms, find what does not, wherever a group ends.
# Groups name no folder of this machine: a compiler cache serves any clone.
#
# HOT rooms, where searches spend their time, get MONET_HOT_FLAGS, which instrumented builds set. COLD ones write text and
# are compiled with -O1 in a release. Files ALONE are objects of their own.
function(room_of result target source)
  set(room ${target})
  if(source MATCHES "^([^/]+)/")
    set(room ${CMAKE_MATCH_1})
  endif()
  set(${result} ${room} PARENT_SCOPE)
endfunction()

function(monet_compile_in_groups target)
  if(MONET_GROUP_LINES EQUAL 0)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HOT;COLD;ALONE")
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(FILTER sources EXCLUDE REGEX "^/")  # made by the build, such as embedded files
  list(SORT sources)
  set(last_room "")
  foreach(source IN LISTS sources)
    room_of(room ${target} ${source})
    if(source IN_LIST arg_ALONE)
      continue()
    endif()
    file(STRINGS ${folder}/${source} text REGEX "[^ ]")
    list(LENGTH text length)
    if(NOT room STREQUAL last_room)
      set(last_room ${room})
      set(number 1)
      set(size 0)
    endif()
    math(EXPR size "${size} + ${length}")
    if(size GREATER MONET_GROUP_LINES AND size GREATER length)
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
    if(room IN_LIST arg_HOT AND MONET_HOT_FLAGS)
      set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${MONET_HOT_FLAGS}")
    elseif(room IN_LIST arg_COLD AND CMAKE_BUILD_TYPE STREQUAL Release)
      set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -O1)
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
