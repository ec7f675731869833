#!/usr/bin/env python3
"""Captures what `make check` and `make sim` print without a GPU, for the chapters to quote. Run after `make check`.

    docs/transcripts/capture.py [--check] [LAB ... | sim]

Writes docs/transcripts/labN-NAME.txt: first the command a student would type, then its output, unaltered; and
docs/transcripts/labN-goals.json: each goal beside what the solution counts; sim-NAME.txt of programs of examples/. With --check it writes nothing, prints
"ok NAME" or "FAILED NAME" and what differs, and leaves out the compiler's version. States of gemm.cu between skeleton
and solution are solutions with one of the lab's own mutants applied.
"""
import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRADER = ROOT / os.environ.get("BUILD", "build") / "bin" / "grader"

# 1.0 done and nothing else, by somebody who lets x count rows.
FIRST_STAGE = [("const int row = 1 << 30;", "const int row = threadIdx.x + blockDim.x * blockIdx.x;"),
               ("const int col = 1 << 30;", "const int col = threadIdx.y + blockDim.y * blockIdx.y;")]

# lab: [(name, mutant or alternative, None for the skeleton, edits of it or "" for the solution, arguments)]
# A run is a rung and, unless it is float, a type; so is sass.
WANTED = {
    1: [
        ("skeleton", None, []),
        ("first-stage", FIRST_STAGE, []),
        ("x-along-rows", "L1-01-x-along-rows", []),
        ("no-guard", "L1-06-no-guard", ["--stage", "1.1"]),
        ("solution", "", []),
        ("run", "", ["run", "gemm_naive"]),
        ("sass", "", ["sass", "gemm_naive"]),
    ],
    2: [
        ("skeleton", None, []),
        ("contiguous-columns", "L2-11-contiguous-columns", []),
        ("run-time-index", "L2-07-run-time-index", ["--stage", "2.1"]),
        ("solution", "", []),
        ("run", "", ["run", "gemm_interleaved_tile"]),
        ("sass", "", ["sass", "gemm_interleaved_tile"]),
    ],
    3: [
        ("skeleton", None, []),
        ("given-kernel", "L3-00-as-given", ["--stage", "3.0"]),
        ("second-barrier-gone", "L3-02-second-barrier-gone", ["--stage", "3.2"]),
        ("solution", "", []),
        ("run-tiled", "", ["run", "gemm_tiled"]),
        ("run-block-tile", "", ["run", "gemm_block_tile"]),
        ("run-by-columns", "", ["run", "gemm_packed_by_columns"]),
        ("sass", "", ["sass", "gemm_block_tile"]),
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
        ("sass", "", ["sass", "gemm_column_walk"]),
        ("sass-pipelined", "", ["sass", "gemm_pipelined"]),
    ],
    5: [
        ("skeleton", None, []),
        ("wait-one-short", "L5-12-wait-one-short", ["--stage", "5.3"]),
        ("no-swizzle", "L5-09-no-swizzle", ["--stage", "5.3.1"]),
        ("tf32-cut-off", "tf32-cut-off", ["--stage", "5.2b"]),
        ("solution", "", []),
        ("run-wmma", "", ["run", "gemm_wmma", "half"]),
        ("run-mma", "", ["run", "gemm_mma", "half"]),
        ("sass", "", ["sass", "gemm_wmma", "half"]),
        ("sass-mma", "", ["sass", "gemm_mma", "half"]),
        ("sass-wgmma", "", ["sass", "gemm_wgmma", "half"]),
    ],
}

# name: (program of examples/, edits of it, settings, kernel whose block is shown or all)
PROGRAMS = {
    "hello": ("hello", [], "", None),
    "vector-add": ("vector_add", [], "", None),
    "host-pointer": ("vector_add", [("(device_a, device_b, device_c, n)", "(a.data(), device_b, device_c, n)")], "", None),
    "large-block": ("scale", [("block(64)", "block(2048)")], "", None),
    "no-barrier": ("neighbours", [("__syncthreads();  // nobody", "// nobody")], "", None),
    "no-guard": ("vector_add", [("if (i < n) c[i]", "c[i]")], "", None),
    "transpose": ("transpose", [], " REPORT=lines", ("transpose_tile", "transpose_padded")),
}


def edits_of(mutant: pathlib.Path) -> list[tuple[str, str]]:
    return re.findall(r"<<<<<<<\n(.*?)=======\n(.*?)>>>>>>>\n", mutant.read_text(), re.S)


def edited(master: str, edits: list[tuple[str, str]]) -> str:
    for old, new in edits:
        if master.count(old) != 1:
            sys.exit(f"an edit does not apply: {old}")
        master = master.replace(old, new)
    return master


def change(file: pathlib.Path, edits: list[tuple[str, str]]) -> None:
    file.write_text(edited(file.read_text(), edits))


def not_cuda(folder: str, names: list[str]) -> list[str]:
    """What of a lab's folder is no file of a student."""
    return [name for name in names if not name.endswith(".cu")]


def capture_sass(lab: int, name: str, rung: str, element: str = "float") -> dict[str, str]:
    """What `make sass` prints where nvcc and cuobjdump are; elsewhere nothing."""
    if not all(shutil.which(tool) for tool in ("nvcc", "cuobjdump")):
        return {}
    command = f"make sass LAB={lab} RUNG={rung} TYPE={element} ARCH=90 SOLUTION=1"
    text = subprocess.run(["bash", "grader/scripts/sass.sh", GRADER, str(lab), rung, element, "90", "--solution"], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {f"lab{lab}-{name}.txt": f"$ {command}\n" + text}


def capture(lab: int, folder: pathlib.Path, name: str, mutant, arguments) -> dict[str, str]:
    """The files that one run makes: name -> content."""
    if arguments[:1] == ["sass"]:
        return capture_sass(lab, name, *arguments[1:])
    solution = " SOLUTION=1" if mutant == "" else ""
    files = {}
    with tempfile.TemporaryDirectory() as scratch:
        if arguments[:1] == ["run"]:
            rung, element = (arguments[1:] + ["float"])[:2]
            command = f"make run LAB={lab} RUNG={rung} M=256 N=256 K=256 TYPE={element}{solution}"
            call = ["run", "--rung", rung, "-M", "256", "-N", "256", "-K", "256", "--type", element, "--solution"]
        else:
            command = f"make check LAB={lab}{solution}"
            # The files must be called as the student's are: messages name them.
            target = pathlib.Path(scratch) / folder.name
            shutil.copytree(folder if isinstance(mutant, list) else folder / "solution", target, ignore=not_cuda)
            if isinstance(mutant, list):
                change(target / "gemm.cu", mutant)
            elif mutant:
                (patch,) = folder.glob(f"[ma]*/{mutant}.*")
                named = re.search(r"^# file: (.*)$", patch.read_text(), re.M)
                change(target / (named[1] if named else "gemm.cu"), edits_of(patch))
            call = ["check", *(["--solution"] if mutant == "" else ["--sources", scratch] if mutant else []), *arguments]
        if name == "solution":
            call += ["--json", f"{scratch}/report.json"]
        result = subprocess.run(
            [GRADER, *call, "--device", "sim", "--lab", str(lab)],
            cwd=ROOT, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}, stdout=subprocess.PIPE, text=True)
        if result.returncode > 1:
            sys.exit(f"lab{lab}-{name}: the grader ends with {result.returncode}: {' '.join(map(str, call))}")
        files[f"lab{lab}-{name}.txt"] = f"$ {command}\n" + result.stdout.replace(scratch + "/", "")
        if name == "solution":
            files[f"lab{lab}-goals.json"] = goals(json.loads(pathlib.Path(scratch, "report.json").read_text()))
    return files


def capture_program(name: str, program: str, edits, settings: str, kernels) -> dict[str, str]:
    """Both streams of `make sim`. An edited program lies in a folder of its own, under the same name."""
    source = ROOT / "examples" / f"{program}.cu"
    with tempfile.TemporaryDirectory() as scratch:
        file = source
        if edits:
            file = pathlib.Path(scratch, source.name)
            file.write_text(edited(source.read_text(), edits))
        text = subprocess.run(["make", "-s", "sim", f"FILE={file}", *settings.split()], cwd=ROOT, text=True, check=not edits,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    if kernels:
        blocks = re.split(r"^(?=[a-z_]+\()", text, flags=re.M)
        blocks[-1], end = re.split(r"^(?=simgpu:)", blocks[-1], flags=re.M)
        text = blocks[0] + "...\n" + "".join(block for block in blocks if block.startswith(kernels)) + end
    shown = source.name if edits else source.relative_to(ROOT)
    # make's and the shell's words about the exit status: the program's is in the last line.
    text = re.sub(r"^(make.*|Aborted.*)\n", "", text.replace(f"{file.parent}/", ""), flags=re.M)
    return {f"sim-{name}.txt": f"$ make sim FILE={shown}{settings}\n" + text}


def goals(report: dict) -> str:
    """Each goal of a lab where it is judged first."""
    found = {}
    for lab in report["labs"]:
        for stage in lab["stages"]:
            for goal in stage["goals"]:
                kept = {key: goal[key] for key in ("key", "what", "type", "at", "measured", "bound")}
                if goal["advice"]:
                    kept["advice"] = True
                found.setdefault((stage["id"], goal["key"]), {"stage": stage["id"], **kept})
    return "".join(("[" if n == 0 else ",") + json.dumps(one, ensure_ascii=False) + "\n" for n, one in enumerate(found.values())) + "]\n"


def neutral(text: str) -> list[str]:
    """Without what is the machine's own: the compiler's version, whether a GPU is there, where the host's memory lies."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x", text)
    text = re.sub(r" · sim( \([^)]*\))?( · clang [\d.]+)?$", " · sim", text, flags=re.M)
    return text.splitlines()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("labs", nargs="*", help="numbers, or sim")
    options = parser.parse_args()
    jobs = []
    for lab in options.labs or [*map(str, sorted(WANTED)), "sim"]:
        if lab == "sim":
            jobs += [(capture_program, name, *wanted) for name, wanted in PROGRAMS.items()]
            continue
        (folder,) = ROOT.glob(f"lab{lab}_*")
        jobs += [(capture, int(lab), folder, *wanted) for wanted in WANTED[int(lab)]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for files in pool.map(lambda job: job[0](*job[1:]), jobs):
            for name, text in files.items():
                path = ROOT / "docs" / "transcripts" / name
                if not options.check:
                    path.write_text(text)
                    print(name)
                    continue
                old = neutral(path.read_text()) if path.exists() else []
                if old == neutral(text):
                    print(f"ok {name} is what the command prints", flush=True)
                else:
                    print(f"FAILED {name} is out of date; run docs/transcripts/capture.py", flush=True)
                    print("\n".join(difflib.unified_diff(old, neutral(text), "kept", "now", lineterm="", n=0)), flush=True)


if __name__ == "__main__":
    main()
