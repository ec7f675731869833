#!/bin/sh
# compdb.sh <COMMANDS: a compilation database on stdout, from the compile commands among the lines that make would run.
# A .cu gets the plain command, and .clangd adds what reads CUDA without a toolkit.
set -u
root=$(pwd)
{
    sed -n 's/^[[:blank:]]*\(.* -c \([^ ]*\.cpp\) -o [^ ]*\)$/\2\t\1/p'
    find common examples lab[0-9]*_* -name '*.cu' ! -path '*/fixtures/*' 2>/dev/null | sort | while IFS= read -r file; do
        printf '%s\tclang++ -I. -Icommon/simgpu/include -c %s\n' "$file" "$file"
    done
} | awk -F '\t' -v root="$root" '
    function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
    BEGIN { printf "[" }
    { printf "%s\n  {\"directory\": %s, \"file\": %s, \"command\": %s}", (NR > 1 ? "," : ""), quoted(root), quoted($1), quoted($2) }
    END { print "\n]" }'
