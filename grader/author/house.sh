#!/bin/bash
# house.sh: how large the house is, beside what it may be at most. Every figure with the files or the command that it
# comes from. The exit status is 1 if something is over its limit. Needs BUILD; lizard is installed into BUILD/venv.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../scripts/lib.sh"
build=${BUILD:-build}
over=0

figure() { # NAME VALUE LIMIT
    local mark=ok
    [ "$2" -le "$3" ] || { mark=OVER; over=1; }
    printf '%-4s  %-50s %7d   at most %d\n' "$mark" "$1" "$2" "$3"
}
lines() { # of the files named on stdin
    tr '\n' '\0' | xargs -0 -r cat | wc -l
}
tracked() { git ls-files -- "$@"; }

echo "The reading path: solution and given of labs 1 to 5, and common without simgpu; apart, lab 6, which is a bonus"
figure "lines" "$(tracked 'lab[1-5]_*/solution/*' 'lab[1-5]_*/given/*' ':(glob)common/*.hpp' ':(glob)common/*.cuh' ':(glob)common/*.cpp' | lines)" 4000
figure "lines of lab 6" "$(tracked 'lab6_*/solution/*' 'lab6_*/given/*' | lines)" 4000

echo "The handout of labs 1 to 5: grader/course/handout.list, as of the last commit, and the programs in tools/"
listed=$(mktemp) || exit 3
trap 'rm -f "$listed"' EXIT
PROGRAMS=1 sh "$here/../course/handout_files.sh" "$here/../course/handout.list" 1 2 3 4 5 >"$listed" || fail "the list of the handout is broken."
# README.md, .handout, and tools/*/: three programs and the labs that they are for.
figure "files" "$(($(wc -l <"$listed") + 6))" 300
figure "lines" "$(lines <"$listed")" 40000
figure "lines of the grader" "$(grep '^grader/' "$listed" | lines)" 16000
for folder in common/simgpu grader docs/results docs; do
    printf '        of it %-40s %7d\n' "$folder" "$(grep "^$folder/" "$listed" | lines)"
done

echo "Rooms: hand-written sources (fixtures and attacks, tables of data and generated files aside)"
sources=$(tracked '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.py' '*.sh' '*.js' '*.css' | grep -v -e /fixtures/ -e /data/ -e ^grader/tests/hostile/)
long=$(printf '%s\n' "$sources" | xargs wc -l | awk '$2 != "total" && $1 > 700 { print "        " $1, $2 }' | sort -rn)
figure "files above 700 lines" "$(printf '%s' "$long" | grep -c .)" 0
[ -z "$long" ] || printf '%s\n' "$long"
lizard=$build/venv/bin/lizard
if [ ! -x "$lizard" ]; then
    { [ -e "$build" ] || sh "$here/../scripts/new_build.sh" "$build"; } &&
        { [ -x "$build/venv/bin/python3" ] || python3 -m venv --system-site-packages "$build/venv"; } &&
        "$build/venv/bin/python3" -m pip install -q --disable-pip-version-check lizard==1.24.3 >&2
fi
if [ -x "$lizard" ]; then
    exceptions=$here/house_exceptions.txt
    large=$(printf '%s\n' "$sources" | grep -E '\.(cpp|hpp|cu|cuh)$' | xargs "$lizard" -w -L 80 -C 25 2>/dev/null | sed -n 's/^\([^ ]*\): warning: \(.*\)/\1 \2/p')
    # Each line of $large begins "FILE:LINE: FUNCTION ", an exception "FILE:FUNCTION REASON".
    judged=$(printf '%s\n' "$large" | awk '
        NR == FNR { if ($0 !~ /^ *(#|$)/) { reason[$1] = NF > 1; used[$1] = 0 } next }
        NF { split($1, place, ":"); key = place[1] ":" $2; if (key in reason) used[key] = 1; else print "large " $0 }
        END { for (key in reason) if (!used[key]) print "stale " key; else if (!reason[key]) print "stale " key " has no reason" }
    ' "$exceptions" - | sort)
    unlisted=$(printf '%s\n' "$judged" | sed -n 's/^large /        /p')
    stale=$(printf '%s\n' "$judged" | sed -n 's/^stale /        /p')
    figure "functions above 80 lines or complexity 25" "$(printf '%s' "$unlisted" | grep -c .)" 0
    [ -z "$unlisted" ] || printf '%s\n' "$unlisted"
    printf '        beside those that %s names: %d\n' "$exceptions" "$(grep -c '^[^# ]' "$exceptions")"
    figure "entries there that nothing needs, or without a reason" "$(printf '%s' "$stale" | grep -c .)" 0
    [ -z "$stale" ] || printf '%s\n' "$stale"
else
    echo "      lizard cannot be installed here: functions were not measured"
fi

echo "Tests: what make test took the last time in $build (aim: 360 s on two idle cores)"
if [ -s "$build/.test-seconds" ]; then echo "      $(cat "$build/.test-seconds") s"; else echo "      not run yet"; fi
exit $over
