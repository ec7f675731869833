#!/bin/bash
# power.sh FILE: how fast lab 6's kernels and cuBLAS's are under lasting load, and at what clock and power, at the large
# squares where a kernel is behind its bar (docs/lab6-bars.md): docs/results/h200/power-lab-6.txt. What it needs stands in
# profiling.bash.
set -u
here=$(dirname "$0")
# shellcheck source=grader/author/sweep/profiling.bash
. "$here/profiling.bash"
limit=$(nvidia-smi --query-gpu=power.limit --format=csv,noheader | head -n 1)

# name, source, launcher, types of factors and of C, cuBLAS's math, shapes
kernels="6.5.2 fp64_shapes.cu gemm_f64_shapes double double CUBLAS_COMPUTE_64F 2048,2048,2048 4096,4096,4096 8192,8192,8192
6.5.3 fp64_shapes.cu gemm_f64_stream_k double double CUBLAS_COMPUTE_64F 2048,2048,2048 4096,4096,4096 8192,8192,8192
6.5.4 fp64_aligned.cu gemm_f64_aligned double double CUBLAS_COMPUTE_64F 2048,2048,2048 4096,4096,4096 8192,8192,8192
6.4.4 tensor_shapes.cu gemm_tf32_shapes float float CUBLAS_COMPUTE_32F_FAST_TF32 4096,4096,4096 8192,8192,8192"
compile_kernels power -lcublas -ldl
pipes=smsp__issue_active.avg.pct_of_peak_sustained_active,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
launch=launch__grid_size,launch__block_size,launch__registers_per_thread,launch__shared_mem_per_block
metrics="gpu__time_duration.sum,lts__t_sectors.sum,dram__bytes.sum,$pipes,$launch"
while read -r name _ _ _ _ _ shapes; do
    for shape in $shapes; do
        # shellcheck disable=SC2086
        "$work/$name" ${shape//,/ } 1 4 >"$work/lasting" || fail "$name broke off at $shape"
        for who in ours cublas; do
            profile "$name" $who "$shape" "$metrics" "$work/$who.csv"
        done
        python3 "$here/power.py" "$name" "$shape" "$work/lasting" "$work/ours.csv" "$work/cublas.csv" >>"$work/table" || exit 1
    done
done <<<"$kernels"
{
    echo "$(measured_on) Power limit: $limit."
    cat <<'HEAD'
A kernel and cuBLAS's in turns, a second each and four times, after a second of cuBLAS; product after product, none of A, B or
C the same as of the one before, random data, results compared: TFLOP/s, the ratio to cuBLAS in the same turn (median, least and
most), the clock and the power that NVML read. Then one product under the profiler, which is too short for the power
limit: cycles in which tensor cores were busy, and in which schedulers issued, in %; GB read and written in L2 and in
memory; blocks x threads, registers per thread, shared memory per block, the kernel.

kernel M x N x K       who     TFLOP/s ratio                  MHz     W  tensor  issue      L2  memory  launch
HEAD
    cat "$work/table"
} >"$file.new" && mv "$file.new" "$file"
