#!/bin/bash
# stalls.sh FILE: what warps of lab 6's kernels wait for, and those of cuBLAS's beside them, at the shapes where a kernel is
# behind its bar (docs/lab6-bars.md) or was never looked at, and at one where it is not: docs/results/h200/stalls-lab-6.txt. Needs
# nvcc, cuBLAS, ncu and the right to read hardware counters, and a Hopper GPU. GEMM_LAB_COMMIT= names the commit where git cannot.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../../scripts/lib.sh"
case ${1:-} in '' | -*) echo "usage: bash grader/author/sweep/stalls.sh FILE" >&2; exit 4 ;; esac
file=$1
nvcc=${NVCC:-nvcc}
commit=${GEMM_LAB_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null)}
[ -n "$commit" ] || fail "no commit to name: git does not know this folder" "GEMM_LAB_COMMIT=... names it"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || fail "no GPU: nvidia-smi names none"
command -v ncu >/dev/null || fail "no ncu: install Nsight Compute"
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

# name, source, launcher, types of factors and of C, cuBLAS's math
kernels="6.2 gemm.cu gemm_every_shape float float CUBLAS_COMPUTE_32F
6.3.4 three_wgmma.cu gemm_three_wgmma float float CUBLAS_COMPUTE_32F
6.4.3 tensor_shapes.cu gemm_tensor_shapes __nv_bfloat16 float CUBLAS_COMPUTE_32F
6.4.4 tensor_shapes.cu gemm_tf32_shapes float float CUBLAS_COMPUTE_32F_FAST_TF32
6.4.5 tensor_shapes.cu gemm_three_shapes float float CUBLAS_COMPUTE_32F
6.5.3 fp64_shapes.cu gemm_f64_stream_k double double CUBLAS_COMPUTE_64F
6.6.2 alternating.cu gemm_alternating __nv_bfloat16 float CUBLAS_COMPUTE_32F"
while read -r name source rung in out math; do
    "$nvcc" -O3 -std=c++17 -I. -gencode arch=compute_90a,code=sm_90a "-DSOURCE=\"lab6_summit/solution/$source\"" \
        "-DRUNG=$rung" "-DIN=$in" "-DOUT=$out" "-DMATH=$math" "$here/stalls.cu" -lcublas -o "$work/$name" &
done <<<"$kernels"
wait
thin=64,8192,8192 flat=8192,8192,256 narrow=8192,64,8192
shapes() { # NAME
    case $1 in
        6.2) echo 1025,1025,1025 2047,2047,2047 4096,4096,4096 8192,8192,8192 $flat ;;
        6.3.4) echo $flat ;;
        6.4.3) echo 2048,2048,2048 4096,4096,4096 8192,8192,8192 256,256,16384 $thin $narrow ;;
        6.4.4) echo 4096,4096,4096 8192,8192,8192 $thin $flat 16,8192,8192 $narrow ;;
        6.4.5) echo $narrow ;;
        6.5.3) echo 1024,1024,1024 2048,2048,2048 8192,8192,8192 256,256,16384 $thin $flat $narrow ;;
        6.6.2) echo 2048,2048,2048 4096,4096,4096 8192,8192,8192 8192,8192,256 ;;
    esac
}
stalls=smsp__average_warps_issue_stalled
pipes=sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
whole=pct_of_peak_sustained_elapsed # of the kernel's time, idle multiprocessors included
pipes=$pipes,sm__cycles_active.avg.$whole,lts__throughput.avg.$whole,dram__throughput.avg.$whole
metrics="gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_active,$pipes,regex:${stalls}_[a-z_]*_per_issue_active"
while read -r name _; do
    [ -x "$work/$name" ] || fail "the program of $name does not compile"
    for shape in $(shapes "$name"); do
        for who in ours cublas; do
            # shellcheck disable=SC2086
            ncu --profile-from-start off --clock-control none --csv --page raw --print-units base --metrics "$metrics" \
                --log-file "$work/csv" "$work/$name" $who ${shape//,/ } >/dev/null ||
                { tail -n 3 "$work/csv" >&2; fail "ncu failed on $name at $shape"; }
            python3 "$here/stalls.py" "$name" "$who" "$shape" <"$work/csv" >>"$work/table" || exit 1
        done
    done
done <<<"$kernels"
{
    echo "${gpu%%,*}, driver${gpu#*,}, CUDA $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'), ncu $(ncu --version |
        sed -n 's/^Version \([^ ]*\).*/\1/p'), commit $commit, $(date -u '+%Y-%m-%d %H:%M UTC')."
    echo "One product with warm caches, at the clocks that the GPU chose. Of each kernel that took a twentieth of the time or more:"
    echo "its share of the time; how busy the schedulers, the FMA pipe and the tensor cores were while a multiprocessor had a block;"
    echo "how much of the kernel's time multiprocessors had one (sm), and L2 and memory were busy; and what warps waited for, in warps"
    echo "per issued instruction; reasons below a twentieth of all are left out."
    cat "$work/table"
} >"$file.new" && mv "$file.new" "$file"
