#!/bin/bash
# test.sh PROGRAM...: runs Catch2 programs (*_tests) and shell tests (*.sh), two at a time (TEST_JOBS), and adds them up.
# One line each as it ends; the whole output of what failed. The last line is "N passed, N failed", and the exit status
# says the same. A program that dies or whose closing line cannot be read counts as one failure more. TEST_SECONDS: the
# file that gets how long all took, for make house. CHANGED=1 leaves out what cannot have come to fail since the commit that
# since.sh compares with, and says so; without it, all that is named is run.
set -u
export -n TEST_SECONDS CHANGED # not for tests that run this script
since=
if [ "${CHANGED:-}" = 1 ]; then
    # shellcheck source=grader/scripts/since.sh
    . grader/scripts/since.sh
    # shellcheck source=grader/tests/depends.bash
    . grader/tests/depends.bash
    since=$(since_commit)
fi
logs=$(mktemp -d) || exit 3
trap 'rm -rf "$logs"' EXIT
stop() {
    local job
    for job in $(jobs -p); do pkill -TERM -P "$job"; kill "$job"; done 2>/dev/null
    exit 130
}
trap stop INT TERM

# run NUMBER PROGRAM: leaves NUMBER.counts (passed, failed) and prints the result in one piece.
run() {
    local log=$logs/$1 program=$2 start=$SECONDS ok=0 bad=0 status last
    local TIMEFORMAT='%U %S' user system
    { time case $program in
    *.sh) bash "$program" ;;
    # -w NoTests: a program whose cases were all lost must not pass.
    *) "$program" -w NoTests ;;
    esac >"$log" 2>&1 </dev/null; } 2>"$log.time"
    status=$?
    read -r user system <"$log.time"
    last=$(grep -E '^([0-9]+ passed, [0-9]+ failed|All tests passed \(.*\)|test cases: .*)$' "$log" | tail -n 1)
    case $last in
    *' passed, '*' failed')
        ok=${last%% *}
        bad=${last#* passed, }
        bad=${bad%% *}
        ;;
    'All tests passed'*)
        ok=$(sed -n 's/.* in \([0-9]*\) test cases\{0,1\})$/\1/p' <<<"$last")
        ;;
    'test cases:'*)
        ok=$(sed -n 's/.*| *\([0-9]*\) passed.*/\1/p' <<<"$last")
        bad=$(sed -n 's/.*| *\([0-9]*\) failed\( .*\)\{0,1\}$/\1/p' <<<"$last")
        ;;
    esac
    ok=${ok:-0}
    bad=${bad:-0}
    if [ -z "$last" ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then bad=$((bad + 1)); fi
    {
        if [ "$bad" -ne 0 ]; then
            cat "$log"
            printf 'FAIL  '
        else
            printf 'ok    '
        fi
        printf '%-28s %5d passed, %d failed, %d s (%d s of a processor)' "$(basename "$program")" "$ok" "$bad" $((SECONDS - start)) $((${user%.*} + ${system%.*}))
        [ "$status" -eq 0 ] || printf ' (exit status %d)' "$status"
        printf '\n'
    } >"$log.result"
    cat "$log.result" # at once: two that end together must not mix their lines
    echo "$ok $bad" >"$log.counts"
}

number=0
for program in "$@"; do
    name=$(basename "$program")
    LEFT_OUT=
    if [ -n "$since" ]; then
        if left_out "$since" "$name"; then
            printf 'same  %-28s nothing that it depends on has changed since %s\n' "$name" "${since:0:9}"
            continue
        fi
        for part in "${!depends[@]}"; do
            [[ $part = "$name"/* ]] && left_out "$since" "$part" || continue
            LEFT_OUT+=" ${part#*/}"
            printf 'same  %-28s nothing that it depends on has changed since %s\n' "$part" "${since:0:9}"
        done
    fi
    export LEFT_OUT # parts of it
    while [ "$(jobs -pr | wc -l)" -ge "${TEST_JOBS:-2}" ]; do wait -n; done
    number=$((number + 1))
    run "$number" "$program" &
done
wait
passed=0
failed=0
for ((i = 1; i <= number; i++)); do
    ok=0
    bad=1 # no result at all
    [ ! -s "$logs/$i.counts" ] || read -r ok bad <"$logs/$i.counts"
    passed=$((passed + ok))
    failed=$((failed + bad))
done
[ $((passed + failed)) -gt 0 ] || failed=1
[ -z "${TEST_SECONDS:-}" ] || echo "$SECONDS" >"$TEST_SECONDS"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
