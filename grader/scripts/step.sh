#!/bin/sh
# step.sh NAME: one more step of build.sh begins. A line that rewrites itself on a terminal; elsewhere a line for every
# tenth of the steps, so that a log shows that it goes on and stays short.
printf '%s\n' "$1" >>"$GEMM_LAB_STEPS"
terminal=
[ -t 2 ] && [ "${TERM:-dumb}" != dumb ] && terminal=1
awk -v name="$1" -v total="$GEMM_LAB_TOTAL" -v terminal="$terminal" '
    $0 != name { next }
    {
        line = sprintf("[%" length(total) "d/%d] %.60s", NR, total, name)
        if (terminal) printf "\r\033[K%s", line
        else if (NR == 1 || NR == total || int(NR * 10 / total) > int((NR - 1) * 10 / total)) print line
        exit
    }' "$GEMM_LAB_STEPS" >&2
