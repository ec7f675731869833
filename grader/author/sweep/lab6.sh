#!/bin/bash
# lab6.sh NAME FILE: measures a part of lab 6 on this machine's GPU, a Hopper, beside cuBLAS, and writes FILE.
#
#     three_products    FP32 by three products of TF32: docs/results/h200/three-products.txt
#     tensor_shapes     tensor cores at every shape, 16-bit and TF32: docs/results/h200/tensor-shapes.txt
#     fp64_shapes       FP64 at every shape: docs/results/h200/fp64-shapes.txt
#
# GEMM_LAB_COMMIT= names the commit where the sources were sent without their history. PROOF=FOLDER: before that,
# three_products and fp64_shapes multiply shapes that are awkward, whose errors go to FOLDER/awkward.txt, and behind it the
# kernels of 6.4.5, or all of FP64, run under compute-sanitizer, which writes there, too. Needs nvcc and cuBLAS.
set -u
here=$(dirname "$0")
sanitized=''
# shellcheck source=grader/scripts/lib.sh
. "$here/../../scripts/lib.sh"
usage() { echo "usage: bash grader/author/sweep/lab6.sh three_products|tensor_shapes|fp64_shapes FILE" >&2; exit 4; }
case ${2:-} in '' | -*) usage ;; esac
file=$2
case $1 in
    three_products)
        programs=("$here/three_products.cu $here/three_wgmma.cu $here/three_shapes.cu")
        sanitized="--tiles 33,65,97 64,130,520"
        about="C = A * B in FP32, all row-major, dense. Times are of zero-mean data, uniform in [-1, 1); positive data is uniform in (0, 1];
graded factors lie between 2^-100 and 2^100, about 1e-30 and 1e30. Errors are those of up to 1024 rows against FP64,
u = 2^-24; of tiles that the first table does not name those of zero-mean data alone. All kernels of a shape take turns in one
process: 9 rounds of about 10 ms each; every tile behind them, 3 rounds."
        ;;
    tensor_shapes)
        programs=("$here/tensor_shapes.cu" "-DGEMM_LAB_TF32 $here/tensor_shapes.cu")
        about="C = A * B, A and B in BF16, FP16 or float for TF32, sums and C in FP32, all row-major, dense; data uniform in (-1, 1]. Errors
are those of up to 512 rows against FP64, u = 2^-24, in TF32 with what rounding A and B takes. A product's A, B and C are others
than those of the product before, so that nothing of them is in the L2 cache. cuBLAS, lab 5's kernel and lab 6's take turns in
one process: 9 rounds of about 10 ms each."
        ;;
    fp64_shapes)
        programs=("$here/fp64_shapes.cu $here/fp64_of_lab5.cu")
        sanitized="--errors 33,65,97 129,130,2049"
        about="C = A * B in FP64, all row-major, dense; data uniform in (-1, 1]. Errors are those of up to 256 rows against sums of twice
the precision, u = 2^-53. A product's A, B and C are others than those of the product before, so that nothing of them is in the
L2 cache. cuBLAS, 5.3c, 6.5.2, 6.5.3 and 6.5.4 take turns in one process: 9 rounds of about 10 ms each; every tile behind them, once."
        ;;
    *) usage ;;
esac
nvcc=${NVCC:-nvcc}
commit=${GEMM_LAB_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null)}
[ -n "$commit" ] || fail "no commit to name: git does not know this folder" "GEMM_LAB_COMMIT=... names it"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || fail "no GPU: nvidia-smi names none"
cuda=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)

work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
[ "$arch" = 90 ] || fail "no Hopper GPU: wgmma runs on compute capability 9.0 alone"
# Every source by itself, all at once.
compilers=()
for i in "${!programs[@]}"; do
    flags=()
    for word in ${programs[i]}; do case $word in
        -*) flags+=("$word") ;;
        *)
            "$nvcc" -O3 -std=c++17 -I. -gencode arch=compute_90a,code=sm_90a "${flags[@]}" -c "$word" \
                -o "$work/$i-$(basename "$word" .cu).o" &
            compilers+=($!)
            ;;
    esac; done
done
for one in "${compilers[@]}"; do wait "$one" || exit 1; done
for i in "${!programs[@]}"; do
    "$nvcc" -gencode arch=compute_90a,code=sm_90a "$work/$i"-*.o -lcublas -o "$work/bench$i" || exit 1
done
# Thin, flat and deep ones, around the sides of tiles, odd leading dimensions, one row, one column, one term.
awkward="1,1,1 1,1,127 1,513,300 128,1,300 7,13,31 31,33,32 33,31,65 63,65,97 64,64,64 127,129,1023 65,1000,1023 1000,30,127 257,67,2047
    1023,1025,1025 1025,1023,33 24,1024,4100 16,300,16383 256,256,4096"
if [ -n "${PROOF:-}" ] && [ -n "$sanitized" ]; then
    mkdir -p "$PROOF" || exit 3
    # shellcheck disable=SC2086
    timeout 60 "$work/bench0" --errors $awkward >"$PROOF/awkward.txt" || echo "not right: $PROOF/awkward.txt" >&2
fi
when=$(date -u '+%Y-%m-%d %H:%M UTC')
for i in "${!programs[@]}"; do
    "$work/bench$i" >>"$work/table" || fail "the measurement broke off: '$file' is as it was"
done
{
    echo "${gpu%%,*}, driver${gpu#*,}, CUDA $cuda (nvcc -O3, sm_90a), commit $commit, $when."
    echo "$about A ratio is"
    echo "cuBLAS's time to the kernel's in the same round, the median."
    cat "$work/table"
} >"$file.new" && mv "$file.new" "$file"
if [ -n "${PROOF:-}" ] && [ -n "$sanitized" ]; then
    for tool in memcheck synccheck; do
        # shellcheck disable=SC2086
        timeout 60 compute-sanitizer --tool $tool --error-exitcode 2 "$work/bench0" $sanitized >"$PROOF/$tool.txt" 2>&1 ||
            echo "not clean: $PROOF/$tool.txt" >&2
        tail -n 1 "$PROOF/$tool.txt"
    done
fi
