#!/bin/bash
# The program in common/simgpu/README.md that uses Device as a library: taken from the page, compiled and run as it says.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../../grader/tests/shell.bash"
build=${BUILD:-build}
page=common/simgpu/README.md

awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >"$scratch/program.cpp"
holds "there is a program on the page" test "$(wc -l <"$scratch/program.cpp")" -ge 20
same "and one only" 1 "$(grep -c '^```cpp$' "$page")"
holds "its PTX" env BUILD="$build" common/simgpu/simcc --ptx examples/vector_add.cu -o "$scratch/vector_add.ptx"
# shellcheck disable=SC2086
holds "it compiles without a warning" ${CXX:-g++} -std=c++20 -Wall -Wextra -Werror -I. "$scratch/program.cpp" "$build/lib/libsimgpu.a" -pthread -o "$scratch/program"
same "and prints what the page says" "$(sed -n 's/^It prints `\(.*\)`\..*/\1/p' "$page")" "$(cd "$scratch" && ./program)"

# Every file and folder that the page names is there.
for path in $(grep -oE '`(common|docs|examples|runtime|tests|exec|ptx|memory|check|count|include|flags|bench)/[a-z0-9_/.]*`' "$page" | tr -d '`' | sort -u); do
    holds "$path is there" bash -c '[ -e "$1" ] || [ -e "common/simgpu/$1" ]' path "$path"
done
for folder in common/simgpu/*/; do
    name=$(basename "$folder")
    holds "$name/ is on the page" grep -q "^| .*\`$name/\`" "$page"
done
