#!/bin/sh
# format.sh [--check]: clang-format on every source in the tree, in place or only checked. Masters and skeletons are
# formatted like all else; a skeleton follows from its master.
set -u
formatter=
for name in clang-format-14 clang-format; do
    command -v "$name" >/dev/null 2>&1 && formatter=$name && break
done
[ -n "$formatter" ] || { echo "error: clang-format not found (Debian, Ubuntu: apt-get install clang-format)" >&2; exit 3; }
if [ "${1:-}" = --check ]; then set -- --dry-run -Werror; else set -- -i; fi
git ls-files -z -co --exclude-standard -- '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.h' | xargs -0 -r "$formatter" "$@"
