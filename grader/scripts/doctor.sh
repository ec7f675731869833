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
if probe_cxx; then
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
for pair in catch2:Catch2 cli11:CLI11 json:nlohmann-json toml:toml++ openmp:OpenMP; do
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
have_nvcc=
if have "${nvcc%% *}"; then
    have_nvcc=1
    row nvcc nvcc ok "$($nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p') ($nvcc)"
else
    row nvcc nvcc absent "only a real GPU needs it"
fi
gpu=
if have nvidia-smi; then
    gpu=$(nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
    if [ -n "$gpu" ]; then
        row gpu GPU ok "$gpu"
    else
        row gpu GPU absent "nvidia-smi is there but shows no GPU (driver not loaded?)"
    fi
else
    row gpu GPU absent "no NVIDIA driver (nvidia-smi not found)"
fi

if [ -n "$gpu" ] && [ -n "$have_nvcc" ]; then
    device=gpu
    why="a GPU and nvcc are here; the score itself comes from sim, everywhere"
elif [ -n "$gpu" ]; then
    device=sim
    why="there is a GPU but no nvcc (set NVCC= or CUDA_HOME=)"
else
    device=sim
    why="no CUDA device on this machine"
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
    else
        printf '\nNothing is missing. Next: make check\n'
    fi
fi
[ -z "$MISSING" ] || exit 3
