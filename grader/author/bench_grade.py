"""How fast a class is graded, and how much memory that takes: `make bench-grade`.

    bench_grade.py BUILD [--out FILE] [--submissions N] [--long N]

Grades, in boxes, the solutions of labs 1 to 5, each copy a file of its own for the compiler, once whole and once with
their bonus files as they were handed out; one submission before has the common parts compiled. Then a long class of quick
submissions (lab 1 untouched), in which the memory of the grading process is read as it goes. Figures, machine, compiler, date and commit go to
FILE; what else the machine does is told by its load."""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

AIM = 12  # submissions a minute, on two idle cores
MARK = 50  # after so many students memory is compared


def handed_in(root, folder, count, core_alone):
    """Copies of the solutions; core_alone: files that only bonus stages live in are as they were handed out."""
    for lab in sorted(root.glob("lab[1-5]_*")):
        toml = (lab / "lab.toml").read_text(encoding="utf-8")
        core = {lab_file for lab_file, kind in files_of(toml) if kind == "core"}
        for solution in sorted((lab / "solution").glob("*.cu")):
            name = solution.name
            source = solution if name in core or not core_alone else lab / name
            for number in range(count):
                target = folder / f"s{number:04}" / lab.name / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(f"{source.read_text(encoding='utf-8')}// {folder.name} {number} {os.getpid()}\n", encoding="utf-8")


def files_of(toml):
    """(file, kind) of each stage of a lab."""
    import tomllib
    lab = tomllib.loads(toml)
    files = {rung["name"]: rung.get("file", "gemm.cu") for rung in lab["rung"]}
    return [(files[stage["rung"]], stage.get("kind", "core")) for stage in lab["stage"]]


def adopt():
    """What a box leaves behind when it is ended comes to this process: else its time would be nobody's."""
    become_subreaper = 36  # PR_SET_CHILD_SUBREAPER
    if ctypes.CDLL(None, use_errno=True).prctl(become_subreaper, 1, 0, 0, 0) != 0:
        sys.exit(f"error: cannot adopt processes: {os.strerror(ctypes.get_errno())}")


def bury():
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def grade(command, watch=None):
    """Seconds on the clock and of processors; watch(pid, graded) after each student."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        said = []
        for line in running.stderr:
            said.append(line)
            if watch and (done := re.match(r"\[(\d+)/\d+\]", line)):
                watch(running.pid, int(done[1]))
    if running.returncode != 0:
        sys.exit(f"error: the class could not be graded: {''.join(said[-5:])}")
    bury()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def resident(pid):
    """MiB that a process holds now."""
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def full_score(out):
    """Of labs 1 to 5, or the figures mean nothing."""
    grades = json.loads((out / "grades.json").read_text())
    scores = {(one["status"], one["score"]) for one in grades["students"]}
    if scores != {("GRADED", grades["possible"])}:
        sys.exit(f"error: a solution has lost points: {sorted(scores)}")


def throughput(name, command, scratch, count, core_alone):
    root = pathlib.Path(".").resolve()
    warm, many = scratch / f"{name}-warm", scratch / f"{name}-many"
    handed_in(root, warm, 1, core_alone)
    handed_in(root, many, count, core_alone)
    grade([*command, str(warm), "--out", str(scratch / "warm-out")])
    out = scratch / f"{name}-out"
    clock, processor = grade([*command, str(many), "--out", str(out)])
    full_score(out)
    seconds = [sum(lab["build"]["seconds"] for lab in json.loads(path.read_text())["labs"]) for path in (out / "results").glob("*.json")]
    found = {"submissions": count, "per_minute": 60 * count / clock, "processor_seconds_each": processor / count,
             "compile_seconds_each": statistics.mean(seconds)}
    print(f"{name:<30} {found['per_minute']:6.1f} a minute (aim {AIM})   {found['processor_seconds_each']:6.1f} processor seconds each", flush=True)
    return found


def memory(command, scratch, count):
    source = pathlib.Path("lab1_naive/gemm.cu")
    for number in range(count):
        target = scratch / "long" / f"s{number:04}" / "lab1_naive"
        target.mkdir(parents=True)
        shutil.copy(source, target)
    held = {}

    def watch(pid, graded):
        if graded in (MARK, count - 1):
            held[graded] = resident(pid)
    clock, _ = grade([*command, str(scratch / "long"), "--out", str(scratch / "long-out")], watch)
    begin, end = held[MARK], held[count - 1]
    print(f"{count} quick submissions: {begin:.0f} MiB after {MARK}, {end:.0f} MiB at the end   {60 * count / clock:.0f} a minute", flush=True)
    return {"submissions": count, f"mib_after_{MARK}": begin, "mib_at_the_end": end, "per_minute": 60 * count / clock}


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def about():
    cpu = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return {"cpu": cpu[1] if cpu else os.uname().machine, "cores": len(os.sched_getaffinity(0)), "load_at_the_start": os.getloadavg()[0],
            "compiler": said(os.environ.get("CLANG") or "clang++", "--version").split("\n")[0], "commit": said("git", "rev-parse", "--short=12", "HEAD"),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


def main():
    parser = argparse.ArgumentParser(description="How fast a class is graded.")
    parser.add_argument("build"), parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--submissions", type=int, default=6)
    parser.add_argument("--long", type=int, default=500)
    options = parser.parse_args()
    if options.long <= MARK + 1:
        parser.error(f"--long: more than {MARK + 1}, or there is no growth to see")
    adopt()
    machine = about()
    print(f"{machine['cpu']}, {machine['cores']} cores, load {machine['load_at_the_start']:.2f} at the start", flush=True)
    command = [f"{options.build}/bin/grade", "--root", ".", "--build", options.build]
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        scratch.chmod(0o755)  # users of boxes have to get in
        found = {"schema": 1, "machine": machine,
                 "solutions": throughput("solutions of labs 1 to 5", command, scratch, options.submissions, False),
                 "core": throughput("their core stages alone", command, scratch, options.submissions, True),
                 "memory": memory(command, scratch, options.long)}
    found["machine"]["load_at_the_end"] = os.getloadavg()[0]
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"written: {options.out}")


if __name__ == "__main__":
    main()
