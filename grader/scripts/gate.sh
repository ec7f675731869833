#!/bin/sh
# Before anything is built: can it be? Quiet if so. Installs what is missing where that needs no question (root, CI,
# YES=1), else prints the one command. Runs on every `make check`, so it costs tens of milliseconds.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/lib.sh"

build=${BUILD:-build}
[ -e "$build" ] || sh "$here/new_build.sh" "$build" 2>/dev/null
if ! [ -d "$build" ] || ! [ -w "$build" ]; then
    fail "cannot write to the build folder '$build'." "Choose another one: make check BUILD=\$HOME/gemm-lab-build"
fi

[ -z "$TOOLS" ] || check_tools
probe_missing
[ -n "$MISSING" ] || exit 0

# A clang that is there but does not do is the user's choice: say so instead of installing over it.
case "$CLANG_STATE" in
apple | old)
    if [ "$(os_family)" != debian ] || [ -n "${CLANG_CHOSEN:-}" ]; then
        fail "$(clang_trouble)"
    fi
    ;;
missing) [ -z "${CLANG_CHOSEN:-}" ] || fail "CLANG=$CLANG: no such program." ;;
esac
if [ -n "${CXX_CHOSEN:-}" ] && ! probe_cxx; then fail "CXX=$CXX: does not start."; fi

if [ "$(id -u)" = 0 ] || [ -n "${CI:-}" ] || [ "${YES:-}" = 1 ]; then
    exec sh "$here/setup.sh"
fi
# shellcheck disable=SC2086
fail "not installed: $(names_of $MISSING). Install with:" "make setup"
