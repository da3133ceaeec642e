# Writes the file that says where the project lies.
set(source_folder_file ${CMAKE_CURRENT_BINARY_DIR}/source_folder.cpp)
file(CONFIGURE OUTPUT ${source_folder_file} @ONLY CONTENT
  "#include \"support/source_folder.h\"\n\nstd::filesystem::path monet::test::source_folder() { return \"@PROJECT_SOURCE_DIR@\"; }\n")
