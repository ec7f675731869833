#!/bin/sh
# tidy.sh FLAGS...: clang-tidy on every C++ file of the project, two at a time.
set -u
tidy=
for name in clang-tidy clang-tidy-14; do
    command -v "$name" >/dev/null 2>&1 && tidy=$name && break
done
[ -n "$tidy" ] || { echo "error: clang-tidy not found (Debian, Ubuntu: apt-get install clang-tidy)" >&2; exit 3; }
git ls-files -z -co --exclude-standard -- '*.cpp' |
    xargs -0 -r -P "${JOBS:-2}" -I FILE "$tidy" --quiet FILE -- -Wno-unknown-warning-option "$@" 2>/dev/null
