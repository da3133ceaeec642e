# What needs no library of the system, made of the objects that the program has:
#
#   monet_standalone   build/standalone/monet, a program for any Linux of this processor
#   monet_modules      build/standalone/python/_core.*.so, one for each Python of MONET_STANDALONE; they need glibc 2.28
#
# MONET_STANDALONE is what scripts/standalone.py fetched: httplib/httplib.h, nanobind/, python/VERSION/ with Python.h.
set(standalone_sources ${PROJECT_SOURCE_DIR}/cmake/standalone)
set(standalone_folder ${PROJECT_BINARY_DIR}/standalone)

# Debian has no static library of fmt, that of httplib would bring OpenSSL, and that of LAPACK the one of Fortran.
add_library(standalone_parts STATIC EXCLUDE_FROM_ALL ${standalone_sources}/fmt.cpp ${standalone_sources}/xerbla.cpp serve/server.cpp)
target_include_directories(standalone_parts BEFORE PRIVATE ${MONET_STANDALONE}/httplib)
target_include_directories(standalone_parts PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(standalone_parts PRIVATE CPPHTTPLIB_USE_POLL FMT_SHARED)
target_compile_options(standalone_parts PRIVATE -O2)
target_link_libraries(standalone_parts PRIVATE fmt::fmt-header-only)

set(static_libraries "")
foreach(name CbcSolver Cbc Cgl OsiClp ClpSolver Clp Osi CoinUtils bz2 z lapack blas xxhash sqlite3 yaml-cpp)
  find_library(STATIC_${name} lib${name}.a REQUIRED)
  list(APPEND static_libraries ${STATIC_${name}})
endforeach()
# What is compiled here comes first, and xerbla is asked for before LAPACK is: of two, the linker takes the first that it meets.
set(standalone_libraries -Wl,-u,xerbla_ -Wl,--start-group $<TARGET_FILE:standalone_parts> $<TARGET_FILE:monet_core> ${static_libraries} -Wl,--end-group)

add_executable(monet_standalone EXCLUDE_FROM_ALL cli/main.cpp)
target_include_directories(monet_standalone PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(monet_standalone PRIVATE $<TARGET_FILE:monet_commands> ${standalone_libraries})
target_link_options(monet_standalone PRIVATE -static -s)
set_target_properties(monet_standalone PROPERTIES OUTPUT_NAME monet RUNTIME_OUTPUT_DIRECTORY ${standalone_folder})
add_dependencies(monet_standalone monet_core monet_commands standalone_parts)

# Libraries with the names and versions that functions had in older glibc; they hold nothing, and are linked against alone.
# Of what is not listed, and is newer, module.cpp has another.
set(old_libraries "")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${standalone_sources}/glibc_2_28.txt)
  file(STRINGS ${standalone_sources}/glibc_2_28.txt lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    string(REPLACE " " ";" words "${line}")
    list(POP_FRONT words library version)
    list(APPEND old_names ${library})
    foreach(word IN LISTS words)
      string(APPEND functions_${library} "void ${word}(void) {}\n")
      string(APPEND versions_${library} "  ${word};\n")
    endforeach()
    set(version_${library} ${version})
  endforeach()
  list(REMOVE_DUPLICATES old_names)
  enable_language(C)
  foreach(library IN LISTS old_names)
    set(base ${standalone_folder}/old/${library})
    file(CONFIGURE OUTPUT ${base}.c CONTENT "${functions_${library}}" @ONLY)
    file(CONFIGURE OUTPUT ${base}.map CONTENT "${version_${library}} {\n${versions_${library}}};\n" @ONLY)
    add_custom_command(OUTPUT ${base} DEPENDS ${base}.c ${base}.map VERBATIM
      COMMAND ${CMAKE_C_COMPILER} -w -fno-builtin -shared -nostdlib -Wl,-soname,${library} -Wl,--version-script,${base}.map -o ${base} ${base}.c)
    list(APPEND old_libraries ${base})
  endforeach()
  add_custom_target(monet_old_libraries DEPENDS ${old_libraries})
endif()

# One source of all of the bindings, and one of nanobind: they are compiled anew for each Python.
file(GLOB binding_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/python ${CMAKE_CURRENT_SOURCE_DIR}/python/*.cpp)
list(TRANSFORM binding_files PREPEND "#include \"python/" OUTPUT_VARIABLE binding_lines)
list(TRANSFORM binding_lines APPEND "\"\n")
list(JOIN binding_lines "" binding_text)
file(CONFIGURE OUTPUT ${standalone_folder}/bindings.cpp CONTENT "${binding_text}" @ONLY)
file(CONFIGURE OUTPUT ${standalone_folder}/module.map CONTENT "{ global: PyInit__core; local: *; };\n" @ONLY)
add_custom_target(monet_modules)
file(GLOB python_folders LIST_DIRECTORIES TRUE ${MONET_STANDALONE}/python/*)
foreach(folder IN LISTS python_folders)
  get_filename_component(version ${folder} NAME)
  string(REPLACE "." "" tag ${version})
  set(module module_cp${tag})
  set(nanobind ${MONET_STANDALONE}/nanobind)
  add_library(${module} MODULE EXCLUDE_FROM_ALL ${standalone_folder}/bindings.cpp ${nanobind}/src/nb_combined.cpp ${standalone_sources}/module.cpp)
  target_include_directories(${module} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${module} SYSTEM PRIVATE ${nanobind}/include ${nanobind}/ext/robin_map/include ${folder})
  target_compile_definitions(${module} PRIVATE FMT_SHARED NDEBUG NB_COMPACT_ASSERTIONS)
  target_compile_options(${module} PRIVATE -O1 -fno-strict-aliasing -ffunction-sections -fdata-sections)
  set_target_properties(${module} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden SKIP_BUILD_RPATH ON LIBRARY_OUTPUT_DIRECTORY ${standalone_folder}/python)
  if(version VERSION_LESS 3.12)
    set_target_properties(${module} PROPERTIES OUTPUT_NAME _core.cpython-${tag}-${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
  else()
    # nanobind uses the stable interface from 3.12 on.
    target_compile_definitions(${module} PRIVATE Py_LIMITED_API=0x030C0000)
    set_target_properties(${module} PROPERTIES OUTPUT_NAME _core.abi3)
  endif()
  target_link_libraries(${module} PRIVATE ${standalone_libraries} ${old_libraries})
  # The old libraries hold nothing: where modules are used, those of the system have their names.
  target_link_options(${module} PRIVATE -static-libstdc++ -static-libgcc -s -Wl,--gc-sections
    -Wl,--version-script,${standalone_folder}/module.map
    -Wl,--defsym,stdin=monet_stdin -Wl,--defsym,stdout=monet_stdout -Wl,--defsym,stderr=monet_stderr)
  add_dependencies(${module} monet_core standalone_parts)
  if(old_libraries)
    add_dependencies(${module} monet_old_libraries)
  endif()
  add_dependencies(monet_modules ${module})
endforeach()
