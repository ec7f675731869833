#!/bin/bash
# measure prove-speed without a GPU: recorded verdicts judged anew, and those of several GPUs put together. Needs BUILD with
# bin/measure in it.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
measure=${BUILD:-build}/bin/measure
recorded=docs/results/h200/speed-proof

judge() { "$measure" prove-speed --judge "$@"; }
# edited FILE PYTHON: the recorded file, as `all`, after some lines of Python. `busy` is the run with the most measurements.
edited() {
    python3 - "$recorded.json" "$1" "$2" <<'EDIT'
import json, sys

all = json.load(open(sys.argv[1]))
records = all["records"]
def keep(wanted):
    all["records"] = [one for one in records if wanted(one["run"])]
def of(rung):
    return [one for one in records if one["rung"] == rung and one["math"] == "float"]
last = len(all["runs"]) - 1
busy = max(range(last + 1), key=lambda run: sum(one["run"] == run for one in records))
exec(sys.argv[3])
json.dump(all, open(sys.argv[2], "w"))
EDIT
}
# judged FILE...: what becomes of a copy of the first file with the others added to it.
judged() {
    cp "$1" "$scratch/put.json"
    judge "${@:2}" --out "$scratch/put.json" >/dev/null 2>&1
    content "$scratch/put.json"
}
runs_in() { python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["runs"]))' "$1"; }
# content FILE: a number that stands for what was measured, whatever the order of runs and records in the file.
content() {
    python3 - "$1" <<'CONTENT' | sha256sum
import json, sys

all = json.load(open(sys.argv[1]))
print(sorted(json.dumps(one | {"run": all["runs"][one["run"]]}, sort_keys=True) for one in all["records"]))
CONTENT
}

if ! nvidia-smi -L >/dev/null 2>&1; then
    fails "no GPU: one line that says what to do" 3 'needs an NVIDIA GPU|no NVIDIA|no GPU' "$measure" prove-speed --out "$scratch/none.json"
    holds "and nothing is written" test ! -e "$scratch/none.json"
fi
fails "nothing measured yet" 4 'nothing to judge' judge --out "$scratch/none.json"

cp "$recorded.json" "$scratch/all.json"
page() { python3 grader/plots/tables.py "$1"; }
says "the recorded verdicts are what they should be" 'goals, [0-9]* measurements' judge --out "$scratch/all.json"
holds "and judging them anew changes nothing" cmp "$recorded.json" "$scratch/all.json"
says "their table" '50 of 50' page "$scratch/all.json"
edited "$scratch/slow.json" 'for one in records: one["over_naive"] = one["over_cublas"] = [0.001, 0.001, 0.001]'
fails "solutions that were too slow" 1 'passed 0 of 50' judge --out "$scratch/slow.json"

edited "$scratch/first.json" 'keep(lambda run: run != last); del all["runs"][last]'
edited "$scratch/last.json" 'keep(lambda run: run == last); all["runs"] = all["runs"][last:]
for one in all["records"]: one["run"] = 0'
cp "$scratch/first.json" "$scratch/put.json"
holds "verdicts of another GPU are added" judge --add "$scratch/last.json" --out "$scratch/put.json"
same "to those that were there" "$(content "$scratch/all.json")" "$(content "$scratch/put.json")"
holds "a file that is added again" judge --add "$scratch/last.json" --add "$recorded.json" --out "$scratch/put.json"
same "adds nothing" "$(content "$scratch/all.json")" "$(content "$scratch/put.json")"
holds "several to no file at all" judge --add "$scratch/last.json" --add "$scratch/first.json" --out "$scratch/new.json"
same "make one" "$(content "$scratch/all.json")" "$(content "$scratch/new.json")"

# A run that goes on: a copy has fewer of its measurements, and other seconds.
edited "$scratch/early.json" 'all["runs"][busy]["seconds"] = "1"
mine = [one for one in records if one["run"] == busy]
all["records"] = [one for one in records if one["run"] != busy] + mine[::2]'
same "a copy made while a run went on gets the rest of it" "$(content "$scratch/all.json")" "$(judged "$scratch/early.json" --add "$scratch/all.json")"
same "and adds nothing" "$(content "$scratch/all.json")" "$(judged "$scratch/all.json" --add "$scratch/early.json")"
edited "$scratch/alike.json" 'records.append(records[-1])'
same "two measurements that are alike stay two" "$(content "$scratch/alike.json")" "$(judged "$scratch/all.json" --add "$scratch/alike.json" --add "$scratch/alike.json")"

# The page names all runs, by their dates.
edited "$scratch/put.json" 'for run in all["runs"]: run["date"], run["commit"] = "2026-02-03T00:00:00Z", "bbb"
all["runs"][0]["date"], all["runs"][0]["commit"] = "2026-03-04T00:00:00Z", "ccc"
all["runs"][last]["date"], all["runs"][last]["commit"] = "2026-01-02T00:00:00Z", "aaa"'
commits=aaa,$([ "$(runs_in "$scratch/all.json")" = 2 ] || echo ' bbb,')' ccc'
holds "the page has the dates and commits of all runs" grep -q ", 2026-01-02 to 2026-03-04, commits $commits; " <(page "$scratch/put.json")
edited "$scratch/put.json" 'for run in all["runs"]: run["date"], run["commit"] = "2026-02-03T00:00:00Z", "bbb"'
holds "or the one of each" grep -q ", 2026-02-03, commit bbb; " <(page "$scratch/put.json")

# A choice of goals decides the exit status, and is no reason to leave the others out or as they were.
edited "$scratch/slow.json" 'for one in of("gemm_tiled"): one["over_naive"] = one["over_cublas"] = [0.001, 0.001, 0.001]
all["goals"] = [goal for goal in all["goals"] if not goal["goal"].startswith("1.2 ")]'
says "the goals that were not chosen are judged" '^3\.2 float .* passed 0 of ' judge --stage 1.2 --out "$scratch/slow.json"
fails "and count where they are chosen" 1 '^3\.2 float ' judge --stage 3.2 --out "$scratch/slow.json"
holds "those that the file lacked are in it again" grep -q '"goal":"1\.2 float ' "$scratch/slow.json"

# Sources that have changed.
edited "$scratch/edited.json" 'for one in records: one["source_sha256"] = "0"'
same "verdicts on other sources are not taken" "$(content "$scratch/first.json")" "$(judged "$scratch/first.json" --add "$scratch/edited.json")"
edited "$scratch/edited.json" 'for one in of("gemm_tiled"): one["source_sha256"] = "0"'
same "judging keeps them" "$(content "$scratch/edited.json")" "$(judged "$scratch/edited.json")"
same "though they do not count" 0 "$(page "$scratch/put.json" | grep -c '^| 3\.2 float')"
same "measurements of the present source take their place" "$(content "$scratch/all.json")" "$(judged "$scratch/edited.json" --add "$scratch/all.json")"
holds "and count" grep -q '^| 3\.2 float' <(page "$scratch/put.json")

edited "$scratch/other.json" 'all["machine"]["gpu"] = "NVIDIA T4"'
cp "$scratch/first.json" "$scratch/put.json"
fails "verdicts on another model" 4 'other.json. was measured on NVIDIA T4, not on NVIDIA H200' judge --add "$scratch/other.json" --out "$scratch/put.json"
fails "a file of another kind" 4 'bench.json. holds no results of prove-speed' judge --add docs/results/h200/bench.json --out "$scratch/put.json"
fails "a file that is not there" any 'gone.json' judge --add "$scratch/gone.json" --out "$scratch/put.json"
same "leave all as it was" "$(cat "$scratch/first.json")" "$(cat "$scratch/put.json")"

# A file that is something else may be somebody's work.
spoilt() {
    cp "$scratch/put.json" "$scratch/before.json"
    fails "$1" 4 'put.json. holds no results of prove-speed: nothing was changed' judge --add "$scratch/all.json" --out "$scratch/put.json"
    holds "is left as it is" cmp "$scratch/before.json" "$scratch/put.json"
}
cp docs/results/h200/bench.json "$scratch/put.json"
spoilt "results of another command"
sed '2i<<<<<<< HEAD' "$recorded.json" >"$scratch/put.json"
spoilt "results with a merge's marks in them"
edited "$scratch/put.json" 'records[0].pop("ms")'
spoilt "a measurement without a result"
edited "$scratch/put.json" 'records[0]["run"] = last + 1'
spoilt "a measurement of no run"
: >"$scratch/put.json"
spoilt "an empty file"
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo '[]' >"$scratch/put.json"
    fails "nor is it taken before a measurement" 4 'nothing was changed' "$measure" prove-speed --out "$scratch/put.json"
fi
