#!/bin/sh
# What is installed, which device `make check` takes and why, what is missing and the command that installs it.
# --json prints the same for programs. Exit 0 if nothing that is needed is missing, else 3.
# For tests: PROC_VERSION stands in for /proc/version, HERE for the folder of the clone.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/lib.sh"

json=
case ${1:-} in
'') ;;
--json) json=1 ;;
*) fail "usage: doctor.sh [--json]" ;;
esac

trouble_with_tools=
rows= # lines "key|name|state|detail"
row() { rows="$rows$1|$2|$3|$4
"; }

probe_missing

found() { printf '%s\n' "$FOUND" | sed -n "s/^$1 //p"; }
is_missing() { case " $MISSING " in *" $1 "*) true ;; *) false ;; esac; }

make_program=${MAKE:-make}
make_version=$("${make_program%% *}" --version 2>/dev/null | sed -n '1s/.*GNU Make \([0-9.]*\).*/\1/p')
if [ -z "$make_version" ]; then
    row make make missing "GNU make 4 or newer"
elif [ "${make_version%%.*}" -lt 4 ]; then
    row make make old "$make_version; 4 or newer is needed (macOS: brew install make, then gmake)"
    MISSING="$MISSING make"
else
    row make make ok "$make_version"
fi
if [ -n "$TOOLS" ]; then
    if trouble=$(check_tools 2>&1); then
        row programs programs ok "$TOOLS"
    else
        row programs programs missing "$(printf '%s\n' "$trouble" | sed -n '1s/^error: //p')"
        trouble_with_tools=1
    fi
    is_missing cxx && row cxx "C++ library" missing ""
elif probe_cxx; then
    # shellcheck disable=SC2086
    row cxx "C++ compiler" ok "$($CXX -dumpfullversion -dumpversion 2>/dev/null | head -n 1) ($CXX)"
else
    row cxx "C++ compiler" missing "$CXX"
fi
if [ "$CLANG_STATE" = ok ]; then
    row clang clang ok "$CLANG_VERSION ($CLANG)"
else
    row clang clang "$CLANG_STATE" "$(clang_trouble)"
fi
if have git; then row git git ok "$(git --version | sed 's/git version //')"; else row git git missing ""; fi
[ -n "$TOOLS" ] || for pair in catch2:Catch2 cli11:CLI11 json:nlohmann-json toml:toml++ 'fmt:{fmt}' zlib:zlib openmp:OpenMP; do
    key=${pair%%:*}
    if is_missing "$key" || ! probe_cxx; then
        row "$key" "${pair#*:}" missing ""
    else
        version=$(found "$key")
        [ "$version" = yes ] && version=
        row "$key" "${pair#*:}" ok "$version"
    fi
done

nvcc=${NVCC:-nvcc}
toolkit=
if have "${nvcc%% *}"; then
    toolkit=$($nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    if [ -n "$toolkit" ]; then
        row nvcc nvcc ok "$toolkit ($nvcc)"
    else
        row nvcc nvcc broken "$nvcc does not report a version"
    fi
else
    row nvcc nvcc absent "needed only for a real GPU"
fi
# The same rules as grader/gpu/toolchain.cpp, which decides.
gpu=
arch=
runs=
if have nvidia-smi; then
    arch=$(gpu_arch)
    gpu=$(nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader 2>/dev/null | grep '[0-9]\.[0-9]$' | head -n 1)
    runs=$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' | head -n 1)
    if [ -z "$gpu" ]; then
        row gpu GPU absent "nvidia-smi is installed but shows no GPU (is the driver loaded?)"
    elif [ -z "$arch" ]; then
        row gpu GPU hidden "$gpu; CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-} hides it"
    else
        row gpu GPU ok "$gpu${runs:+; its driver runs CUDA $runs}"
    fi
else
    row gpu GPU absent "no NVIDIA driver (nvidia-smi not found)"
fi
if [ -n "$toolkit" ]; then
    sanitizer=compute-sanitizer
    case $nvcc in */*) [ -x "${nvcc%/*}/compute-sanitizer" ] && sanitizer=${nvcc%/*}/compute-sanitizer ;; esac
    if have "$sanitizer"; then
        row sanitizer sanitizer ok "$sanitizer"
    else
        row sanitizer sanitizer absent "no compute-sanitizer: races on the GPU are not detected; it comes with the CUDA toolkit"
    fi
    cublas=
    for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64; do
        for file in "$folder"/libcublas.so.*; do
            [ ! -e "$file" ] || [ -n "$cublas" ] || cublas=$file
        done
    done
    if [ -n "$cublas" ]; then
        row cublas cuBLAS ok "$cublas"
    else
        row cublas cuBLAS absent "not found: speed is judged against the naive kernel alone"
    fi
fi

device=sim
if [ -z "$gpu" ]; then
    why="no CUDA device on this machine"
elif [ -z "$arch" ]; then
    why="CUDA_VISIBLE_DEVICES hides the GPU"
elif [ "$arch" -lt 75 ]; then
    why="the GPU (sm_$arch) is older than sm_75, which the labs need"
elif [ -z "$toolkit" ]; then
    why="there is a GPU but no nvcc (set NVCC= or CUDA_HOME=)"
elif [ -n "$runs" ] && [ "${runs%%.*}" -lt "${toolkit%%.*}" ]; then
    why="the driver supports CUDA up to $runs, but nvcc is from CUDA $toolkit (update the driver)"
else
    device=gpu
    why="there is a GPU, and nvcc; the score itself comes from sim on every machine"
fi

warnings=
warn() { warnings="$warnings$1
"; }
folder=${HERE:-$(pwd)}
if grep -qi microsoft "${PROC_VERSION:-/proc/version}" 2>/dev/null; then
    case $folder in
    /mnt/[a-z]/* | /mnt/[a-z])
        warn "this clone is on the Windows disk ($folder): builds there are many times slower. Clone it below your Linux home folder instead."
        ;;
    esac
fi
[ "$(uname -s)" != Darwin ] || warn "native macOS is untested; use the development container (.devcontainer/)."
case $(uname -m) in
x86_64 | amd64 | aarch64 | arm64) ;;
*) warn "untested processor: $(uname -m)." ;;
esac

install=
# shellcheck disable=SC2086
[ -z "$MISSING" ] || install=$(install_command $MISSING)

if [ -n "$json" ]; then
    quote() { printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | tr '\n\t' '  ')"; }
    printf '{"schema": 1, "system": %s, "machine": %s, "components": {' "$(quote "$(os_name)")" "$(quote "$(uname -m)")"
    printf '%s' "$rows" | {
        comma=
        while IFS='|' read -r key name state detail; do
            printf '%s%s: {"state": %s, "detail": %s}' "$comma" "$(quote "$key")" "$(quote "$state")" "$(quote "$detail")"
            comma=', '
        done
    }
    printf '}, "device": %s, "device_reason": %s, "install": %s, "warnings": [' "$(quote "$device")" "$(quote "$why")" "$(quote "$install")"
    printf '%s' "$warnings" | {
        comma=
        while IFS= read -r line; do
            printf '%s%s' "$comma" "$(quote "$line")"
            comma=', '
        done
    }
    printf ']}\n'
else
    printf 'gemm-lab doctor · %s · %s · %s cores\n\n' "$(os_name)" "$(uname -m)" "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo '?')"
    printf '%s' "$rows" | while IFS='|' read -r key name state detail; do
        printf '  %-14s %-8s %s\n' "$name" "$state" "$detail"
    done
    printf '\n  make check takes %s: %s.\n' "$device" "$why"
    printf '%s' "$warnings" | while IFS= read -r line; do printf '\nwarning: %s\n' "$line"; done
    if [ -n "$MISSING" ]; then
        # shellcheck disable=SC2086
        printf '\nMissing: %s. Install with:\n  make setup\nwhich runs\n  %s\n' "$(names_of $MISSING)" "$install"
    elif [ -n "$trouble_with_tools" ]; then
        printf '\n%s\n' "$trouble"
    else
        printf '\nNothing is missing. Next: make check\n'
    fi
fi
[ -z "$MISSING$trouble_with_tools" ] || exit 3
