#!/bin/sh
# compdb.sh FLAGS...: writes compile_commands.json. C++ files get the flags they are built with; a .cu gets the plain
# command, and .clangd adds what reads CUDA without a toolkit.
set -u
root=$(pwd)
quote() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g'; }
entry() { # file, arguments...
    file=$1
    shift
    [ -z "$comma" ] || printf ',\n'
    comma=1
    printf '  {"directory": "%s", "file": "%s", "arguments": [' "$(quote "$root")" "$(quote "$file")"
    for argument in "$@"; do printf '"%s", ' "$(quote "$argument")"; done
    printf '"-c", "%s"]}' "$(quote "$file")"
}
comma=
{
    printf '[\n'
    for file in $(find common grader lab[0-9]*_* -name '*.cpp' -o -name '*.cu' 2>/dev/null | sort); do
        case $file in
        */fixtures/*) ;;
        *.cu) entry "$file" clang++ -I. -Icommon/simgpu/include ;;
        # clangd is clang: a warning flag or launcher of another compiler would only confuse it.
        *) entry "$file" clang++ "$@" ;;
        esac
    done
    printf '\n]\n'
} >compile_commands.json.new && mv compile_commands.json.new compile_commands.json && echo "wrote compile_commands.json"
