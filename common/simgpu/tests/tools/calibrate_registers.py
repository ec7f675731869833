#!/usr/bin/env python3
"""Compares the register estimate with ptxas and writes common/simgpu/ptx/register_calibration.csv.

Needs ptxas (CUDA Toolkit), the clang versions named, and the program built from ptx_stats.cpp:

    calibrate_registers.py --stats build/ptx_stats [--clang clang++-14 clang++-22] [--ptxas ptxas]

Every kernel is compiled by clang with the project's flags; the very same PTX then goes to ptxas -v and
to the estimate. "fit" rows are the kernels the two constants of liveness.cpp were chosen on, "held out"
rows are the solutions of the labs, which were not looked at for that.
"""
import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
FIT = ["common/simgpu/tests/ptx/register_kernels.cu"]
PTXAS = re.compile(
    r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)


def demangle(names):
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    # "void shared_tile<float, 64>(View<float const>, ...)" -> "shared_tile<float, 64>"
    return [re.sub(r"\(.*", "", n).removeprefix("void ") for n in out.stdout.splitlines()]


def compiled(source, folder):
    """A lab's file instantiates nothing itself: what is compiled is its translation unit (make build/bin/grader first)."""
    if not source.startswith("lab"):
        return source
    said = subprocess.run(["build/bin/grader", "unit", source], cwd=ROOT, capture_output=True, text=True, check=True)
    unit = folder / "unit.cu"
    unit.write_text(said.stdout)
    return str(unit)


def measure(clang, source, args, folder):
    ptx = folder / "kernel.ptx"
    subprocess.run(["common/simgpu/simcc", "--ptx", compiled(source, folder), "-o", str(ptx)], cwd=ROOT, check=True,
                   env={**os.environ, "CLANG": clang, "UNROLL": "all"})
    log = subprocess.run([args.ptxas, "-v", "-arch=sm_80", str(ptx), "-o", str(folder / "cubin")],
                         capture_output=True, text=True, check=True).stderr
    truth = {m[1]: (int(m[3]), int(m[2])) for m in PTXAS.finditer(log)}
    stats = subprocess.run([args.stats, str(ptx)], capture_output=True, text=True, check=True).stdout
    rows = [line.split(",") for line in stats.splitlines()]
    for row, name in zip(rows, demangle([r[1] for r in rows])):
        registers, spilled = truth[row[1]]
        yield name, registers, spilled, int(row[2]), int(row[3]), int(row[4]), int(row[5])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stats", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--clang", nargs="+", default=["clang++-14", "clang++-22"])
    parser.add_argument("--output", default=str(ROOT / "common/simgpu/ptx/register_calibration.csv"))
    args = parser.parse_args()
    args.stats = str(pathlib.Path(args.stats).resolve())
    held_out = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("lab*/solution/gemm.cu"))
    errors = {"fit": [], "held out": []}
    false_alarms, missed = 0, []
    with tempfile.TemporaryDirectory() as name, open(args.output, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["set", "compiler", "source", "kernel", "ptxas", "spill_bytes", "live", "estimate", "limit", "spills"])
        for kind, sources in (("fit", FIT), ("held out", held_out)):
            for source in sources:
                for clang in args.clang:
                    for kernel, registers, spilled, live, estimate, limit, spills in measure(
                            clang, source, args, pathlib.Path(name)):
                        table.writerow([kind, clang, source, kernel, registers, spilled, live, estimate, limit, spills])
                        false_alarms += spills and not spilled
                        missed += [spilled] if spilled and not spills else []
                        if spilled == 0:
                            errors[kind].append((min(estimate, limit) - registers, registers))
    for kind, pairs in errors.items():
        if not pairs:
            continue
        n = len(pairs)
        print(f"{kind}: {n} kernels that do not spill, mean error {sum(abs(e) for e, _ in pairs) / n:.1f} registers "
              f"({100 * sum(abs(e) / r for e, r in pairs) / n:.1f} %), worst {max(abs(e) for e, _ in pairs)}, "
              f"bias {sum(e for e, _ in pairs) / n:+.1f}")
    print(f"spills foretold that are none: {false_alarms}; spills not foretold: {len(missed)}, of at most {max(missed, default=0)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
