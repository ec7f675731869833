#!/bin/bash
# stalls.sh FILE: what warps of lab 6's kernels wait for, and those of cuBLAS's beside them, at the shapes where a kernel is
# behind its bar (docs/lab6-bars.md) or was never looked at, and at one where it is not: docs/results/h200/stalls-lab-6.txt. What
# it needs stands in profiling.bash.
set -u
here=$(dirname "$0")
# shellcheck source=grader/author/sweep/profiling.bash
. "$here/profiling.bash"

# name, source, launcher, types of factors and of C, cuBLAS's math
kernels="6.2 gemm.cu gemm_every_shape float float CUBLAS_COMPUTE_32F
6.3.4 three_wgmma.cu gemm_three_wgmma float float CUBLAS_COMPUTE_32F
6.4.3 tensor_shapes.cu gemm_tensor_shapes __nv_bfloat16 float CUBLAS_COMPUTE_32F
6.4.4 tensor_shapes.cu gemm_tf32_shapes float float CUBLAS_COMPUTE_32F_FAST_TF32
6.4.5 tensor_shapes.cu gemm_three_shapes float float CUBLAS_COMPUTE_32F
6.5.3 fp64_shapes.cu gemm_f64_stream_k double double CUBLAS_COMPUTE_64F
6.5.4 fp64_aligned.cu gemm_f64_aligned double double CUBLAS_COMPUTE_64F
6.6.2 alternating.cu gemm_alternating __nv_bfloat16 float CUBLAS_COMPUTE_32F"
compile_kernels stalls -lcublas
thin=64,8192,8192 flat=8192,8192,256 narrow=8192,64,8192
shapes() { # NAME
    case $1 in
        6.2) echo 1025,1025,1025 2047,2047,2047 4096,4096,4096 8192,8192,8192 $flat ;;
        6.3.4) echo $flat ;;
        6.4.3) echo 2048,2048,2048 4096,4096,4096 8192,8192,8192 256,256,16384 $thin $narrow ;;
        6.4.4) echo 4096,4096,4096 8192,8192,8192 $thin $flat 16,8192,8192 $narrow ;;
        6.4.5) echo $narrow ;;
        6.5.3) echo 1024,1024,1024 2048,2048,2048 8192,8192,8192 256,256,16384 $thin $flat $narrow ;;
        6.5.4) echo 2048,2048,2048 4096,4096,4096 8192,8192,8192 ;;
        6.6.2) echo 2048,2048,2048 4096,4096,4096 8192,8192,8192 8192,8192,256 ;;
    esac
}
stalls=smsp__average_warps_issue_stalled
pipes=sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
whole=pct_of_peak_sustained_elapsed # of the kernel's time, idle multiprocessors included
pipes=$pipes,sm__cycles_active.avg.$whole,lts__throughput.avg.$whole,dram__throughput.avg.$whole
metrics="gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_active,$pipes,regex:${stalls}_[a-z_]*_per_issue_active"
while read -r name _; do
    for shape in $(shapes "$name"); do
        for who in ours cublas; do
            profile "$name" $who "$shape" "$metrics" "$work/csv"
            python3 "$here/stalls.py" "$name" "$who" "$shape" <"$work/csv" >>"$work/table" || exit 1
        done
    done
done <<<"$kernels"
{
    measured_on
    echo "One product with warm caches, at the clocks that the GPU chose. Of each kernel that took a twentieth of the time or more:"
    echo "its share of the time; how busy the schedulers, the FMA pipe and the tensor cores were while a multiprocessor had a block;"
    echo "how much of the kernel's time multiprocessors had one (sm), and L2 and memory were busy; and what warps waited for, in warps"
    echo "per issued instruction; reasons below a twentieth of all are left out."
    cat "$work/table"
} >"$file.new" && mv "$file.new" "$file"
