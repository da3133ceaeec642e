# Builds the pages from web/, that of reports and that of `monet serve`, and writes a source file that holds them:
# page_template() and serve_template() of src/present/page/page.h.
#
#   cmake -D OUTPUT=page_template.cpp -D SOURCE=web -D WORK=DIR -D NPM=npm -P embed_page.cmake
#
# A page that is already built, SOURCE/dist/page.html (a source distribution made after `npm run build` has it), is taken as it is, unless its
# sources are newer. Otherwise npm builds it in WORK, on a copy: several builds at a time leave each other alone. Without
# npm and without a page, page_template() is empty.
set(built ${SOURCE}/dist/page.html)
set(page ${built})
file(GLOB_RECURSE sources ${SOURCE}/src/*)
file(GLOB others ${SOURCE}/*.*)
set(is_current FALSE)
if(EXISTS ${built})
  set(is_current TRUE)
  foreach(file IN LISTS sources others)
    if(NOT ${built} IS_NEWER_THAN ${file} AND NOT IS_DIRECTORY ${file})
      set(is_current FALSE)
    endif()
  endforeach()
endif()

function(run_npm)
  execute_process(COMMAND ${NPM} ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "The report page cannot be built: npm ${words} in ${WORK} says\n${output}\n"
            "cmake -D MONET_PAGE=OFF builds monet without it.")
  endif()
endfunction()

if(NOT is_current AND NPM AND EXISTS ${SOURCE}/package.json)
  set(page ${WORK}/dist/page.html)
  file(GLOB old ${WORK}/*)
  list(REMOVE_ITEM old ${WORK}/node_modules)
  if(old)
    file(REMOVE_RECURSE ${old})
  endif()
  file(COPY ${SOURCE}/ DESTINATION ${WORK} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
  set(stamp ${WORK}/node_modules/.installed-lock.json)
  file(READ ${WORK}/package-lock.json lock)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(NOT lock STREQUAL installed)
    run_npm(ci --omit=dev --no-audit --no-fund --prefer-offline)
    file(WRITE ${stamp} "${lock}")
  endif()
  run_npm(run build)
elseif(NOT is_current AND EXISTS ${built})
  message(WARNING "${built} is older than its sources, and there is no npm to build it again")
endif()

get_filename_component(folder ${page} DIRECTORY)
set(serve "")
if(EXISTS ${folder}/serve.html)
  file(READ ${folder}/serve.html serve)
endif()
set(content "")
if(NOT EXISTS ${page})
  message(STATUS "monet is built without the report page")
else()
  file(READ ${page} content)
  string(FIND "${content}" "/*DATA*/" first)
  string(FIND "${content}" "/*DATA*/" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "${page} must have the mark /*DATA*/ once")
  endif()
endif()
file(WRITE ${OUTPUT} "#include \"present/page/page.h\"\n\nnamespace monet {\n\nstd::string_view page_template() {\n"
  "  static constexpr std::string_view text = R\"embedded(${content})embedded\";\n  return text;\n}\n\n"
  "std::string_view serve_template() {\n"
  "  static constexpr std::string_view text = R\"embedded(${serve})embedded\";\n  return text;\n}\n\n}  // namespace monet\n")
