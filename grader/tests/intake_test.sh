#!/bin/bash
# What comes in and what goes out of `make grade`: hostile archives, repositories fetched by git, the formats of
# gradebooks, the autograder for Gradescope in a folder laid out as theirs. Needs BUILD.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
grade=$build/bin/grade
[ -x "$grade" ] && [ -x "$build/bin/unpack" ] && [ -x "$build/bin/box_init" ] || { bad "no $grade: make BUILD='$build' '$grade' '$build/bin/unpack'"; exit 1; }
python=${PYTHON:-python3}
collect() { "$grade" --root . --build "$build" "$1" --collect --out "$2" "${@:3}"; }

# ---- archives that were made to harm
"$python" grader/tests/intake_archives.py make "$scratch/tricks"
holds "a class of hostile archives is read to the end" collect "$scratch/tricks" "$scratch/tricked"
"$python" grader/tests/intake_archives.py check "$scratch/tricked/intake.json" >"$scratch/.tricks"
while read -r verdict rest; do
    case $verdict in ok) good "archive $rest" ;; FAILED) bad "archive $rest" ;; esac
done <"$scratch/.tricks"
holds "there are at least 84 of them" test "$(grep -cE '^(ok|FAILED)' "$scratch/.tricks")" -ge 84
if command -v zstd >/dev/null; then
    mkdir -p "$scratch/zstd" "$scratch/ann/lab1"
    echo 'void gemm_naive(' >"$scratch/ann/lab1/gemm.cu"
    tar -C "$scratch/ann" -cf - lab1 | zstd -q >"$scratch/zstd/ann.tar.zst"
    holds "tar.zst" collect "$scratch/zstd" "$scratch/zstd-out"
    same "its file counts" "$(cat "$scratch/ann/lab1/gemm.cu")" "$(cat "$scratch"/zstd-out/s*/lab1_naive/gemm.cu)"
fi

# ---- repositories, fetched
mkdir "$scratch/repositories"
for who in ann bob; do
    git init -q "$scratch/repositories/gemm-$who"
    mkdir "$scratch/repositories/gemm-$who/lab1_naive"
    echo "// $who" >"$scratch/repositories/gemm-$who/lab1_naive/gemm.cu"
    git -C "$scratch/repositories/gemm-$who" add -A
    git -C "$scratch/repositories/gemm-$who" commit -qm work
done
{ echo "# the class"; echo "$scratch/repositories/gemm-ann"; echo "bob  file://$scratch/repositories/gemm-bob"; } >"$scratch/list.txt"
grep -v '^#' "$scratch/list.txt" >"$scratch/repositories.txt"
printf 'github_username,name\nann,Ann Lee\nbob,Bob\nzoe,Zoe\n' >"$scratch/roster.csv"
says "a list of repositories" '3 students \(repositories\), 1 without' collect "$scratch/list.txt" "$scratch/cloned" --roster "$scratch/roster.csv"
echo 'labs = [2]' >"$scratch/second.toml"
says "and none of them has a file of lab 2" '2 students .*, 2 without' collect "$scratch/repositories.txt" "$scratch/of-lab-2" --course "$scratch/second.toml"
says "make collect LABS=2 says so as well" '2 students .*, 2 without' make -s BUILD="$build" collect SUBMISSIONS="$scratch/repositories.txt" OUT="$scratch/of-lab-2" LABS=2
files() { "$python" -c 'import json, sys
for one in json.load(open(sys.argv[1]))["students"]: print(one["id"], one["name"], sorted(one["origins"].values()))' "$1/intake.json"; }
same "the roster knows the accounts" "ann Ann Lee ['lab1_naive/gemm.cu']
bob Bob ['lab1_naive/gemm.cu']
zoe Zoe []" "$(files "$scratch/cloned")"
echo "// newer" >"$scratch/repositories/gemm-ann/lab1_naive/gemm.cu"
git -C "$scratch/repositories/gemm-ann" commit -qam newer
collect "$scratch/list.txt" "$scratch/cloned" --roster "$scratch/roster.csv" >/dev/null
holds "what was pushed since is fetched" grep -q newer -r "$scratch/cloned"
echo "$scratch/repositories/gone" >>"$scratch/list.txt"
fails "a repository that is not there is the machine's fault" 3 'cannot fetch' collect "$scratch/list.txt" "$scratch/cloned"
echo "--upload-pack=touch x" >>"$scratch/list.txt"
fails "and what is no address is an error with its line" 4 'list.txt:5: not the address' collect "$scratch/list.txt" "$scratch/cloned"

# ---- gradebooks
exports=$scratch/exports
cp -r grader/tests/fixtures/exports "$exports"
for kind in canvas moodle; do
    says "$kind: who cannot be exported is listed" 'not exported: stranger: no ' "$python" grader/course/exports/export.py "$exports" $kind --assignment 'GEMM (1234)'
    holds "$kind: as its golden file" cmp "$exports/golden/$kind.csv" "$exports/export/$kind.csv"
done
says "who was not graded is not exported" 'not exported: infra: INFRA_ERROR' "$python" grader/course/exports/export.py "$exports" canvas
fails "no grades yet is one clear error" 4 'First: make grade' "$python" grader/course/exports/export.py "$scratch/nothing" canvas
mkdir -p "$scratch/damaged" && echo '{"students": [' >"$scratch/damaged/grades.json"
fails "so is a damaged one" 4 'error: .*grades.json is damaged' "$python" grader/course/exports/export.py "$scratch/damaged" canvas
echo '{"students": [{"student": "ann", "status": "GRADED", "roster": {"sid": "1"}, "result": "results/ann.json"}]}' >"$scratch/damaged/grades.json"
fails "and a result that is not there" 3 'nothing was exported: .*results/ann.json' "$python" grader/course/exports/export.py "$scratch/damaged" gradescope
fails "an unknown format, too" 2 'EXPORT=excel: choose canvas, moodle or gradescope' make help EXPORT=excel

# ---- Gradescope: results that are there already, handed back
says "gradescope: an autograder with the results" 'gradescope.zip' "$python" grader/course/exports/export.py "$exports" gradescope
root=$scratch/autograder
mkdir -p "$root"/{source,results,submission}
"$python" -m zipfile -e "$exports/export/gradescope.zip" "$root/source"
echo '{"users": [{"email": "m.oz@X.edu", "sid": null}]}' >"$root/submission_metadata.json"
holds "it finds a student by email" env AUTOGRADER="$root" sh "$root/source/run_autograder"
same "fields, points, tests and leaderboard are right" "9.5 3 1" "$("$python" grader/tests/exports_check.py results "$root/results/results.json" 2>&1)"
echo '{"users": [{"email": "nobody@x.edu"}]}' >"$root/submission_metadata.json"
rm "$root/results/results.json"
fails "nobody else's result is handed back" 1 'no result for nobody@x.edu' env AUTOGRADER="$root" sh "$root/source/run_autograder"

# ---- an autograder that grades
says "make autograder" 'written: .*autograder.zip' make -s BUILD="$build" autograder LABS=1 OUT="$scratch/packed/autograder.zip"
rm -rf "$root"
mkdir -p "$root"/{source,results,submission/lab1_naive}
"$python" -m zipfile -e "$scratch/packed/autograder.zip" "$root/source"
same "no solution is in it" "" "$(cd "$root/source" && find . -path '*/solution/*' -o -path '*/mutants/*' -o -path '*/alternatives/*')"
holds "what Ubuntu 22.04 lacks is in it" test -e "$root/source/gemm-lab/deps/include/toml++/toml.h"
mkdir "$scratch/there"
holds "its tree has all that is built there" make -s -n -C "$root/source/gemm-lab" BUILD="$scratch/there" "$scratch"/there/bin/{grader,grade,box_init,unpack}
cp lab1_naive/gemm.cu "$root/submission/lab1_naive/"
ln -s /etc/passwd "$root/submission/link"
holds "run_autograder in Gradescope's layout" env AUTOGRADER="$root" BUILD="$build" bash "$root/source/run_autograder"
same "an untouched skeleton gets no points" 0 "$("$python" grader/tests/exports_check.py results "$root/results/results.json" 2>&1 | cut -d' ' -f1)"
same "and a test per stage" "$(grep -c '^\[\[stage\]\]' lab1_naive/lab.toml)" "$("$python" grader/tests/exports_check.py results "$root/results/results.json" | cut -d' ' -f2)"
fails "where nothing can be graded, no result is written" any 'No such file' env AUTOGRADER="$root" BUILD="$scratch/there" bash "$root/source/run_autograder"
holds "so that nobody pays for it" test ! -e "$root/results/results.json"

# ---- GitHub Classroom
holds "a workflow for GitHub Classroom" grep -q 'classroom-resources/autograding-grading-reporter' "$scratch/packed/classroom/.github/workflows/classroom.yml"
if command -v jq >/dev/null; then
    jq -c -f "$scratch/packed/classroom/classroom.jq" "$exports/results/s1.json" >"$scratch/classroom.json"
    same "its result has the fields of a runner" "pass 9.5 7.5" "$("$python" grader/tests/exports_check.py classroom "$scratch/classroom.json" 2>&1)"
    jq -c -f "$scratch/packed/classroom/classroom.jq" "$exports/results/s2.json" >"$scratch/classroom.json"
    same "a failed stage fails it" "fail 0 7.5" "$("$python" grader/tests/exports_check.py classroom "$scratch/classroom.json" 2>&1)"
fi
