#!/bin/bash
# on_gpu.sh FILE: builds programs/ with nvcc, runs them on this machine's GPU, and writes to FILE which of them print there what
# they print on the simulated one. Exit status 1 if one differs for which on_gpu.txt has no reason.
#
# Left out are programs with findings: what a GPU does with a mistake is not defined. Needs nvcc with cuBLAS and cuRAND, and a GPU;
# some programs are for Hopper. GEMM_LAB_COMMIT= names the commit where the sources were sent without their history.
set -u
cd "$(dirname "$0")/../../.." || exit 3
tests=common/simgpu/tests
# shellcheck source=grader/scripts/lib.sh
. grader/scripts/lib.sh
case ${1:-} in '' | -*) echo "usage: bash $tests/on_gpu.sh FILE" >&2; exit 4 ;; esac
nvcc=${NVCC:-nvcc}
have "$nvcc" || fail "no nvcc: install the CUDA toolkit or set NVCC"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || fail "no GPU: nvidia-smi names none"
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
[ "$arch" != 90 ] || arch=90a
commit=${GEMM_LAB_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null)}
[ -n "$commit" ] || fail "no commit to name: git does not know this folder" "GEMM_LAB_COMMIT=... names it"

work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
build() { # NAME: one file, or all of a folder
    local sources=("$tests/programs/$1.cu")
    [ ! -d "$tests/programs/$1" ] || sources=("$tests/programs/$1"/*.cu "$tests/programs/$1"/*.cpp)
    "$nvcc" -std=c++17 --extended-lambda -gencode "arch=compute_$arch,code=sm_$arch" "${sources[@]}" -o "$work/$1" \
        -lcublas -lcublasLt -lcurand -lcuda >"$work/$1.build" 2>&1
}
names=()
for output in "$tests"/programs/*.out; do
    name=$(basename "$output" .out)
    [ -e "$tests/programs/$name.err" ] || names+=("$name")
done
for name in "${names[@]}"; do
    while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    build "$name" &
done
wait

same=0 explained=0 different=0
for name in "${names[@]}"; do
    if [ ! -x "$work/$name" ]; then
        said="does not compile: $(grep -m 1 error "$work/$name.build")"
    else
        timeout 60 "$work/$name" >"$work/$name.out" 2>/dev/null </dev/null
        said=$(diff "$tests/programs/$name.out" "$work/$name.out") && { same=$((same + 1)); continue; }
    fi
    reason=$(sed -n "s/^$name: //p" "$tests/on_gpu.txt")
    if [ -n "$reason" ]; then
        explained=$((explained + 1))
        echo "$name: another output, as expected: $reason" >>"$work/table"
    else
        different=$((different + 1))
        printf '%s: DIFFERS (<: simulated, >: GPU)\n%s\n' "$name" "$said" >>"$work/table"
    fi
done
{
    echo "# The programs of $tests/programs that have no findings, on one ${gpu%%,*}: driver${gpu#*,}, CUDA $("$nvcc" --version |
        sed -n 's/.*release \([0-9.]*\).*/\1/p'), commit $commit, $(date -u +%Y-%m-%d)."
    echo "$same of ${#names[@]} print what they print on the simulated GPU, $explained differ for a reason, $different without."
    [ ! -e "$work/table" ] || cat "$work/table"
} >"$1.new" || fail "'$1' cannot be written"
mv "$1.new" "$1" || fail "'$1' cannot be written"
cat "$1"
[ "$different" = 0 ]
