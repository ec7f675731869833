"""Kills processes of a running `make grade` at random moments, starts it again, and compares the table with that of a class
that nobody disturbed.

    kill_class.py GRADE ROOT BUILD SCRATCH --students N --kills N --seed N

Prints "ok NAME" and "FAILED NAME: why" a line each. Students hand in lab 1 alone: a right one, one that is wrong, one that does not
compile, one that crashes, one that ends itself, an empty one, some of them as archives.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile



def submissions(root, folder, students):
    solution = (root / "lab1_naive/solution/gemm.cu").read_text()
    skeleton = (root / "lab1_naive/gemm.cu").read_text()
    launch = solution.index("{", solution.index("void gemm_naive("))
    kinds = [
        solution,
        skeleton,
        solution.replace("c(row, col) = sum;", "c(row, col) = sum + 1;"),
        solution + "\nthis is no C++\n",
        "#include <cstdlib>\n" + solution[: launch + 1] + " std::abort(); " + solution[launch + 1 :],
        "#include <unistd.h>\n" + solution[: launch + 1] + " _exit(0); " + solution[launch + 1 :],
        None,
    ]
    for number in range(students):
        text = kinds[number % len(kinds)]
        name = f"s{number:02}"
        if text is None:
            (folder / name).mkdir(parents=True)
            (folder / name / "essay.txt").write_text("no code\n")
        elif number % 3 == 1:
            folder.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(folder / f"{name}.zip", "w") as packed:
                packed.writestr("lab1_naive/gemm.cu", text + f"// {name}\n")
        else:
            (folder / name / "lab1_naive").mkdir(parents=True)
            # Nobody's is in the cache of compiled files because of a neighbour.
            (folder / name / "lab1_naive/gemm.cu").write_text(text + f"// {name}\n")


def processes():
    """parent -> children, and pid -> what it is."""
    children, names = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text()
            words = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        fields = stat[stat.rindex(")") + 2 :].split()
        if fields[0] == "Z":
            continue
        pid = int(entry)
        children.setdefault(int(fields[1]), []).append(pid)
        program = os.path.basename(words[0].decode(errors="replace"))
        if program == "grader" and len(words) > 1:
            program = "judge" if b"check" in words else words[-2].decode(errors="replace")
        names[pid] = program or stat[stat.index("(") + 1 : stat.rindex(")")]
    return children, names


def tree(parent):
    children, names = processes()
    found, todo = [], [parent]
    while todo:
        pid = todo.pop()
        if pid in names:
            found.append((pid, names[pid]))
        todo += children.get(pid, [])
    return found


class Killer:
    def __init__(self, chance, kills):
        self.chance, self.left, self.killed = chance, kills, {}

    def once(self, grade):
        """One of a kind that is running now, so that the many do not hide the rare."""
        kinds = {}
        for pid, name in tree(grade.pid):
            kinds.setdefault(name, []).append(pid)
        if self.chance.random() < 0.9:  # or it would never come far
            kinds.pop("grade", None)
        if not kinds:
            return
        name = self.chance.choice(sorted(kinds))
        try:
            os.kill(self.chance.choice(kinds[name]), signal.SIGKILL)
        except ProcessLookupError:
            return
        self.killed[name] = self.killed.get(name, 0) + 1
        self.left -= 1


def run(command, killer=None):
    """Its exit status and what it printed. Output goes to files: a pipe would be held open by orphans."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as grade:
        while killer and killer.left > 0 and grade.poll() is None:
            time.sleep(killer.chance.uniform(0.02, 0.6))
            killer.once(grade)
        errors = grade.stderr.read()
    return grade.returncode, errors


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in ("seconds", "started", "build_seconds")}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def table(out):
    with open(out / "grades.csv", newline="") as file:
        return list(csv.reader(file))


def results(out):
    return {p.name: without_times(json.loads(p.read_text())) for p in sorted((out / "results").glob("s*.json"))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grade"), parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build"), parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    failed = False

    def fact(name, right, why=""):
        nonlocal failed
        failed = failed or not right
        print(f"ok {name}" if right else f"FAILED {name}: {why}", flush=True)

    hand_in, calm, stormy = (args.scratch / name for name in ("in", "calm", "stormy"))
    submissions(args.root, hand_in, args.students)
    command = lambda out: [args.grade, "--root", str(args.root), "--build", args.build, str(hand_in), "--out", str(out)]
    begin = time.monotonic()
    status, errors = run(command(calm))
    fact("a class that nobody disturbs is graded", status == 0, errors[-500:])
    scores = [row[2] for row in table(calm)[1:8]]
    fact("as each of the kinds deserves", scores == ["25", "0", "5", "0", "15", "15", "0"], scores)
    print(f"{args.students} students undisturbed: {time.monotonic() - begin:.0f} s", flush=True)

    killer = Killer(random.Random(args.seed), args.kills)
    begin, starts, before = time.monotonic(), 0, None
    while True:
        if before is not None and killer.left > 0:
            fact("and the next class of the same is too", table(calm) == table(stormy), differences(calm, stormy))
        if before is None or killer.left > 0:
            shutil.rmtree(stormy, ignore_errors=True)
            (stormy / "results").mkdir(parents=True)
            shutil.copy(calm / "secret", stormy / "secret")
        for attempt in range(10 * args.kills + 10):
            starts += 1
            status, before = run(command(stormy), killer)
            if status == 0:
                break
        if killer.left <= 0:
            break
    print(f"{args.kills} kills, {starts} starts, {time.monotonic() - begin:.0f} s: "
          + ", ".join(f"{name} {count}" for name, count in sorted(killer.killed.items())), flush=True)
    fact("all that was asked for were killed", sum(killer.killed.values()) == args.kills)
    rows = table(stormy)
    fact("each submission stands once in the table", len({row[0] for row in rows[1:]}) == len(rows) - 1 == args.students)
    fact("the table is that of the class that nobody disturbed", table(calm) == rows, differences(calm, stormy))
    quiet, loud = results(calm), results(stormy)
    fact("and each result too, words and all", quiet == loud, differing(quiet, loud))
    left = [p.name for p in stormy.rglob("*") if p.name.startswith(".")]
    fact("no half of a file is left", not left, ", ".join(left))
    sys.exit(1 if failed else 0)


def differences(calm, stormy):
    return "; ".join(str((a, b)) for a, b in zip(table(calm), table(stormy)) if a != b)[:2000]


def differing(quiet, loud):
    def walk(a, b, path):
        if isinstance(a, dict) and isinstance(b, dict):
            for key in a.keys() | b.keys():
                yield from walk(a.get(key), b.get(key), f"{path}/{key}")
        elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            for i, (x, y) in enumerate(zip(a, b)):
                yield from walk(x, y, f"{path}/{i}")
        elif a != b:
            yield f"{path}: {str(a)[:150]} | {str(b)[:150]}"
    return "; ".join(walk(quiet, loud, ""))[:3000]


if __name__ == "__main__":
    main()
