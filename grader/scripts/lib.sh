# shellcheck shell=sh
# Shared by the scripts here: what this machine has. POSIX sh, sourced, prints nothing by itself.
# Callers may set CXX, CLANG, NVCC, DEPS and BUILD; the Makefile exports them.

# Where the programs came ready-made: the folder for this machine, there or not. Empty: they are built from their sources.
TOOLS=
[ ! -d tools ] || TOOLS=tools/$(uname -m | sed 's/^arm64$/aarch64/')

# Oldest clang whose CUDA front end gives the PTX that the simulated GPU counts on.
CLANG_OLDEST=14

have() { command -v "$1" >/dev/null 2>&1; }

fail() { # message...: one error on stderr, exit 3 (the machine's fault, not the student's)
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 3
}

# First clang++ to try: the plain name, else the newest versioned one.
find_clang() {
    for name in clang++ clang++-22 clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 \
        clang++-14; do
        if have "$name"; then
            echo "$name"
            return
        fi
    done
    echo clang++
}

CLANG=${CLANG:-$(find_clang)}
if [ -z "${CXX:-}" ]; then
    if have g++; then CXX=g++; else CXX=$CLANG; fi
fi

# Sets CLANG_STATE to ok, missing, apple or old, and CLANG_VERSION.
probe_clang() {
    CLANG_VERSION=
    CLANG_STATE=missing
    have "$CLANG" || return 0
    clang_banner=$("$CLANG" --version 2>/dev/null | head -n 1)
    CLANG_VERSION=$(printf '%s\n' "$clang_banner" | sed -n 's/.*version \([0-9][0-9.]*\).*/\1/p')
    case $clang_banner in
    *Apple*) CLANG_STATE=apple ;;
    *clang*)
        if [ "${CLANG_VERSION%%.*}" -ge "$CLANG_OLDEST" ] 2>/dev/null; then
            CLANG_STATE=ok
        else
            CLANG_STATE=old
        fi
        ;;
    esac
}

# One sentence for a CLANG_STATE other than ok.
clang_trouble() {
    case $CLANG_STATE in
    apple) echo "$CLANG is Apple's clang, which has no CUDA; LLVM's clang $CLANG_OLDEST or newer is needed (set CLANG=)" ;;
    old) echo "$CLANG is version ${CLANG_VERSION:-unknown}; $CLANG_OLDEST or newer is needed (set CLANG=)" ;;
    *) echo "$CLANG not found" ;;
    esac
}

# True if $CXX is a compiler that starts. CXX may hold a launcher: 'ccache g++'.
probe_cxx() {
    # shellcheck disable=SC2086
    $CXX --version >/dev/null 2>&1
}

# Preprocesses one probe with $CXX and prints a line "key value" for each library found.
probe_libraries() {
    # shellcheck disable=SC2086
    $CXX -std=c++20 -fopenmp ${DEPS:+-isystem "$DEPS/include"} -x c++ -E -P - 2>/dev/null <<'PROBE' | sed -n 's/^found //p' | tr -d ' "' | tr ':' ' '
#if __has_include(<catch2/catch_version_macros.hpp>)
#include <catch2/catch_version_macros.hpp>
found catch2:CATCH_VERSION_MAJOR.CATCH_VERSION_MINOR.CATCH_VERSION_PATCH
#elif __has_include(<catch2/catch.hpp>)
found catch2:2
#endif
#if __has_include(<CLI/Version.hpp>)
#include <CLI/Version.hpp>
found cli11:CLI11_VERSION
#elif __has_include(<CLI/CLI.hpp>)
found cli11:yes
#endif
#if __has_include(<nlohmann/detail/abi_macros.hpp>)
#include <nlohmann/detail/abi_macros.hpp>
found json:NLOHMANN_JSON_VERSION_MAJOR.NLOHMANN_JSON_VERSION_MINOR.NLOHMANN_JSON_VERSION_PATCH
#elif __has_include(<nlohmann/json.hpp>)
found json:yes
#endif
#if __has_include(<toml++/impl/version.h>)
#include <toml++/impl/version.h>
found toml:TOML_LIB_MAJOR.TOML_LIB_MINOR.TOML_LIB_PATCH
#elif __has_include(<toml++/impl/version.hpp>)
#include <toml++/impl/version.hpp>
found toml:TOML_LIB_MAJOR.TOML_LIB_MINOR.TOML_LIB_PATCH
#elif __has_include(<toml++/toml.h>)
found toml:yes
#endif
#if __has_include(<fmt/core.h>)
found fmt:yes
#endif
#if __has_include(<zlib.h>)
#include <zlib.h>
found zlib:ZLIB_VERSION
#endif
#if __has_include(<omp.h>)
found openmp:_OPENMP
#endif
PROBE
}

# What is needed, as lines "key|name shown|Debian package".
needed() {
    cat <<'LIST'
make|make|make
cxx|C++ compiler|g++
git|git|git
clang|clang|clang
catch2|Catch2|catch2
cli11|CLI11|libcli11-dev
json|nlohmann-json|nlohmann-json3-dev
toml|toml++|libtomlplusplus-dev
fmt|{fmt}|libfmt-dev
zlib|zlib|zlib1g-dev
openmp|OpenMP|libgomp1
bwrap|bubblewrap|bubblewrap
python|Python 3|python3
seccomp|libseccomp|libseccomp-dev
archive|libarchive|libarchive-dev
yaml|yaml-cpp|libyaml-cpp-dev
utf8proc|utf8proc|libutf8proc-dev
LIST
}

# Sets MISSING to the keys of what is needed and absent, FOUND to probe_libraries' lines.
probe_missing() {
    MISSING=
    FOUND=
    have make || MISSING="$MISSING make"
    have git || MISSING="$MISSING git"
    probe_clang
    [ "$CLANG_STATE" = ok ] || MISSING="$MISSING clang"
    if [ -n "$TOOLS" ]; then
        # clang alone compiles here, and needs a C++ library; where there is none, it comes with g++.
        if [ "$CLANG_STATE" = ok ] && ! echo '#include <vector>' | "$CLANG" -x c++ -E - >/dev/null 2>&1; then
            MISSING="$MISSING cxx"
        fi
    elif probe_cxx; then
        FOUND=$(probe_libraries)
        for key in catch2 cli11 json toml fmt zlib openmp; do
            case "
$FOUND" in
            *"
$key "*) ;;
            *) MISSING="$MISSING $key" ;;
            esac
        done
    else
        # Without a compiler the headers can only be guessed at: name them all, the package manager skips what is there.
        MISSING="$MISSING cxx catch2 cli11 json toml fmt zlib"
    fi
    # STAFF=1: what `make grade` puts around strangers' code, what it reads their archives and lists with, and writes
    # pages with.
    if [ "${STAFF:-}" = 1 ]; then
        have bwrap || MISSING="$MISSING bwrap"
        have "${PYTHON:-python3}" || MISSING="$MISSING python"
        for pair in seccomp:seccomp.h archive:archive.h yaml:yaml-cpp/yaml.h utf8proc:utf8proc.h; do
            [ -e "${DEPS:-}/include/${pair#*:}" ] || [ -e "/usr/include/${pair#*:}" ] || [ -e "/usr/local/include/${pair#*:}" ] ||
                MISSING="$MISSING ${pair%%:*}"
        done
    fi
}

# One clear message where TOOLS is not what the labs here need.
check_tools() {
    if [ ! -e "$TOOLS/grader" ]; then
        fail "this handout has programs for $(cd tools && echo * | sed 's/ /, /g'), but this machine is ${TOOLS#*/}." \
            "Ask your instructor for one made with SOURCES=1, which compiles them."
    fi
    [ -x "$TOOLS/grader" ] || fail "the programs in $TOOLS are no longer executable:" "chmod +x $TOOLS/*"
    wrong=$(sha256sum -c --quiet "$TOOLS/labs" 2>/dev/null | sed -n '1s/: .*//p')
    for file in lab[0-9]*_*/lab.toml; do
        [ -n "$wrong" ] || grep -q " $file\$" "$TOOLS/labs" || wrong=$file
    done
    [ -z "$wrong" ] || fail "$wrong is not of the version that the programs in $TOOLS grade." \
        "Labs and programs come from one handout: git pull brings both; git checkout $wrong undoes a change."
}

# Names shown for keys: names_of clang catch2 -> "clang, Catch2"
names_of() {
    names=
    for key in "$@"; do
        names="$names${names:+, }$(needed | sed -n "s/^$key|\([^|]*\)|.*/\1/p")"
    done
    echo "$names"
}

# Debian packages for keys. OpenMP is part of g++; clang as CXX needs its own.
packages_of() {
    packages=
    for key in "$@"; do
        package=$(needed | sed -n "s/^$key|[^|]*|//p")
        if [ "$key" = openmp ]; then
            case $CXX in *clang*) package=libomp-dev ;; *) package=g++ ;; esac
        fi
        packages="$packages${packages:+ }$package"
    done
    echo "$packages"
}

# The architecture of the GPU that a CUDA program would take ("90"), honouring CUDA_VISIBLE_DEVICES; nothing if there is
# none. The grader decides more carefully (grader/gpu/toolchain.cpp); this is for compiling the timing worker.
gpu_arch() {
    have nvidia-smi || return 0
    nvidia-smi --query-gpu=index,uuid,compute_cap --format=csv,noheader 2>/dev/null | awk -F ', *' \
        -v chosen="${CUDA_VISIBLE_DEVICES-all}" '
        BEGIN { sub(/,.*/, "", chosen) }
        NF == 3 && $3 ~ /^[0-9]+\.[0-9]$/ && (chosen == "all" || chosen == $1 || chosen != "" && index($2, chosen) == 1 || chosen ~ /^MIG-/) {
            sub(/\./, "", $3); print $3; exit
        }'
}

os_name() {
    if [ -r /etc/os-release ]; then
        # shellcheck disable=SC1091
        (. /etc/os-release && echo "${PRETTY_NAME:-$ID}")
    else
        uname -sr
    fi
}

# debian, fedora, arch, suse, macos or other
os_family() {
    if [ "$(uname -s)" = Darwin ]; then
        echo macos
        return
    fi
    # shellcheck disable=SC1090,SC2031
    ids=$( (. "${OS_RELEASE:-/etc/os-release}" && echo "$ID ${ID_LIKE:-}") 2>/dev/null)
    case " $ids " in
    *" debian "* | *" ubuntu "*) echo debian ;;
    *" fedora "* | *" rhel "*) echo fedora ;;
    *" arch "*) echo arch ;;
    *suse*) echo suse ;;
    *) echo other ;;
    esac
}

# Packages that only the programs' sources need.
to_build() { [ -n "$TOOLS" ] || printf ' %s' "$@"; }

# The command that installs the given keys here, or a sentence where there is none.
install_command() {
    sudo=
    [ "$(id -u)" = 0 ] || sudo='sudo '
    case $(os_family) in
    debian) echo "${sudo}apt-get install -y $(packages_of "$@")" ;;
    fedora) echo "${sudo}dnf install make git gcc-c++ clang$(to_build catch-devel cli11-devel json-devel tomlplusplus-devel fmt-devel zlib-devel)" ;;
    arch) echo "${sudo}pacman -S --needed make git gcc clang$(to_build catch2 cli11 nlohmann-json tomlplusplus fmt zlib)" ;;
    suse) echo "${sudo}zypper install make git gcc-c++ clang$(to_build Catch2-devel cli11-devel nlohmann_json-devel tomlplusplus-devel fmt-devel zlib-devel)" ;;
    macos) echo "open the folder in its development container (.devcontainer/); native macOS is untested" ;;
    *) echo "install with your package manager: $(names_of "$@")" ;;
    esac
}

# backup FILE: copies it to FILE.backup-N, N the first that is free, and prints that name.
backup() {
    n=1
    while [ -e "$1.backup-$n" ]; do n=$((n + 1)); done
    cp -p "$1" "$1.backup-$n" && echo "$1.backup-$n"
}
