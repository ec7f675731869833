#!/bin/bash
# shellcheck disable=SC2016 # what runs on the small disk is expanded there
# Nothing of a class is lost: processes killed at random moments, and disks that fill up. All 200 kills over a class of 40 with
# MUTANTS=all, as make test-all says it; else a few. Needs BUILD.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
# shellcheck source=grader/tests/browser.bash
. "$(dirname "$0")/browser.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
[ -x "$build/bin/grade" ] || { bad "no grade: make BUILD='$build' grade-programs"; exit 1; }
python=${PYTHON:-python3}
if [ "${MUTANTS:-}" = all ]; then size="--students 40 --kills 200"; else size="--students 7 --kills 15"; fi
# shellcheck disable=SC2086 # options
looks "all of it came to its end" 1500 "$python" grader/tests/kill_class.py "$build/bin/grade" "$PWD" "$build" "$scratch/kill" $size --seed 1

chmod 755 "$scratch" # users of boxes have to get in

# ---- a disk that fills up, as the results', and as the boxes'
lab=$scratch/in/ann/lab1_naive
mkdir -p "$lab" "$scratch/in/bob/lab1_naive"
cp lab1_naive/solution/gemm.cu "$lab"
cp lab1_naive/gemm.cu "$scratch/in/bob/lab1_naive"
mkdir "$scratch/small"
on_small() { # COMMAND: with a tmpfs of 80 MiB at $scratch/small
    unshare -m bash -c 'mount -t tmpfs -o size=80m none "$0" && cd "$1" && eval "$2"' "$scratch/small" "$PWD" "$1"
}
grade() { "$build/bin/grade" --root . --build "$build" "$scratch/in" --jobs 1 "$@"; }
export -f grade
export build scratch
if on_small true 2>/dev/null; then
    fails "a full disk under the results is one line" 3 "^error: no room in $scratch/small" \
        on_small 'head -c 30M /dev/zero >"$scratch/small/fill"; grade --out "$scratch/small/out"'
    fails "and under the boxes" 3 "^error: no room in $scratch/small" \
        on_small 'head -c 30M /dev/zero >"$scratch/small/fill"; TMPDIR=$scratch/small grade --out "$scratch/out"'
    same "nobody was judged by it" "" "$(ls "$scratch/out/results")"
    says "with room again all is graded" '^ann .*25/165' grade --out "$scratch/out"
    # Nothing can be written at all: the first line is the last.
    says "a disk that is full to the last byte keeps what there is" 'one line' on_small '
        grade --out "$scratch/small/out" >/dev/null 2>&1; cp "$scratch/small/out/grades.csv" "$scratch/before.csv"
        echo "// more" >>"$scratch/in/bob/lab1_naive/gemm.cu"
        cat /dev/zero >"$scratch/small/fill" 2>/dev/null
        grade --out "$scratch/small/out" >"$scratch/.said" 2>&1; status=$?
        [ $status = 3 ] && [ "$(grep -c ^error: "$scratch/.said")" = 1 ] && cmp "$scratch/before.csv" "$scratch/small/out/grades.csv" &&
        rm "$scratch/small/fill" && grade --out "$scratch/small/out" 2>&1 | grep -q "ann: GRADED (kept" && echo one line'
else
    echo "left out: full disks (no tmpfs may be mounted here)"
fi
