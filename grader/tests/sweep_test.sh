#!/bin/bash
# make sweep without a GPU: one clear error, tables and plots of what was recorded. Needs BUILD with bin/measure in it.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
measure=${BUILD:-build}/bin/measure
recorded=docs/results/h200

fails "a lab without a sweep" 4 'there is no sweep for lab 77' "$measure" sweep --lab 77
if ! nvidia-smi -L >/dev/null 2>&1; then
    fails "no GPU: one line that says what to do" 3 'needs an NVIDIA GPU' "$measure" sweep --lab 1
    same "and only one" 1 "$(grep -c . "$scratch/.out")"
fi
fails "a file that is no results file" 4 'README.md holds no results of a sweep' "$measure" sweep --lab 1 --measured README.md
fails "another lab's results" 4 "holds lab 1's sweep" "$measure" sweep --lab 2 --measured $recorded/sweep-lab1.json

holds "what is said of recorded and of awkward curves" python3 grader/tests/sweep_sentences.py

plots() { python3 grader/plots/sweep_plots.py "$@"; }
for file in "$recorded"/sweep-lab[0-9].json; do
    lab=${file##*sweep-lab}
    lab=${lab%.json}
    says "lab $lab: the recorded tables" 'the minimum lies|fastest' "$measure" sweep --lab "$lab" --measured "$file"
    # Width in characters: the terminal's, not bytes.
    same "they fit 80 columns" 0 "$(LC_ALL=C.UTF-8 awk 'length($0) > 80' "$scratch/.out" | grep -c .)"
    if python3 -c 'import matplotlib' 2>/dev/null; then
        says "lab $lab: plots" 'plot: ' plots "$file" "$scratch/plots"
        same "each is well-formed, with one curve per size or variant" "" "$(python3 - "$file" "$scratch/plots" <<'CHECK'
import json, os, sys
from xml.etree import ElementTree

results = json.load(open(sys.argv[1]))
stem = os.path.splitext(os.path.basename(sys.argv[1]))[0]
wanted = {}
for p in results["records"]:
    if "ms" in p:
        curve = p["variant"] if p["experiment"] == "size" else (p["n"], p["variant"])
        wanted.setdefault((p["experiment"], p["math"]), set()).add(curve)
for (experiment, kind), curves in wanted.items():
    slug = "".join(c if c.isalnum() else "-" for c in experiment)
    path = os.path.join(sys.argv[2], f"{stem}-{slug}-{kind}.svg")
    root = ElementTree.parse(path).getroot()
    ids = [e.get("id") for e in root.iter() if (e.get("id") or "").startswith("curve-")]
    prefix = "curve-" if experiment == "size" else "curve-n"
    drawn = [i for i in ids if i.startswith(prefix) and i not in ("curve-naive", "curve-cuBLAS")]
    if len(set(drawn)) != len(curves):
        print(path, len(set(drawn)), "curves,", len(curves), "wanted")
    if os.path.getsize(path) >= 1 << 20:
        print(path, "is too large")
CHECK
)"
    fi
done
mkdir "$scratch/empty"
printf 'raise ImportError("none")\n' >"$scratch/empty/matplotlib.py"
PYTHONPATH=$scratch/empty says "without matplotlib there are tables" 'the minimum lies' plots "$recorded/sweep-lab1.json" "$scratch/none"
PYTHONPATH=$scratch/empty says "and a line says what is missing" 'no plots: matplotlib is not installed' plots "$recorded/sweep-lab1.json" "$scratch/none"
fails "a file that is no sweep" 3 'bench.json is no sweep file' plots "$recorded/bench.json"
