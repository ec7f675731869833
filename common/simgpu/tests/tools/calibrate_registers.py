#!/usr/bin/env python3
"""Compares the register estimate with ptxas and writes common/simgpu/ptx/register_calibration.csv.

Needs ptxas (CUDA Toolkit), the clang versions named, and the program built from ptx_stats.cpp:

    calibrate_registers.py --stats build/ptx_stats [--clang clang++-14 clang++-22] [--ptxas ptxas]

Every kernel is compiled by clang with the project's flags; the very same PTX then goes to ptxas -v and
to the estimate. "fit" rows are the kernels the two constants of liveness.cpp were chosen on, "held out"
rows are the solutions of the labs and the kernels whose counts were compared with a GPU
(grader/author/counts/others), which were not looked at for that.
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
OTHERS = "grader/author/counts/others"
FIT = ["common/simgpu/tests/ptx/register_kernels.cu"]
PTXAS = re.compile(
    r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)


def demangle(names):
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return [without_parameters(n).removeprefix("void ") for n in out.stdout.splitlines()]


def without_parameters(name):
    """ "void tile<float, (Kind)1>(View<float const>, ...)" -> "void tile<float, (Kind)1>" """
    depth = 0
    for at, letter in enumerate(name):
        if letter == "(" and depth == 0:
            return name[:at]
        depth += (letter == "<") - (letter == ">")
    return name


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
                   env={**os.environ, "CLANG": clang, **({} if source.startswith(OTHERS) else {"UNROLL": "all"})})
    stats = subprocess.run([args.stats, str(ptx)], capture_output=True, text=True, check=True).stdout
    rows = [line.split(",") for line in stats.splitlines()]
    names = demangle([row[1] for row in rows])
    known = [args.known.get((clang, source, name, int(row[2]), int(row[3]))) for row, name in zip(rows, names)]
    if None in known:
        truth = by_ptxas(ptx, args, folder)
        if truth is None:  # it calls what only simgpu has
            print(f"{source} ({clang}) left out: ptxas does not take it")
            return
        known = [truth[row[1]] for row in rows]
    for row, name, (registers, spilled) in zip(rows, names, known):
        yield name, registers, spilled, int(row[2]), int(row[3]), int(row[4]), int(row[5])


def by_ptxas(ptx, args, folder):
    """By mangled name: registers, and bytes of spills; None if ptxas does not take the text."""
    # simgpu takes newer instructions than the text's version and target allow; ptxas does not.
    text = re.sub(r"^\.version .*", ".version 8.6", ptx.read_text(), flags=re.M)
    for target in ("sm_80", "sm_90a"):
        ptx.write_text(re.sub(r"^\.target \w+", ".target " + target, text, flags=re.M))
        run = subprocess.run([args.ptxas, "-v", "-arch=" + target, str(ptx), "-o", str(folder / "cubin")],
                             capture_output=True, text=True)
        if run.returncode == 0:
            return {m[1]: (int(m[3]), int(m[2])) for m in PTXAS.finditer(run.stderr)}
    return None


def figures_of(table):
    """What ptxas said, by compiler, source, kernel and both estimates: as long as these are the same, so is its input."""
    with open(table, newline="") as file:
        return {(r["compiler"], r["source"], r["kernel"], int(r["live"]), int(r["estimate"])):
                (int(r["ptxas"]), int(r["spill_bytes"])) for r in csv.DictReader(file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stats", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--clang", nargs="+", default=["clang++-14", "clang++-22"])
    parser.add_argument("--output", default=str(ROOT / "common/simgpu/ptx/register_calibration.csv"))
    parser.add_argument("--reuse", metavar="TABLE", help="ptxas takes an hour: keep what an earlier table says of kernels that "
                        "are still the same")
    args = parser.parse_args()
    args.known = figures_of(args.reuse) if args.reuse else {}
    args.stats = str(pathlib.Path(args.stats).resolve())
    # The other files of lab 6 hold kernels like these, and take ptxas very long.
    labs = [*sorted(ROOT.glob("lab[1-5]*/solution/*.cu")), *sorted(ROOT.glob("lab6*/solution/gemm.cu"))]
    held_out = [str(p.relative_to(ROOT)) for p in [*labs, *sorted((ROOT / OTHERS).glob("*.cu"))]]
    errors = {"fit": [], "held out": []}
    false_alarms, told, missed = 0, 0, []
    with tempfile.TemporaryDirectory() as name, open(args.output, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["set", "compiler", "source", "kernel", "ptxas", "spill_bytes", "live", "estimate", "limit", "spills"])
        for kind, sources in (("fit", FIT), ("held out", held_out)):
            for source in sources:
                for clang in args.clang:
                    for kernel, registers, spilled, live, estimate, limit, spills in measure(
                            clang, source, args, pathlib.Path(name)):
                        file.flush()
                        table.writerow([kind, clang, source, kernel, registers, spilled, live, estimate, limit, spills])
                        false_alarms += spills and not spilled
                        told += spills and spilled > 0
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
    print(f"spills foretold that are none: {false_alarms}; spills foretold: {told}, not foretold: {len(missed)}, of at most {max(missed, default=0)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
