#!/bin/bash
# record_check.sh FILE [SETTING=VALUE ...]: runs `make check SOLUTION=1 DEVICE=gpu` with those settings, and writes what it
# printed to FILE behind a head that says where and when: docs/results/h200/check.txt is made so. GEMM_LAB_COMMIT= names the
# commit where the sources were sent without their history. The exit status is the check's; FILE is replaced in one step,
# and only by a check that came to its end with a GPU: one that failed is a result, one that could not be run is none.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../scripts/lib.sh"

case ${1:-} in
'' | -* | *=*)
    echo "usage: bash grader/author/record_check.sh FILE [SETTING=VALUE ...]" >&2
    exit 4
    ;;
esac
file=$1
shift
if [ -d "$file" ] || [ ! -d "$(dirname "$file")" ]; then fail "'$file': there is no such folder, or it is one"; fi

# The commit of what is measured, so before the run. The record itself may differ from the last one.
commit=${GEMM_LAB_COMMIT:-}
if [ -z "$commit" ]; then
    commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || fail "no commit to name: git does not know this folder" "GEMM_LAB_COMMIT=... names it"
    name=$(realpath -m --relative-to=. "$file")
    case $name in ../*) own=(.) ;; *) own=(. ":(exclude)$name") ;; esac
    [ -z "$(git status --porcelain -- "${own[@]}" 2>/dev/null)" ] || commit=$commit+changes
fi
# Several GPUs of one machine share a driver. Which of them was taken, and the rest, the check itself says.
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$driver" ] || fail "no GPU: nvidia-smi names no driver"

# Paths of this machine say nothing elsewhere; the versions of what lies there stand in the head.
command="make check SOLUTION=1 DEVICE=gpu"
for setting in "$@"; do
    case $setting in BUILD=* | JOBS=* | CXX=* | CLANG=* | NVCC=* | CUDA_HOME=* | CUDA_PATH=* | DEPS=*) ;; *) command="$command $(printf %q "$setting")" ;; esac
done

new=$file.new.$$
trap 'rm -f "$new" "$new.head"' EXIT
trap 'exit 130' INT TERM
when=$(date -u '+%Y-%m-%d %H:%M UTC')
start=$SECONDS
"${MAKE:-make}" check SOLUTION=1 DEVICE=gpu "$@" </dev/null | tee "$new"
status=${PIPESTATUS[0]}
seconds=$((SECONDS - start))

# Both lines may be broken at any blank: paragraphs are read, not lines.
paragraphs() { awk -v RS= -v FS='\n' -v begins="$1" 'index($0, begins) == 1 { gsub(/\n */, " "); print }' "$new"; }
about=$(paragraphs "GPU: " | head -n 1)
gpu=$(sed -n 's/^GPU: \(.*\) (sm_[0-9]*).*/\1/p' <<<"$about")
cuda=$(sed -n 's/.*, CUDA \([0-9.]*[0-9]\).*/\1/p' <<<"$about")
clang=$(paragraphs "gemm-lab check " | sed -n 's/.* clang \([0-9.]*\).*/\1/p' | sort -u | paste -sd ' ')
if [ -z "$gpu" ] || [ -z "$cuda" ] || [ -z "$clang" ] || ! grep -qE '^on the GPU: [0-9]+ of [0-9]+ stages right' "$new"; then
    fail "the check could not be run on a GPU (exit status $status): '$file' is as it was"
fi
case $about in *"driver $driver,"*) ;; *) fail "the check names another driver than nvidia-smi's $driver: '$file' is as it was" ;; esac

if ! {
    echo "# $command, as printed on one $gpu"
    echo "# driver $driver, CUDA $cuda, clang $clang, $(nproc) cores, $seconds s, exit status $status"
    echo "# $when, commit $commit"
    cat "$new"
} >"$new.head" || ! mv -f "$new.head" "$file"; then fail "'$file' cannot be written"; fi
exit "$status"
