#!/usr/bin/env python3
"""Captures what `make check` prints without a GPU, for the chapters to quote. Run after `make check`.

    docs/transcripts/capture.py [LAB ...]

Writes docs/transcripts/labN-NAME.txt: first the command a student would type, then its output, unaltered; and puts it
into docs/labN.md behind `<!-- transcript labN-NAME -->`. States of gemm.cu between skeleton and solution are solutions
with one of the lab's own mutants applied.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRADER = ROOT / os.environ.get("BUILD", "build") / "bin" / "grader"

# lab: [(name, mutant or alternative, None for the skeleton or "" for the solution, arguments)]
# A run is a rung and, unless it is float, a type.
WANTED = {
    1: [
        ("skeleton", None, []),
        ("x-along-rows", "L1-01-x-along-rows", []),
        ("no-guard", "L1-06-no-guard", ["--stage", "1.1"]),
        ("solution", "", []),
        ("run", "", ["run", "gemm_naive"]),
    ],
    2: [
        ("skeleton", None, []),
        ("contiguous-columns", "L2-11-contiguous-columns", []),
        ("run-time-index", "L2-07-run-time-index", ["--stage", "2.1"]),
        ("solution", "", []),
        ("run", "", ["run", "gemm_interleaved_tile"]),
    ],
    3: [
        ("skeleton", None, []),
        ("given-kernel", "L3-00-as-given", ["--stage", "3.0"]),
        ("second-barrier-gone", "L3-02-second-barrier-gone", ["--stage", "3.2"]),
        ("solution", "", []),
        ("run-tiled", "", ["run", "gemm_tiled"]),
        ("run-block-tile", "", ["run", "gemm_block_tile"]),
        ("run-packed", "", ["run", "gemm_packed"]),
        ("run-by-columns", "", ["run", "gemm_packed_by_columns"]),
    ],
    4: [
        ("skeleton", None, []),
        ("predicted-only", "L4-01-padding-removed", ["--stage", "4.1"]),
        ("wait-off-by-one", "L4-08-wait-off-by-one", ["--stage", "4.4"]),
        ("solution", "", []),
        ("run-column-walk", "", ["run", "gemm_column_walk"]),
        ("run-conflict-free", "", ["run", "gemm_conflict_free"]),
        ("run-vector", "", ["run", "gemm_vector"]),
        ("run-pipelined", "", ["run", "gemm_pipelined"]),
    ],
    5: [
        ("skeleton", None, []),
        ("wait-one-short", "L5-12-wait-one-short", ["--stage", "5.3"]),
        ("no-swizzle", "L5-09-no-swizzle", ["--stage", "5.3"]),
        ("tf32-cut-off", "tf32-cut-off", ["--stage", "5.2b"]),
        ("solution", "", []),
        ("run-wmma", "", ["run", "gemm_wmma", "half"]),
        ("run-mma", "", ["run", "gemm_mma", "half"]),
    ],
}


def edited(master: str, mutant: pathlib.Path) -> str:
    for old, new in re.findall(r"<<<<<<<\n(.*?)=======\n(.*?)>>>>>>>\n", mutant.read_text(), re.S):
        if master.count(old) != 1:
            sys.exit(f"{mutant}: an edit does not apply")
        master = master.replace(old, new)
    return master


def capture(lab: int, folder: pathlib.Path, name: str, mutant, arguments) -> str:
    source = folder / "gemm.cu" if mutant is None else folder / "solution" / "gemm.cu"
    solution = " SOLUTION=1" if mutant == "" else ""
    with tempfile.TemporaryDirectory() as scratch:
        if arguments[:1] == ["run"]:
            rung, element = (arguments[1:] + ["float"])[:2]
            command = f"make run LAB={lab} RUNG={rung} M=256 N=256 K=256 TYPE={element}{solution}"
            call = ["run", "--rung", rung, "-M", "256", "-N", "256", "-K", "256", "--type", element, "--solution"]
        else:
            command = f"make check LAB={lab}{solution}"
            # The file must be called as the student's is: messages name it.
            target = pathlib.Path(scratch) / folder.name / "gemm.cu"
            target.parent.mkdir()
            edits = next(iter(folder.glob(f"[ma]*/{mutant}.*")), None) if mutant else None
            target.write_text(edited(source.read_text(), edits) if mutant else source.read_text())
            call = ["check", *(["--solution"] if mutant == "" else ["--sources", scratch] if mutant else []), *arguments]
        result = subprocess.run(
            [GRADER, *call, "--lab", str(lab)],
            cwd=ROOT, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}, stdout=subprocess.PIPE, text=True)
        text = f"$ {command}\n" + result.stdout.replace(scratch + "/", "")
    (ROOT / "docs" / "transcripts" / f"lab{lab}-{name}.txt").write_text(text)
    print(f"lab{lab}-{name}: exit code {result.returncode}")
    return text


def insert(page: pathlib.Path, key: str, transcript: str) -> None:
    pattern = re.compile(rf"(<!-- transcript {re.escape(key)} -->\n```text\n).*?(```\n)", re.S)
    text, count = pattern.subn(lambda match: match.group(1) + transcript.rstrip() + "\n" + match.group(2), page.read_text())
    if count:
        page.write_text(text)


def main() -> None:
    labs = [int(argument) for argument in sys.argv[1:]] or sorted(WANTED)
    for lab in labs:
        (folder,) = ROOT.glob(f"lab{lab}_*")
        for name, mutant, arguments in WANTED[lab]:
            transcript = capture(lab, folder, name, mutant, arguments)
            insert(ROOT / "docs" / f"lab{lab}.md", f"lab{lab}-{name}", transcript)


if __name__ == "__main__":
    main()
