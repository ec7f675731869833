#!/bin/bash
# What a lab's kernels may include, and what goals.cpp may: CONTRIBUTING.md has the rule.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"

# Of "FILE:INCLUDED" lines, those that the rule does not allow. A kernel takes common/, but neither the simulated GPU nor
# the wire, and headers of its own folder; the goals are the grader's page about the lab, and nothing of a lab includes them.
forbidden() {
    awk -F: '
        $1 ~ /goals\.cpp$/ { if ($2 !~ /^grader\/goals\.hpp$/) print; next }
        $2 ~ /goals\.cpp$/ { print; next }
        { lab = $1; sub(/\/.*/, "/", lab) }
        index($2, lab) == 1 || $2 !~ /\// { next }
        $2 ~ /^common\/(simgpu|wire)\// || $2 !~ /^common\// { print }'
}
# FILE:INCLUDED of every quoted include in the labs.
includes() {
    grep -rHo --include='*.cu' --include='*.cuh' --include='*.hpp' --include='*.cpp' '^ *#include "[^"]*"' lab[0-9]*_* |
        sed 's/: *#include "\(.*\)"/:\1/'
}

same "labs include common, and their goals the grader's page about goals" "" "$(includes | forbidden)"
holds "there is something to look at" test "$(includes | wc -l)" -gt 10
same "a header beside it is allowed" "" "$(printf '%s\n' lab2_x/gemm.cu:tile.cuh lab2_x/solution/gemm.cu:lab2_x/tile.cuh | forbidden)"
same "another lab is refused" "lab2_x/gemm.cu:lab1_x/gemm.cu" "$(echo lab2_x/gemm.cu:lab1_x/gemm.cu | forbidden)"
same "the grader is refused" "lab2_x/gemm.cu:grader/goals.hpp" "$(echo lab2_x/gemm.cu:grader/goals.hpp | forbidden)"
same "the simulated GPU is refused" "lab2_x/a.cuh:common/simgpu/device.hpp" "$(echo lab2_x/a.cuh:common/simgpu/device.hpp | forbidden)"
same "the wire is refused" "lab2_x/a.cuh:common/wire/channel.hpp" "$(echo lab2_x/a.cuh:common/wire/channel.hpp | forbidden)"
same "goals that include kernels are refused" "lab2_x/goals.cpp:lab2_x/gemm.cu" "$(echo lab2_x/goals.cpp:lab2_x/gemm.cu | forbidden)"

# What a student's clang compiles of ours besides labs: the CUDA runtime, in three forms. clang 14 cannot read all of a newer
# library's <chrono> (common/wire/clock.hpp).
unreadable() { # FORM: the headers among those that it reads which not every clang can
    for source in common/simgpu/runtime/api/*.cpp common/simgpu/runtime/"$1"/*.cpp; do printf '#include "%s"\n' "$source"; done |
        ${CLANG:-clang++} -std=c++20 -I. -DSIMGPU_DEVICE_PROGRAM='""' -x c++ -H -fsyntax-only - 2>&1 | grep -o '/chrono$' | sort -u
}
for form in local remote separate; do same "any clang reads the headers of the $form runtime" "" "$(unreadable "$form")"; done
same "a runtime that read <chrono> would be seen" /chrono \
    "$(echo '#include <chrono>' | ${CLANG:-clang++} -std=c++20 -x c++ -H -fsyntax-only - 2>&1 | grep -o '/chrono$' | sort -u)"
