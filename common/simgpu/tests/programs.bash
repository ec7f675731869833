# shellcheck shell=bash
# Sourced by the tests that run CUDA programs on the simulated GPU.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../../grader/tests/shell.bash"
export BUILD=${BUILD:-build}
simrun() { common/simgpu/simrun "$@"; }

# count KERNEL WORDS UNIT: the number before UNIT in the line that begins with WORDS, of the kernel that $scratch/report has.
count() {
    awk -v kernel="$1" -v words="$2" -v unit="$3" '
        /^[a-z]/ { here = index($0, kernel "(") == 1 }
        here && index($0, "  " words) == 1 && match($0, "([0-9]+ )+" unit) {
            text = substr($0, RSTART, RLENGTH - length(unit)); gsub(/ /, "", text); print text; exit
        }' "$scratch/report"
}
ideal() { # KERNEL WORDS
    awk -v kernel="$1" -v words="$2" '
        /^[a-z]/ { here = index($0, kernel "(") == 1 }
        here && index($0, "  " words) == 1 && match($0, /\(ideal [0-9 ]+\)/) {
            text = substr($0, RSTART + 7, RLENGTH - 8); gsub(/ /, "", text); print text; exit
        }' "$scratch/report"
}
# program NAME TEXT: writes $scratch/NAME.cu.
program() { printf '#include <cuda_runtime.h>\n#include <cstdio>\n%s\n' "$2" >"$scratch/$1.cu"; }
