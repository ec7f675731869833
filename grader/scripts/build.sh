#!/bin/sh
# build.sh OPTION-OR-TARGET...: makes the targets, and says how far it is (step.sh prints the lines). A dry run tells how
# many steps there are; if there is none, that was all. Needs MAKE and BUILD.
set -u
steps=$("$MAKE" -s -n "$@" 2>/dev/null) && [ -z "$steps" ] && exit 0
GEMM_LAB_TOTAL=$(printf '%s\n' "$steps" | grep -c 'scripts/step\.sh')
GEMM_LAB_STEPS=$BUILD/.steps
: >"$GEMM_LAB_STEPS" || exit 3
export GEMM_LAB_TOTAL GEMM_LAB_STEPS
"$MAKE" "$@"
status=$?
[ "$GEMM_LAB_TOTAL" = 0 ] || ! [ -t 2 ] || printf '\r\033[K' >&2
exit "$status"
