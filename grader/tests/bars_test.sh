#!/bin/bash
# docs/data/bars.toml: every bar of lab 6 has a figure in the bench and two notes, and what lacks them is named.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
bench=docs/results/h200/bench.json
cat >"$scratch/bars.py" <<'PYTHON'
"""judge BARS BENCH | cells BARS | without BENCH RUNG SHAPE OUT"""
import json
import re
import sys

sys.path.insert(0, "grader/plots")
import bars
import results

what, *arguments = sys.argv[1:]
if what == "cells":  # the table of aims, whole: 6 arithmetics, 11 shapes with a bar each
    data = bars.load(arguments[0])
    asked = {"512", "1024", "2048", "4096", "8192", "1025", "2049", "4095", "64x8192x8192", "8192x8192x256", "256x256x16384"}
    for kind in data["type"]:
        assert {shape for shape, bar, *_ in kind["cells"] if bar > 0} == asked, kind["name"]
        assert {shape for shape, bar, *_ in kind["cells"] if not bar} == {"16x8192x8192", "8192x64x8192"}, kind["name"]
    used = {note for kind in data["type"] for cell in kind["cells"] for note in cell[2:]}
    assert used == set(data["notes"]), used ^ set(data["notes"])
    for name, note in data["notes"].items():  # measured numbers come from what was measured, by a role
        typed = [n for n in re.findall(r"(?<![\w.])\d*\.\d+(?![\w.])", re.sub(r"\{\w+\}`[^`]*`", "", note)) if not re.fullmatch(r"[1-6]\.\d", n)]
        assert not typed, (name, typed)
    print(len(data["type"]), "arithmetics")
elif what == "without":
    with open(arguments[0], encoding="utf-8") as file:
        bench = json.load(file)
    bench["records"] = [r for r in bench["records"] if r["rung"] != arguments[1] or (r["m"], r["n"], r["k"]) != bars.extents(arguments[2])]
    with open(arguments[3], "w", encoding="utf-8") as file:
        json.dump(bench, file)
else:
    try:
        kinds = bars.judged(bars.load(arguments[0]), results.load(arguments[1], "bench"))
    except results.Unusable as error:
        sys.exit(str(error))
    for kind, cells in kinds:
        for cell in cells:
            print(kind["name"], cell.shape, cell.bar, "open" if cell.figure is None else f"{cell.ratio:.3f} {'met' if cell.met else 'missed'} {cell.stage}")
PYTHON
judge() { python3 "$scratch/bars.py" judge "$@"; }
says "the bars are those of the aims, all of them, and no note is idle" '^6 arithmetics' python3 "$scratch/bars.py" cells docs/data/bars.toml
says "every bar has a figure" '^FP32 by multiply-adds 512 0.95 [0-9.]+ met 6.2' judge docs/data/bars.toml "$bench"
python3 "$scratch/bars.py" without "$bench" gemm_f64_aligned 4096 "$scratch/slower.json"
says "of two kernels the faster one's" '^FP64 4096 1.02 [0-9.]+ (met|missed) 6.5.4' judge docs/data/bars.toml "$bench"
says "or that of the one that there is" '^FP64 4096 1.02 [0-9.]+ (met|missed) 6.5.3' judge docs/data/bars.toml "$scratch/slower.json"
python3 "$scratch/bars.py" without "$bench" gemm_tf32_shapes 2049 "$scratch/bench.json"
fails "a bar without a figure is named" 1 'TF32 at 2049: a bar, and the bench has no figure' judge docs/data/bars.toml "$scratch/bench.json"
sed 's/^open = \[/open = ["2049", /' docs/data/bars.toml >"$scratch/open.toml"
fails "what is called open and was measured, too" 1 'at 2049 is open and was measured' judge "$scratch/open.toml" "$bench"
sed 's/^power = /sunshine = /' docs/data/bars.toml >"$scratch/notes.toml"
fails "and a cell without its note" 1 "there is no note 'power'" judge "$scratch/notes.toml" "$bench"
sed 's/\["4096", 1.02, /["4096", 9.02, /' docs/data/bars.toml >"$scratch/high.toml"
says "a bar above its figure is missed" '^FP64 4096 9.02 [0-9.]+ missed' judge "$scratch/high.toml" "$bench"
