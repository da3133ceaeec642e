# Writes a source file that holds the text of other files, so that the program needs none of them at run time.
#
#   cmake -D OUTPUT=embedded.cpp -D ROOT=DIR -D FILES=a.csv|b.yaml -P embed.cmake
#
# Paths are relative to ROOT. See src/base/embedded.h.
string(REPLACE "|" ";" files "${FILES}")
string(CONCAT text "#include \"base/embedded.h\"\n\nnamespace monet {\n\nnamespace {\n\nusing namespace std::string_view_literals;\n\n"
  "constexpr EmbeddedFile files[] = {\n")
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} content)
  string(APPEND text "    {\"${file}\", R\"embedded(${content})embedded\"sv},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\n"
  "std::span<const EmbeddedFile> embedded_files() {\n  return files;\n}\n\n}  // namespace monet\n")
file(WRITE ${OUTPUT} "${text}")
