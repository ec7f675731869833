"""What the site reads of measurements: the files of docs/results and the logs of docs/transcripts, and how their numbers
are written."""

import hashlib
import re
import sys

from common import ROOT, escape, raw

sys.path.insert(0, str(ROOT / "grader" / "plots"))
import results  # noqa: E402

# ---- the log of labs 1 to 3, which has what is no rung: a kernel as given, a wrong turn
TYPES = {"f": "float", "d": "double", "i": "int32"}
NAMES = {"f32": "FP32", "f64": "FP64", "tf32": "TF32", "bf16": "BF16", "f16": "FP16"}  # of the tuning's log
LINE = re.compile(r"^(?P<type>[fdi]) (?P<n>\d+) (?P<name>.+?)\s+(?P<ms>[\d.]+) ms\s+(?P<tf>[\d.]+) TF(?:\s+(?P<percent>[\d.]+)%)?$")


def log_records(text):
    """The measurements in a log, as dictionaries of type, n, name, ms, tf and percent (of cuBLAS)."""
    records = []
    for line in text.splitlines():
        if found := LINE.match(line):
            record = found.groupdict()
            record["type"] = TYPES[record["type"]]
            record["percent"] = record["percent"] or "100"
            records.append(record)
    return records


def log_header(text):
    """What a log says about its measurements: its first paragraph."""
    return " ".join(text.strip().split("\n\n")[0].splitlines())


# ---- what make bench wrote

def rewritten(record):
    """Whether a file with one kernel has changed since it was measured: the old speed is another kernel's. (A gemm.cu holds
    many and changes for other reasons.) A copy without solutions was made from a tree whose site was built, so there the file
    is believed."""
    source = ROOT / record.get("source", "gemm.cu")
    if source.name == "gemm.cu" or not source.parent.is_dir():
        return False
    return not source.is_file() or code_sha256(source.read_text(encoding="utf-8")) != record.get("source_sha256")


def code_sha256(text):
    """As grader/os/sha256.hpp has it: comments may change, and what was measured stays true."""
    code = [line for line in text.split("\n") if line.strip(" \t\r") and not line.lstrip(" \t\r").startswith("//")]
    return hashlib.sha256("".join(line + "\n" for line in code).encode()).hexdigest()


class Bench:
    """docs/results/h200/bench.json: squares by rung, arithmetic and n; cuBLAS is a rung as well."""

    def __init__(self, text):
        data = results.parse(text, "bench.json", "bench")
        self.machine, self.provenance = data["machine"], data["provenance"]
        self.records = {}
        for one in data["records"] + [dict(y, rung="cuBLAS", ms=y["cublas_ms"], tflops=y["cublas_tflops"], percent_of_cublas=100)
                                      for y in data["yardsticks"] if "cublas_ms" in y]:
            if one["status"] == "measured" and one["m"] == one["n"] == one["k"] and not rewritten(one):
                self.records[one["rung"], one["math"], one["n"]] = one
        newest = max((one["protocol"] for one in self.records.values()), default=0)
        self.older = sorted({one["lab"] for one in self.records.values() if "lab" in one and one["protocol"] < newest})
        for (rung, kind, n), one in self.records.items():
            if rung == "cuBLAS" and (errors := self.cublas_errors(kind, n)):
                one["errors"] = errors

    def cublas_errors(self, kind, n):
        """[worst, mean] over all products in which cuBLAS stood beside a kernel of ours; None if its errors were not measured."""
        seen = [one["cublas_errors"] for (_, math, size), one in self.records.items() if (math, size) == (kind, n) and "cublas_errors" in one]
        return [max(worst for worst, _ in seen), sum(mean for _, mean in seen) / len(seen)] if seen else None

    def source(self):
        """Where the numbers come from: in a word, and all of it."""
        m, p = self.machine, self.provenance
        protocol = p["protocol"].partition(": ")[2]
        if self.older:  # grader/bench/record.hpp has what the protocols differ in
            protocol += f"; but points of lab {', '.join(map(str, self.older))} in six rounds at most, with that switch in the kernel's time, about 1 % of 20 ms"
        return (f"{m['gpu']}, {p['date'][:10]}",
                f"Driver {m['driver']}, nvcc {m['nvcc']}, cuBLAS {m['cublas']}, clock {p['sm_clock']}, commit {p['commit'][:10]}. {protocol[:1].upper()}"
                f"{protocol[1:]}. A share of cuBLAS is taken within rounds in which both ran; the row of cuBLAS is its time alone, warm, where "
                f"power holds it back most. {p['command']}. docs/results/h200/bench.json")

    def clock(self, key):
        """The median clock while it ran, in MHz."""
        return self.records[key].get("mhz")

    def rungs(self, math, n):
        """The rungs measured in an arithmetic, lab by lab."""
        return [(one["lab"], rung) for (rung, kind, size), one in self.records.items() if kind == math and size == n and rung != "cuBLAS"]


TUNED = re.compile(r"^(?P<kind>\w+) (?P<n>\d+) (?P<name>.+?) +(?:(?P<ms>[\d.]+) ms +(?P<tflops>[\d.]+) T +(?P<share>[\d.]+) rel +(?P<rel>\S+)"
                   r"|(?P<cycles>\d+) cycles +(?P<us>[\d.]+) us)$")


def tuning_runs(text):
    """What tuning-labs-4-5.txt holds, by run, type, n and name. Runs are "ends", the solutions before and after, numbers, and
    the words behind "----" up to the first ";" where cycles were counted."""
    runs, run = {}, "ends"
    for line in text.splitlines():
        if line.startswith("===="):
            run = "ends"
        elif line.startswith("---- "):
            run = line.removeprefix("---- ").removeprefix("run ").partition(";")[0]
        elif found := TUNED.match(line):
            numbers = {key: float(found[key]) for key in ("ms", "tflops", "share", "rel", "cycles", "us") if found[key] and found[key] != "nan"}
            runs[run, found["kind"], found["n"], found["name"]] = numbers
    return runs


def sweep_of(text, name):
    """A sweep's file: its records, each with the words of its place."""
    data = results.parse(text, name, "sweep")
    for record in data["records"]:
        record["place"] = record.get("label", str(record["x"]))
    return data


# ---- how numbers are written

def time(ms):
    return f"{ms:.4g}" if ms < 1000 else f"{ms:.0f}"


def shown(number):
    """Three digits, as site.js writes them."""
    if number == 0:
        return "0"
    magnitude = abs(number)
    digits = 0 if magnitude >= 100 else 1 if magnitude >= 10 else 2 if magnitude >= 1 else 3
    return f"{number:.{digits}f}"


def percent(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"


def error_words(errors):
    """[worst, mean] in u(|A||B|)."""
    return f"{errors[0]:.2g} ({errors[1]:.2g})" if errors else "–"


def with_unit(value, unit):
    """A figure with its unit: "ms", "tflops" or "%"; without one, a quotient."""
    match unit:
        case "ms": return f"{time(value)} ms"
        case "tflops": return f"{shown(value)} TFLOP/s"
        case "%": return f"{value:.0f} %"
        case "whole": return f"{value:.0f}"
    return f"{value:.2f}" if value < 9.995 else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def made_table(head, rows, note, how):
    """A table in a box that scrolls by itself, with what it shows below it and, folded, how its numbers came about."""
    return raw(f'<figure class="made-table"><div class="table-box" tabindex="0" role="region" aria-label="Measurements"><table class="made">'
               f'<thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'
               f'<figcaption class="provenance"><details><summary>{escape(note)} <span class="how">How measured</span></summary>{escape(how)}</details></figcaption></figure>')


def provenance(data):
    """Where a sweep comes from: in a word, and all of it."""
    machine, about = data["machine"], data["provenance"]
    return (f"{machine['gpu']}, {about['date'][:10]}",
            f"Driver {machine['driver']}, nvcc {machine['nvcc']}, cuBLAS {machine['cublas']}, clock {about['sm_clock']}, commit {about['commit'][:10]}. "
            f"{about['protocol'][:1].upper()}{about['protocol'][1:]}. {about['command']}")


def measured_lines(lines, found, kinds, sizes):
    """Pairs of words and name, without those that begin with "? " and were not measured."""
    lines = [(label.strip(), name.strip()) for label, name in lines]
    return [(label.removeprefix("? "), name) for label, name in lines
            if not label.startswith("? ") or all((name, kind, n) in found for kind in kinds for n in sizes)]
