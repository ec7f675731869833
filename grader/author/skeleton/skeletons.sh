#!/bin/bash
# skeletons.sh [--check] [LABFOLDER...]: makes labN_*/gemm.cu from labN_*/solution/gemm.cu, and so for every other .cu
# in the folder solution. All labs if none is named.
# Needs SKELETON (the program) and BUILD. --check changes nothing and fails where a skeleton is not what its master gives.
#
# An edited file is never overwritten, unless FORCE=1, which keeps a backup beside it. Edited means: it is neither
# what this script wrote last, nor the skeleton of any committed version of its master.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../../scripts/lib.sh"

check=
: "${SKELETON:?}" "${BUILD:?}"
[ "${1:-}" != --check ] || { check=1; shift; }
[ $# -gt 0 ] || set -- lab[0-9]*_*
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

was_generated() { # skeleton master remembered
    [ -f "$3" ] && cmp -s "$1" "$3" && return 0
    git rev-parse -q --verify HEAD >/dev/null 2>&1 || return 1
    for commit in $(git log --format=%H -n 200 -- "$2"); do
        git show "$commit:./$2" >"$work/old_master" 2>/dev/null || continue
        "$SKELETON" strip "$work/old_master" >"$work/old_skeleton" 2>/dev/null || continue
        cmp -s "$1" "$work/old_skeleton" && return 0
    done
    return 1
}

status=0
masters=()
for lab in "$@"; do
    for master in "${lab%/}"/solution/*.cu; do
        [ ! -f "$master" ] || masters+=("$master")
    done
done
for master in "${masters[@]}"; do
    lab=${master%/solution/*}
    name=${master##*/}
    skeleton=$lab/$name
    remembered=$BUILD/skeletons/$lab.cu
    [ "$name" = gemm.cu ] || remembered=$BUILD/skeletons/$lab.$name
    if ! "$SKELETON" strip "$master" >"$work/new"; then
        status=1
        continue
    fi
    if [ -f "$skeleton" ] && cmp -s "$work/new" "$skeleton"; then
        [ -n "$check" ] || echo "$skeleton: up to date"
    elif [ -n "$check" ]; then
        echo "$skeleton: not what $master gives; run: make skeletons"
        status=1
        continue
    elif [ -f "$skeleton" ] && ! was_generated "$skeleton" "$master" "$remembered"; then
        if [ "${FORCE:-}" != 1 ]; then
            echo "error: $skeleton was edited; nothing written. FORCE=1 makes a backup and overwrites it." >&2
            status=1
            continue
        fi
        kept=$(backup "$skeleton") || exit 3
        cp "$work/new" "$skeleton" || exit 3
        echo "$skeleton: written; the edited one is now $kept"
    else
        cp "$work/new" "$skeleton" || exit 3
        echo "$skeleton: written"
    fi
    [ -n "$check" ] || { mkdir -p "$BUILD/skeletons" && cp "$work/new" "$remembered"; } || exit 3
done
exit $status
