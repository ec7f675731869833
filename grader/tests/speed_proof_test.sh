#!/bin/bash
# measure prove-speed without a GPU: recorded verdicts judged anew, and those of several GPUs put together. Needs BUILD with
# bin/measure in it.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
measure=${BUILD:-build}/bin/measure
recorded=docs/results/h200/speed-proof

judge() { "$measure" prove-speed --judge "$@"; }
# edited FILE PYTHON: the recorded file, as `all`, after some lines of Python.
edited() {
    python3 - "$recorded.json" "$1" "$2" <<'EDIT'
import json, sys

all = json.load(open(sys.argv[1]))
def measurements():
    return [one for kernels in all["kernels"].values() for kernel in kernels.values() for one in kernel["measurements"]]
def keep(wanted):
    for kernels in all["kernels"].values():
        for kernel in kernels.values():
            kernel["measurements"] = [one for one in kernel["measurements"] if wanted(one["run"])]
last = len(all["runs"]) - 1
exec(sys.argv[3])
json.dump(all, open(sys.argv[2], "w"))
EDIT
}
# content FILE: a number that stands for what was measured, whatever the order of the runs in the file.
content() {
    python3 - "$1" <<'CONTENT' | sha256sum
import json, sys

all = json.load(open(sys.argv[1]))
print(json.dumps({problem: {kernel: sorted(json.dumps([all["runs"][one["run"]], {k: v for k, v in one.items() if k != "run"}], sort_keys=True)
                                           for one in rest["measurements"])
                            for kernel, rest in kernels.items() if rest["measurements"]} for problem, kernels in all["kernels"].items() if any(rest["measurements"] for rest in kernels.values())}, sort_keys=True))
CONTENT
}

if ! nvidia-smi -L >/dev/null 2>&1; then
    fails "no GPU: one line that says what to do" 3 'needs an NVIDIA GPU|no NVIDIA|no GPU' "$measure" prove-speed --out "$scratch/none.json"
    holds "and nothing is written" test ! -e "$scratch/none.json"
fi
fails "nothing measured yet" 4 'nothing to judge' judge --out "$scratch/none.json"

cp "$recorded.json" "$scratch/all.json"
says "the recorded verdicts are what they should be" '50 of 50' judge --out "$scratch/all.json"
same "and the page beside them is theirs" "$(cat $recorded.md)" "$(cat "$scratch/all.md")"
edited "$scratch/slow.json" 'for one in measurements(): one["naive"] = one["cublas"] = [0.001, 0.001, 0.001]'
fails "solutions that were too slow" 1 '0 of 50' judge --out "$scratch/slow.json"

edited "$scratch/first.json" 'keep(lambda run: run != last); del all["runs"][last]'
edited "$scratch/last.json" 'keep(lambda run: run == last); all["runs"] = all["runs"][last:]
for one in measurements(): one["run"] = 0'
cp "$scratch/first.json" "$scratch/put.json"
holds "verdicts of another GPU are added" judge --add "$scratch/last.json" --out "$scratch/put.json"
same "to those that were there" "$(content "$scratch/all.json")" "$(content "$scratch/put.json")"
holds "a file that is added again" judge --add "$scratch/last.json" --add "$recorded.json" --out "$scratch/put.json"
same "adds nothing" "$(content "$scratch/all.json")" "$(content "$scratch/put.json")"
holds "several to no file at all" judge --add "$scratch/last.json" --add "$scratch/first.json" --out "$scratch/new.json"
same "make one" "$(content "$scratch/all.json")" "$(content "$scratch/new.json")"

edited "$scratch/edited.json" 'for kernels in all["kernels"].values():
    for kernel in kernels.values(): kernel["source_sha256"] = "0"'
cp "$scratch/first.json" "$scratch/put.json"
holds "verdicts on other sources" judge --add "$scratch/edited.json" --out "$scratch/put.json"
same "are not taken" "$(content "$scratch/first.json")" "$(content "$scratch/put.json")"
edited "$scratch/other.json" 'all["gpu"] = "NVIDIA T4"'
cp "$scratch/first.json" "$scratch/put.json"
fails "verdicts on another model" 4 'measured on NVIDIA T4, these results on NVIDIA H200' judge --add "$scratch/other.json" --out "$scratch/put.json"
fails "a file of another kind" 4 'holds no results of prove-speed' judge --add docs/results/h200/bench.json --out "$scratch/put.json"
fails "a file that is not there" any 'gone.json' judge --add "$scratch/gone.json" --out "$scratch/put.json"
same "leave all as it was" "$(cat "$scratch/first.json")" "$(cat "$scratch/put.json")"
