# Of stalls.sh and power.sh: lab 6's kernels and cuBLAS's, one product at a time under the profiler. Both are called with
# FILE, and set `here` and `kernels` (a line each: name, source, launcher, types of factors and of C, cuBLAS's math ...).
# Needs nvcc, cuBLAS, ncu and the right to read hardware counters, and a Hopper GPU. GEMM_LAB_COMMIT= names the commit
# where git cannot.
# shellcheck shell=bash disable=SC2034,SC2154
# shellcheck source=grader/scripts/lib.sh
. "$here/../../scripts/lib.sh"
case ${1:-} in '' | -*) echo "usage: bash grader/author/sweep/$(basename "$0") FILE" >&2; exit 4 ;; esac
file=$1
nvcc=${NVCC:-nvcc}
commit=${GEMM_LAB_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null)}
[ -n "$commit" ] || fail "no commit to name: git does not know this folder" "GEMM_LAB_COMMIT=... names it"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || fail "no GPU: nvidia-smi names none"
command -v ncu >/dev/null || fail "no ncu: install Nsight Compute"
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

# compile_kernels PROGRAM LIBRARY...: PROGRAM.cu over each line of `kernels`, as $work/NAME.
compile_kernels() {
    local program=$1 name source rung in out math
    shift
    while read -r name source rung in out math _; do
        "$nvcc" -O3 -std=c++17 -I. -gencode arch=compute_90a,code=sm_90a "-DSOURCE=\"lab6_summit/solution/$source\"" \
            "-DRUNG=$rung" "-DIN=$in" "-DOUT=$out" "-DMATH=$math" "$here/$program.cu" "$@" -o "$work/$name" &
    done <<<"$kernels"
    wait
    while read -r name _; do [ -x "$work/$name" ] || fail "the program of $name does not compile"; done <<<"$kernels"
}
# profile NAME ours|cublas M,N,K METRICS CSV
profile() {
    # shellcheck disable=SC2086
    ncu --profile-from-start off --clock-control none --csv --page raw --print-units base --metrics "$4" \
        --log-file "$5" "$work/$1" "$2" ${3//,/ } >/dev/null || { tail -n 3 "$5" >&2; fail "ncu failed on $1 at $3"; }
}
# The first line of a result: on what it was measured.
measured_on() {
    echo "${gpu%%,*}, driver${gpu#*,}, CUDA $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'), ncu $(ncu --version |
        sed -n 's/^Version \([^ ]*\).*/\1/p'), commit $commit, $(date -u '+%Y-%m-%d %H:%M UTC')."
}
