#!/bin/sh
# The GPU's half of `make verify-counts`: builds each program of FOLDER with nvcc and counts its launches with the
# profiler. Needs nvcc, ncu and the right to read hardware counters; changes no setting of the GPU.
#
#   sh profile.sh FOLDER        run from the project's root; leaves FOLDER/*.csv, *.names and device.json
#   ARCH=90                     of the GPU, as make gives it; default: what the driver says
set -u
folder=${1:?usage: profile.sh FOLDER}
nvcc=${NVCC:-nvcc}
built() { [ -n "$(find "$1" -newer "$1.cu" 2>/dev/null)" ]; }
fail() { echo "error: $*" >&2; exit 3; }
command -v "$nvcc" >/dev/null || fail "no nvcc: install the CUDA toolkit or set NVCC"
command -v ncu >/dev/null || fail "no ncu: install Nsight Compute, or measure on another machine and give MEASURED=folder"
command -v nvidia-smi >/dev/null || fail "no NVIDIA driver here"
arch=${ARCH:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)}
[ "$arch" = 90 ] && arch=90a # wgmma is in no other instruction set
metrics=$(grep -v '^#' "$folder/metrics.txt" | paste -sd, -) || exit 3
# All at once: a program takes nvcc up to a minute, the profiler some seconds. One that is newer than its source stays.
for source in "$folder"/*.cu; do
    program=${source%.cu}
    built "$program" ||
        "$nvcc" -std=c++17 -O3 -gencode "arch=compute_$arch,code=sm_$arch" -I. "$source" -o "$program" &
done
wait
for source in "$folder"/*.cu; do
    program=${source%.cu}
    echo "${program##*/}"
    built "$program" || fail "$source does not compile"
    # The clocks and caches stay as they are: only counts that do not depend on them are read.
    ncu --clock-control none --cache-control none --csv --page raw --print-units base --metrics "$metrics" \
        --log-file "$program.csv" "$program" >"$program.names" ||
        { tail -n 3 "$program.csv"; fail "ncu failed on $program (ERR_NVGPUCTRPERM: counters need root or a driver setting)"; }
done
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)
cat >"$folder/device.json" <<JSON
{
  "gpu": "${gpu%%,*}",
  "driver": "${gpu##*, }",
  "nvcc": "$("$nvcc" --version | sed -n 's/.*release \([^,]*\),.*/\1/p')",
  "ncu": "$(ncu --version | sed -n 's/^Version \([^ ]*\).*/\1/p')",
  "date": "$(date -u +%Y-%m-%d)"
}
JSON
cat "$folder/device.json"
