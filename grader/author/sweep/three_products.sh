#!/bin/bash
# three_products.sh FILE: measures lab 6's three products on this machine's GPU, beside cuBLAS, and writes FILE:
# docs/results/h200/three-products.txt is made so. GEMM_LAB_COMMIT= names the commit where the sources were sent without
# their history. Needs nvcc and cuBLAS.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../../scripts/lib.sh"
case ${1:-} in '' | -*) echo "usage: bash grader/author/sweep/three_products.sh FILE" >&2; exit 4 ;; esac
file=$1
nvcc=${NVCC:-nvcc}
commit=${GEMM_LAB_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null)}
[ -n "$commit" ] || fail "no commit to name: git does not know this folder" "GEMM_LAB_COMMIT=... names it"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || fail "no GPU: nvidia-smi names none"
cuda=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)

work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
[ "$arch" = 90 ] || fail "no Hopper GPU: 6.3.4 runs on compute capability 9.0 alone"
"$nvcc" -O3 -std=c++17 -I. -gencode arch=compute_90a,code=sm_90a "$here/three_products.cu" "$here/three_wgmma.cu" -lcublas -o "$work/bench" ||
    exit 1
when=$(date -u '+%Y-%m-%d %H:%M UTC')
"$work/bench" >"$work/table" || fail "the measurement broke off: '$file' is as it was"
{
    echo "${gpu%%,*}, driver${gpu#*,}, CUDA $cuda (nvcc -O3, sm_90a), commit $commit, $when. C = A * B in FP32, all row-major, dense. Times are of zero-mean"
    echo "data, uniform in [-1, 1); positive data is uniform in (0, 1]; graded factors lie between 2^-100 and 2^100, about 1e-30 and 1e30. Errors are those of"
    echo "up to 1024 rows against FP64, u = 2^-24. All kernels of a shape take turns in one process: 9 rounds of about 10 ms each. A ratio is cuBLAS's time"
    echo "to the kernel's in the same round, the median."
    cat "$work/table"
} >"$file.new" && mv "$file.new" "$file"
