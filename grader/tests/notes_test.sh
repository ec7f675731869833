#!/bin/bash
# Notes on what is right but loses precision: in 5.2b TF32 operands that the tensor core cuts off, those of A, of B, or of both.
# Needs BUILD with bin/grader in it. A minute.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
grader=$PWD/${BUILD:-build}/bin/grader
case ${BUILD:-build} in /*) grader=$BUILD/bin/grader ;; esac
mkdir "$scratch/lab5_tensor_core"

# unrounded OPERANDS: checks 5.2b with those of a_k and b_k, a regular expression, that are not rounded; its words in one line.
unrounded() {
    cp lab5_tensor_core/solution/*.cu "$scratch/lab5_tensor_core"
    sed -i -E "s/^( *)round_operand\(($1)_k\[[ij]\]\);/\1/" "$scratch/lab5_tensor_core/wmma.cu"
    "$grader" check --lab 5 --stage 5.2b --alone --again --sources "$scratch" 2>&1 | xargs -d '\n' | sed 's/  */ /g'
}
said=$(unrounded a)
same "A's are not rounded in one place" 1 "$(diff lab5_tensor_core/solution/wmma.cu "$scratch/lab5_tensor_core/wmma.cu" | grep -c '^>')"
holds "A alone, cut off: right" grep -q '5.2b TF32 ok ' <<<"$said"
holds "with the note" grep -q 'note: LOW-PRECISION .* as if the bits of A went into the tensor core as they are' <<<"$said"
said=$(unrounded b)
holds "B alone is the same" grep -q '5.2b TF32 ok .* as if the bits of B went into' <<<"$said"
said=$(unrounded '[ab]')
holds "both" grep -q '5.2b TF32 ok .* as if the bits of A and B went into' <<<"$said"
said=$(cp lab5_tensor_core/solution/*.cu "$scratch/lab5_tensor_core" &&
    sed -i 's|i < f.num_elements; ++i) f.x|i < f.num_elements; i += 2) f.x|' "$scratch/lab5_tensor_core/wmma.cu" &&
    "$grader" check --lab 5 --stage 5.2b --alone --again --sources "$scratch" 2>&1 | xargs -d '\n' | sed 's/  */ /g')
holds "every other element: a part" grep -q 'rounds only part of its operands to TF32.* 128 of A and 128 of B, ' <<<"$said"
said=$(unrounded none)
holds "none: right" grep -q '5.2b TF32 ok ' <<<"$said"
holds "without a note" bash -c '! grep -q LOW-PRECISION' <<<"$said"
