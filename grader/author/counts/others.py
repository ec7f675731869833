#!/usr/bin/env python3
"""How often the simulated GPU counts what the profiler counted, on kernels written in the manner of public code.

    others.py [--out FILE]            compares others/*.cu, compiled by each clang, with the recorded counts
    others.py --record FOLDER         records: FOLDER is a copy of others/ after `sh profile.sh FOLDER`

The recorded counts are docs/results/h200/others.csv. Every second kernel is a test: what the model does wrong there is
never looked at, only how often; `--all` prints it nevertheless, and spoils the test. All launches of a kernel are on the
same side. --out keeps the tallies of both sides together, as docs/results/h200/others.json has them for docs/simgpu.md.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = pathlib.Path("grader/author/counts/others")
RECORD = ROOT / "docs/results/h200/others.csv"
SASS = "smsp__sass_"
LSU = "l1tex__t_"
# Counter: the profiler's names, added up, and ours; a "-" takes off.
COUNTERS = {
    "global load requests": ([LSU + "requests_pipe_lsu_mem_global_op_ld.sum"], ["global_load.requests"]),
    "global load sectors": ([LSU + "sectors_pipe_lsu_mem_global_op_ld.sum"], ["global_load.sectors"]),
    "global store requests": ([LSU + "requests_pipe_lsu_mem_global_op_st.sum"], ["global_store.requests"]),
    "global store sectors": ([LSU + "sectors_pipe_lsu_mem_global_op_st.sum"], ["global_store.sectors"]),
    "global atomic requests": ([LSU + "requests_pipe_lsu_mem_global_op_red.sum", LSU + "requests_pipe_lsu_mem_global_op_atom.sum"],
                               ["global_atomic.requests"]),
    "shared load requests": ([SASS + "inst_executed_op_shared_ld.sum"], ["shared_load.requests", "-matrix_load.requests"]),
    "shared load wavefronts": ([SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
                               ["shared_load.wavefronts", "-matrix_load.wavefronts"]),
    "shared store requests": ([SASS + "inst_executed_op_shared_st.sum"], ["shared_store.requests", "-matrix_store.requests"]),
    "shared store wavefronts": ([SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
                                ["shared_store.wavefronts", "-matrix_store.wavefronts"]),
    "shared atomic requests": ([SASS + "inst_executed_op_shared_atom.sum"], ["shared_atomic.requests"]),
    "local accesses": ([SASS + "inst_executed_op_local_ld.sum", SASS + "inst_executed_op_local_st.sum"],
                       ["local_load_requests", "local_store_requests"]),
    "multiply-adds f32": ([SASS + "thread_inst_executed_op_ffma_pred_on.sum"], ["fma_f32"]),
    "multiply-adds f64": ([SASS + "thread_inst_executed_op_dfma_pred_on.sum"], ["fma_f64"]),
}


def programs():
    return sorted(file.stem for file in (ROOT / SOURCES).glob("*.cu"))


def launches_of(lines):
    """"kernel, shape: ok" -> "kernel, shape"."""
    return [line.rsplit(":", 1)[0] for line in lines if not line.startswith("==")]


def record(folder):
    rows = []
    for program in programs():
        names = launches_of((folder / f"{program}.names").read_text().splitlines())
        table = list(csv.reader(line for line in (folder / f"{program}.csv").read_text().splitlines() if line.startswith('"')))
        head, launches = table[0], table[2:]  # names, units, then launches
        if len(names) != len(launches):
            sys.exit(f"{program}: {len(names)} names and {len(launches)} launches: not of one run")
        for name, row in zip(names, launches):
            row = dict(zip(head, row))
            rows.append([program, name] + [round(sum(float(row[m].replace(",", "")) for m in measured)) for measured, _ in COUNTERS.values()])
    device = json.loads((folder / "device.json").read_text())
    on = f"{device['gpu']}, driver {device['driver']}, CUDA {device['nvcc']}, ncu {device['ncu']}, {device['date']}"
    with open(RECORD, "w", newline="") as out:
        out.write(f"# The profiler's counts of {SOURCES}/*.cu: {on}\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["program", "launch", *COUNTERS])
        writer.writerows(rows)
    print(f"recorded: {RECORD.relative_to(ROOT)} ({len(rows)} launches; {on})")


def simulate(clang):
    """(program, launch) -> the counts of a launch, for each in order."""
    launches = {}
    with tempfile.TemporaryDirectory() as folder:
        for program in programs():
            subprocess.run(["common/simgpu/simcc", "-I.", str(SOURCES / f"{program}.cu"), "-o", f"{folder}/{program}"], cwd=ROOT, check=True,
                           env={**os.environ, "CLANG": clang})
            ran = subprocess.run([f"{folder}/{program}"], capture_output=True, text=True, check=True,
                                 env={**os.environ, "SIMGPU_REPORT": "json", "SIMGPU_QUIET": "1"})
            lines = ran.stdout.splitlines()
            if wrong := [line for line in lines if not line.endswith(": ok")]:
                sys.exit(f"{clang}: {wrong}")
            names = launches_of(lines)
            launches |= {(program, name): launch for name, launch in zip(names, json.loads(ran.stderr), strict=True)}
    return launches


def ours_of(launch, names):
    return sum(-launch[n[1:]] if n[0] == "-" else launch[n] for n in names)


def tally(offs):
    return {"exact": sum(o == 0 for o in offs), "within 5 %": sum(o <= 0.05 for o in offs), "within 25 %": sum(o <= 0.25 for o in offs),
            "of": len(offs)}


def compare(clang, measured, show_all):
    simulated = simulate(clang)
    if list(simulated) != [(row["program"], row["launch"]) for row in measured]:
        sys.exit("the recorded launches are not those of others/*.cu: record again on a machine with a GPU")
    kernels = {}  # each by its number
    near = {}  # (counter, whether it is of the test) -> how far off each is
    for row in measured:
        number = kernels.setdefault((row["program"], row["launch"].split(",")[0]), len(kernels))
        for counter, (_, names) in COUNTERS.items():
            real, here = int(row[counter]), ours_of(simulated[row["program"], row["launch"]], names)
            if real == here == 0:
                continue
            off = abs(here - real) / real if real else float("inf")
            near.setdefault((counter, number % 2 == 1), []).append(off)
            if off and (show_all or number % 2 == 0):
                print(f"  {row['launch']}: {counter}: {real} measured, {here} simulated")
    print(f"{clang}, {len(measured)} launches of {len(kernels)} kernels: exact / within 5 % / within 25 % / of")
    print(f"{'':24} {'looked at':^23} {'test':^23}")
    for counter in COUNTERS:
        cells = []
        for held in (False, True):
            offs = near.get((counter, held), [])
            cells.append(" /".join(f"{number:4}" for number in tally(offs).values()))
        print(f"{counter:24} {cells[0]:^23} {cells[1]:^23}")
    version = re.search(r"version ([\d.]+)", subprocess.run([clang, "--version"], capture_output=True, text=True, check=True).stdout)[1]
    both = {counter: tally(near.get((counter, False), []) + near.get((counter, True), [])) for counter in COUNTERS}
    return {"clang": version, "launches": len(measured), "kernels": len(kernels), "counters": both}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--clang", nargs="+", default=["clang++-14", "clang++-22"])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE")
    args = parser.parse_args()
    if args.record:
        record(args.record)
        return
    about, *table = RECORD.read_text().splitlines()
    measured = list(csv.DictReader(table))
    compared = [compare(clang, measured, args.all) for clang in args.clang]
    if args.out:
        commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        rows = ",\n".join(json.dumps(one) for one in compared)
        args.out.write_text(f'{{"kind": "others", "measured": {json.dumps(about.rpartition(": ")[2])}, "commit": {json.dumps(commit.strip())}, '
                            f'"date": "{datetime.date.today()}",\n"compared": [\n{rows}\n]}}\n')


main()
