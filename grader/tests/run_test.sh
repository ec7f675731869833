#!/bin/bash
# make run on the simulated GPU: a small C that is wrong is shown beside the right one. Needs BUILD with bin/grader in it.
# shellcheck disable=SC2016
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
grader=${BUILD:-build}/bin/grader

# Row 2 stays as it was, column 1 has the wrong sign. The last store of the file is the kernel's of 1.1.
tac lab1_naive/solution/gemm.cu | sed '0,/c(row, col) = sum;/s//if (row != 2) c(row, col) = col == 1 ? -sum : sum;/' | tac >"$scratch/wrong.cu"
holds "there is something wrong" bash -c '! cmp -s "$1" lab1_naive/solution/gemm.cu' cmp "$scratch/wrong.cu"
run() { "$grader" run --lab 1 --rung gemm_naive -M "$1" -N "$2" -K "$3" --file "$scratch/wrong.cu"; } # M N K

fails "C beside what is expected" 1 'computed \(wrong elements marked \*\), expected:' run 4 3 5
same "a line for each row, marked where it is wrong" "1 1 3 1" "$(sed -n 's/ |.*//; /computed/,$p' "$scratch/.out" | sed 1d | awk '{ print gsub(/[*]/, "") }' | xargs)"
same "what was not written is a dash" "-* -* -*" "$(sed -n 's/ *|.*//; /computed/,$p' "$scratch/.out" | sed -n 4p | xargs -d '\n' | sed 's/^ *//; s/  */ /g')"
fails "above it where both are too wide" 1 '^ *expected:$' run 8 8 64
same "eight lines each" 16 "$(sed -n '/computed/,$p' "$scratch/.out" | grep -vc ':$')"
same "in 80 columns" "" "$(sed -n '/computed/,$p' "$scratch/.out" | awk 'length > 80')"
fails "a larger one is not shown" 1 'result WRONG' run 9 4 5
holds "not a line of it" bash -c '! grep -q computed "$1"' grep "$scratch/.out"
says "and none that is right" 'result right' "$grader" run --lab 1 --rung gemm_naive -M 4 -N 4 -K 4 --solution
holds "no matrix then" bash -c '! grep -q computed "$1"' grep "$scratch/.out"
