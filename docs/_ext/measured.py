"""Tables of what was measured, from the logs and the JSON that measuring wrote; and bounds for the reader's own GPU."""

import ast
import hashlib
import json
import math
import re
import tomllib

from docutils import nodes
from docutils.parsers.rst import directives

from common import DOCS, H200, ROOT, LabDirective, escape, inline, raw

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
        data = json.loads(text)
        self.machine, self.provenance = data["machine"], data["provenance"]
        self.records = {}
        for one in data["records"] + [dict(y, rung="cuBLAS", ms=y["cublas_ms"], tflops=y["cublas_tflops"], percent_of_cublas=100)
                                      for y in data["yardsticks"] if "cublas_ms" in y]:
            if one["status"] == "measured" and one["m"] == one["n"] == one["k"] and not rewritten(one):
                self.records[one["rung"], one["math"], one["n"]] = one

    def source(self):
        """Where the numbers come from: in a word, and all of it."""
        m, p = self.machine, self.provenance
        protocol = p["protocol"].partition(": ")[2]
        return (f"{m['gpu']}, {p['date'][:10]}",
                f"Driver {m['driver']}, nvcc {m['nvcc']}, cuBLAS {m['cublas']}, clock {p['sm_clock']}, commit {p['commit'][:10]}. {protocol[:1].upper()}"
                f"{protocol[1:]}. A share of cuBLAS is taken within rounds in which both ran; the row of cuBLAS is its time alone, warm, where "
                f"power holds it back most. {p['command']}. docs/results/h200/bench.json")

    def clock(self, key):
        """The median clock while it ran, in MHz."""
        one = self.records[key]
        return one["clocks"]["median"] if "clocks" in one else one.get("clock")

    def rungs(self, math, n):
        """The rungs measured in an arithmetic, lab by lab."""
        return [(one["lab"], rung) for (rung, kind, size), one in self.records.items() if kind == math and size == n and rung != "cuBLAS"]


def measured_lines(lines, found, kinds, sizes):
    """Pairs of words and name, without those that begin with "? " and were not measured."""
    lines = [(label.strip(), name.strip()) for label, name in lines]
    return [(label.removeprefix("? "), name) for label, name in lines
            if not label.startswith("? ") or all((name, kind, n) in found for kind in kinds for n in sizes)]


def percent(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"


class Ladder(LabDirective):
    """```{ladder} bench
    :n: 4096
    :type: float
    :also: 1024 4095
    4.1 as given | gemm_column_walk
    ```

    One row per line: what the reader is told, and the rung in docs/results/h200/bench.json, or cuBLAS; without lines, every
    rung. :also: adds the share of cuBLAS at other sizes. Another name than "bench" is a log in docs/transcripts, for what
    is no rung. What was not measured is an error, unless its line begins with "? ": then it is left out. The share of cuBLAS at n is a bar as well. Where the clock was not the
    same for all rows, a column says so.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"n": directives.positive_int, "type": directives.unchanged, "also": directives.unchanged}

    def run(self):
        where = self.arguments[0]
        n = self.options.get("n", 4096)
        kinds = self.options.get("type", "float").split()
        also = [int(one) for one in self.options.get("also", "").split()]
        if where == "bench":
            bench = Bench(self.read(H200 / "bench.json"))
            found = {key: (time(r["ms"]), shown(r["tflops"]), percent(r["percent_of_cublas"]))
                     for key, r in bench.records.items() if "percent_of_cublas" in r}
            where_from, how = bench.source()
        else:
            text = self.read(DOCS / "transcripts" / f"{where}.txt")
            found = {(r["name"].strip(), r["type"], int(r["n"])): (r["ms"], r["tf"], r["percent"]) for r in log_records(text)}
            where_from, _, how = log_header(text).partition(" (")
            how = f"({how} Log: docs/transcripts/{where}.txt"
        lines = [line.partition("|")[::2] for line in self.content]
        if not lines and where == "bench":
            lines = [(f"[lab {lab}](lab{lab}.md) `{rung}`", rung) for lab, rung in bench.rungs(kinds[0], n)] + [("cuBLAS", "cuBLAS")]
        lines = measured_lines(lines, found, kinds, (n, *also))
        for _, name in lines:
            for kind in kinds:
                for size in (n, *also):
                    if (name, kind, size) not in found:
                        raise self.error(f"{where} has no '{name}' in {kind} at n = {size}")
        clocks = [bench.clock((name, kind, n)) for _, name in lines for kind in kinds] if where == "bench" else [1]
        clocked = max(clocks) > 1.02 * min(clocks)
        groups = "".join(f'<th class="number">{kind + ", " if len(kinds) > 1 else ""}of cuBLAS</th>' + "".join(f'<th class="number">at {size}</th>' for size in also)
                         + '<th class="number">TFLOP/s</th><th class="number">ms</th>' + ('<th class="number">MHz</th>' if clocked else "") for kind in kinds)
        rows = []
        for label, name in lines:
            cells = ""
            for kind in kinds:
                ms, tflops, share = found[name, kind, n]
                cells += f'<td class="number bar" style="--share:{min(float(share), 100)}%">{share} %</td>'
                cells += "".join(f'<td class="number">{found[name, kind, size][2]} %</td>' for size in also)
                cells += f'<td class="number">{tflops}</td><td class="number">{ms}</td>'
                if clocked:
                    cells += f'<td class="number">{bench.clock((name, kind, n)):.0f}</td>'
            rows.append(f"<tr><th scope='row'>{inline(label)}</th>{cells}</tr>")
        first = f"{' and '.join(kinds)}, n = {n}" + ("; at …: the share of cuBLAS at another n" if also else "")
        first += "; MHz: the clock while it ran, which power limits" if clocked else ""
        return [made_table(f"<tr><th>kernel</th>{groups}</tr>", rows, f"{first}. {where_from}.", how)]


# ---- single figures in running text, each with the source that it is drawn from

def pair(words):
    """"left/right" as two, anything else as one."""
    return words.split("/") if "/" in words else [words]


def spread(fields):
    """One list of fields, or, where any of them is "left/right", two: the sides of a quotient."""
    sides = [pair(field) for field in fields]
    return [[side[min(i, len(side) - 1)] for side in sides] for i in range(max(map(len, sides)))]


def quotient(values):
    return values[0] if len(values) == 1 else values[0] / values[1]


def with_unit(value, unit):
    """A figure with its unit: "ms", "tflops" or "%"; without one, a quotient."""
    match unit:
        case "ms": return f"{time(value)} ms"
        case "tflops": return f"{shown(value)} TFLOP/s"
        case "%": return f"{value:.0f} %"
        case "whole": return f"{value:.0f}"
    return f"{value:.2f}" if value < 9.995 else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def bench_number(words):
    """RUNG[/RUNG] MATH N [ms | tflops | %]; None if it was not measured. Two rungs make a quotient of their times."""
    rungs, math, n, *what = words.split()
    bench = Bench((H200 / "bench.json").read_text(encoding="utf-8"))
    found = [bench.records.get((rung, math, int(n))) for rung in pair(rungs)]
    if None in found:
        return None
    if len(found) == 2:
        return found[0]["ms"] / found[1]["ms"]
    return found[0][{"ms": "ms", "tflops": "tflops", "%": "percent_of_cublas"}[what[0]]]


def bench_words(text):
    """A number of bench.json with its unit, as {bench} shows it."""
    words = text.split()
    return with_unit(bench_number(text), words[3] if len(words) > 3 else None)


def fields_of(text):
    return [field.strip() for field in text.split(";")]


def sweep_points(lab, experiment, variant, kind, n, x="*", *_):
    """The points of a sweep that these fields name; "*" is any. A place is named by its label where it has one."""
    points = json.loads((H200 / f"sweep-lab{lab}.json").read_text(encoding="utf-8"))["points"]
    return [p for p in points if "ms" in p and p["experiment"] == experiment and variant in ("*", p["variant"]) and p["type"] == kind
            and n in ("*", str(p["n"])) and x in ("*", p.get("label", str(p["x"])))]


SWEPT = ("ms", "cublas_ms", "naive_ms", "registers", "local_bytes", "occupancy", "resident_blocks", "blocks")


def sweep_number(text):
    """LAB; EXPERIMENT; VARIANT; TYPE; N; PLACE[; QUANTITY]: one point of a sweep, "ms" if no quantity is named. Where a field
    is "left/right", the quotient of both. The place may be left out where there is one."""
    fields = fields_of(text)
    fields += ["*", "ms"][len(fields) - 5:] if len(fields) < 7 else []
    values = []
    for side in spread(fields):
        (point,) = sweep_points(*side)
        if side[6] not in SWEPT:
            raise ValueError(side[6])
        values.append(point[side[6]])
    return quotient(values)


def sweep_words(text):
    fields = fields_of(text)
    what = fields[6] if len(fields) > 6 else "ms"
    value = sweep_number(text)
    if "/" in text:
        return with_unit(value, None)
    if what == "occupancy":
        return f"{100 * value:g} %"
    return with_unit(value, "ms") if what.endswith("ms") else f"{value}"


FLAT = 1.03  # as in grader/sweep/sentences.hpp: what is closer cannot be told apart


def best_places(text):
    """LAB; EXPERIMENT; VARIANT; TYPE; N; PLACE, one of them "*": the values of that field whose time is the least, or cannot be
    told apart from it. N may be "each": those of which that is so at every n."""
    fields = fields_of(text)
    if fields[4] == "each":
        sizes = dict.fromkeys(str(p["n"]) for p in sweep_points(*fields[:4], "*"))
        every = [best_places("; ".join([*fields[:4], n, *fields[5:]])) for n in sizes]
        return [place for place in every[0] if all(place in one for one in every)]
    fields += ["*"] if len(fields) < 6 and "*" not in fields else []
    (free,) = [i for i, field in enumerate(fields) if field == "*"]
    name = {2: lambda p: p["variant"], 4: lambda p: str(p["n"]), 5: lambda p: p.get("label", str(p["x"]))}[free]
    points = sweep_points(*fields)
    if len(points) < 2 or len({name(p) for p in points}) < len(points):
        raise ValueError(text)
    least = min(p["ms"] for p in points)
    return [name(p) for p in points if p["ms"] <= least * FLAT]


def best_words(text):
    """What {best} shows: "8", or "2 to 4" of numbers that cannot be told apart, or "xor or turned"."""
    places = best_places(text)
    numbers = all(place.isdigit() for place in places)
    return places[0] if len(places) == 1 else f"{places[0]} to {places[-1]}" if numbers else " or ".join(places)


def tuned_number(text):
    """TYPE N; RUN; KERNEL[/KERNEL]; QUANTITY: of tuning-labs-4-5.txt. "ms", "tflops", "share" and "rel" of one kernel, "cycles" of
    one in a run of cycles; of two the quotient, or by how many per cent the second one is faster ("faster", in cycles "fewer cycles"), or not as fast
    ("cost")."""
    kind, run, names, what = fields_of(text)
    runs = tuning_runs((H200 / "tuning-labs-4-5.txt").read_text(encoding="utf-8"))
    key = {"faster": "ms", "cost": "ms", "fewer cycles": "cycles"}.get(what, what)
    values = [runs[(run, *kind.split(), name)][key] for name in pair(names)]
    match what:
        case "faster" | "fewer cycles": return 100 * (values[0] / values[1] - 1)
        case "cost": return 100 * (1 - values[0] / values[1])
    return quotient(values)


def tuned_words(text):
    what = fields_of(text)[3]
    value = tuned_number(text)
    if what == "rel":
        return f"{value:.1e}".replace("e-0", "e-")
    return with_unit(value, "%" if what in ("faster", "fewer cycles", "cost") else what if "/" not in text else None)


def logged_number(text):
    """LOG; NAME[/NAME]; TYPE N; (ms | tf | percent): of a log in docs/transcripts; of two names the quotient of their times."""
    log, names, place, *what = fields_of(text)
    kind, n = place.split()
    found = {r["name"].strip(): r for r in log_records((DOCS / "transcripts" / f"{log}.txt").read_text(encoding="utf-8")) if r["type"] == kind and r["n"] == n}
    return quotient([float(found[name][what[0] if what and what[0] != "whole" else "ms"]) for name in pair(names)])


def logged_words(text):
    what = fields_of(text)[3:]
    return with_unit(logged_number(text), {"ms": "ms", "tf": "tflops", "percent": "%", "whole": "whole"}[what[0]] if what else None)


def ceiling_number(text):
    """NAME[/NAME]: the best that a loop of ceilings.json reached."""
    found = {one["name"]: one["best"] for one in json.loads((H200 / "ceilings.json").read_text(encoding="utf-8"))["ceilings"] if one["right"]}
    return quotient([found[name] for name in pair(text.split()[0])])


def ceiling_words(text):
    return with_unit(ceiling_number(text), text.split()[1] if len(text.split()) > 1 else None)


def printed_number(text):
    """TRANSCRIPT NUMBER: a number that a transcript shows, as in {predict}'s :from:."""
    name, _, number = text.partition(" ")
    shown_there = (DOCS / "transcripts" / f"{name}.txt").read_text(encoding="utf-8").replace("\u202f", " ")
    if not re.search(rf"(?<!\d){re.escape(number)}(?!\d)", shown_there):
        raise ValueError(number)
    return float(number.replace(" ", ""))


def printed_words(text):
    printed_number(text)
    return text.partition(" ")[2].replace(" ", "\u00a0")


def in_h200(name):
    return lambda text: H200 / name


def of_sweep(text):
    return H200 / f"sweep-lab{fields_of(text)[0]}.json"


def of_transcript(text):
    return DOCS / "transcripts" / f"{re.split('[; ]', text)[0]}.txt"


# What a role or a claim may name: its number, its words, the file that it comes from.
FIGURES = {
    "bench": (bench_number, bench_words, in_h200("bench.json")),
    "sweep": (sweep_number, sweep_words, of_sweep),
    "best": (best_places, best_words, of_sweep),
    "tuned": (tuned_number, tuned_words, in_h200("tuning-labs-4-5.txt")),
    "logged": (logged_number, logged_words, of_transcript),
    "printed": (printed_number, printed_words, of_transcript),
    "ceiling": (ceiling_number, ceiling_words, in_h200("ceilings.json")),
}
NOT_THERE = (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError, OSError)


def figure_role(kind):
    """{bench}`gemm_mma bfloat16 4096 %`, {sweep}`3; side; shared; int32; 1024; 16`: one figure in running text, drawn from a file
    when the page is built. What the words mean stands at each kind's number."""

    def role(name, rawtext, text, lineno, inliner, options=None, content=None):
        file = FIGURES[kind][2](text)
        inliner.document.settings.env.note_dependency(str(file))
        try:
            return [nodes.Text(FIGURES[kind][1](text))], []
        except NOT_THERE:
            message = inliner.reporter.error(f"{file.name} has no '{text}'", line=lineno)
            return [inliner.problematic(rawtext, rawtext, message)], [message]

    return role


class Claims(LabDirective):
    """```{claims}
    gemm_vector/gemm_warp_tile float 4096 < 1
    gemm_wgmma bfloat16 512 % > gemm_mma bfloat16 512 %
    sweep 3; side; naive/shared; int32; 4096; 4 < 1
    best 2; register tile; interleaved; int32; 1024 = 2 or 4
    best 3; size; *; double; each = 64 x 16, 4 x 4 per thread
    best 5; tile shape; 5.3; half; 1024 != best 5; tile shape; 5.3; half; 4096
    ```: what a paragraph says of the measurements; shows nothing. A side is a number, or what the role of its first word
    shows; without such a word it is {bench}'s; "bench ... over ceiling ..." is a quotient. "= 2 or 4": nothing is faster than either, by more than can be told apart.
    The build fails when new measurements say otherwise."""

    has_content = True

    def side(self, text, line):
        above, over, below = text.partition(" over ")
        if over:
            return self.side(above, line) / self.side(below, line)
        kind, _, words = text.partition(" ")
        if kind not in FIGURES:
            kind, words = "bench", text
        file = FIGURES[kind][2](words)
        self.read(file)
        try:
            value = FIGURES[kind][0](words)
        except NOT_THERE:
            value = None
        if value is None:
            raise self.error(f"{file.name} lacks what '{line}' asks for")
        return value

    def run(self):
        for line in self.content:
            left, sign, right = re.fullmatch(r"(.*?) (<|>|=|!=) (.*)", line.strip()).groups()
            if sign in "<>":
                values = [float(one) if re.fullmatch(r"[\d.]+", one) else self.side(one, line) for one in (left, right)]
                true = values[0] < values[1] if sign == "<" else values[0] > values[1]
                found = " and ".join(f"{value:.4g}" for value in values)
            elif "; each" in line and sign == "!=":
                raise self.error(f"'{line}' would ask for what is best at no n")
            else:
                best = self.side(left, line)
                others = self.side(right, line) if right.startswith("best ") else right.split(" or ")
                true = set(others) <= set(best) if sign == "=" else not set(others) & set(best)
                found = " or ".join(best)
            if not true:
                raise self.error(f"the page claims {line}, measured {'are' if sign in '<>' else 'is'} {found}: write the sentence anew")
        return []


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


class Tuning(LabDirective):
    """```{tuning} f32 4096
    products to and fro | 7 | 4.2 o0 | 4.2 o2
    ```

    Steps from docs/results/h200/tuning-labs-4-5.txt: what was done, the run ("ends": the solutions before and after), the
    kernel before and the kernel after, by their names there. Ratios of different runs do not compare, so one run is asked.
    """

    required_arguments = 2
    has_content = True

    def run(self):
        text = self.read(H200 / "tuning-labs-4-5.txt")
        kind, n = self.arguments[0], self.arguments[1]
        runs = tuning_runs(text)
        rows = []
        for line in self.content:
            what, run, before, after = (part.strip() for part in line.split("|"))
            cells = ""
            for name in (before, after):
                if (run, kind, n, name) not in runs:
                    raise self.error(f"tuning-labs-4-5.txt has no '{name}' in {kind} at n = {n} in run {run}")
                one = runs[run, kind, n, name]
                cells += f'<td class="number" title="{escape(name)}: {one["ms"]:.4f} ms, {one["tflops"]:.1f} TFLOP/s">{100 * one["share"]:.1f} %</td>'
            ratio = runs[run, kind, n, before]["ms"] / runs[run, kind, n, after]["ms"]
            verdict = "the same" if abs(ratio - 1) < 0.005 else f"{100 * (ratio - 1):+.0f} %".replace("-", "\u2212")
            rows.append(f"<tr><th scope='row'>{inline(what)}</th>{cells}<td class='number'>{verdict}</td></tr>")
        head = '<tr><th>step</th><th class="number">before, of cuBLAS</th><th class="number">after</th><th class="number">speed</th></tr>'
        gpu, _, about = text.split(". C = ")[0].replace("\n", " ").partition(", ")
        return [made_table(head, rows, f"{NAMES[kind]}, n = {n}. {gpu}. Both sides of a row are of one run.", f"{about[:1].upper()}{about[1:]}. docs/results/h200/tuning-labs-4-5.txt")]


class Ceilings(LabDirective):
    """```{ceilings}
    FP32 by threads | ffma
    ```: what the synthetic loops of docs/results/h200/ceilings.json reach, the best of their samples."""

    has_content = True

    def run(self):
        data = json.loads(self.read(H200 / "ceilings.json"))
        found = {one["name"]: one for one in data["ceilings"] if one["right"]}
        rows = []
        for line in self.content:
            label, _, name = (part.strip() for part in line.partition("|"))
            if name not in found:
                raise self.error(f"ceilings.json has no '{name}'")
            rows.append(f"<tr><th scope='row'>{inline(label)}</th><td class='number'>{found[name]['best']:.3g} {escape(found[name]['unit'])}</td></tr>")
        m, p = data["machine"], data["provenance"]
        how = f"Driver {m['driver']}, nvcc {m['nvcc']}, commit {p['commit'][:10]}. {p['command']}. docs/results/h200/ceilings.json"
        return [made_table('<tr><th>loop of</th><th class="number">reaches</th></tr>', rows, f"Best of {data['samples']}. {m['gpu']}, {p['date'][:10]}.", how)]


def made_table(head, rows, note, how):
    """A table in a box that scrolls by itself, with what it shows below it and, folded, how its numbers came about."""
    return raw(f'<figure class="made-table"><div class="table-box" tabindex="0" role="region" aria-label="Measurements"><table class="made">'
               f'<thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'
               f'<figcaption class="provenance"><details><summary>{escape(note)} <span class="how">How measured</span></summary>{escape(how)}</details></figcaption></figure>')


class Counts(LabDirective):
    """```{counts} gemm_naive<float>, 256x256x256```: a launch in docs/results/h200/counts.json, both sides of each
    counter. Several launches, one a line of the content, make a table of one counter each (:counter: NAME)."""

    has_content = True
    option_spec = {"counters": directives.unchanged_required}

    def run(self):
        data = json.loads(self.read(H200 / "counts.json"))
        wanted = [one.strip() for one in self.options["counters"].split(",")]
        launches = {one["launch"]: one["counts"] for one in data["launches"]}
        head = "<tr><th>launch</th>" + "".join(
            f'<th class="number">{escape(c)}: H200</th><th class="number">simgpu</th>' for c in wanted) + "</tr>"
        rows = []
        for line in self.content:
            label, _, name = (part.strip() for part in line.partition("|"))
            counts = launches.get(name or label)
            if counts is None:
                raise self.error(f"counts.json has no launch '{name or label}'")
            cells = ""
            for counter in wanted:
                pair = counts.get(counter)
                cells += "<td class='number'>–</td>" * 2 if pair is None else "".join(
                    f'<td class="number">{pair[side]:,.0f}</td>'.replace(",", "\u202f") for side in ("hardware", "simulated"))
            rows.append(f"<tr><th scope='row'>{inline(label)}</th>{cells}</tr>")
        device = data["device"]
        return [made_table(head, rows, f"{device['gpu']}, {device['date']}, beside simgpu.",
                           f"Driver {device['driver']}, nvcc {device['nvcc']}, ncu {device['ncu']}; simgpu with clang {data['clang']}. docs/results/h200/counts.json, written by "
                           "make verify-counts")]


class Verdicts(LabDirective):
    """```{verdicts}
    ```: how often the solution of each goal passed, and the technique before it failed, in docs/results/h200/speed-proof.json.
    The page around it says "every goal", "at least forty times, all but one fifty" and "always"; the site does not build where that is not so."""

    def run(self):
        data = json.loads(self.read(H200 / "speed-proof.json"))
        rows, asked, few = [], {}, []
        for file in sorted(ROOT.glob("lab[0-9]*_*/lab.toml")):
            for goal in tomllib.loads(self.read(file)).get("speed", []):
                asked[f"{goal['stage']} {goal['type']} {'x'.join(map(str, goal['shape']))}"] = {bar: goal.get(bar, 0) for bar in ("naive", "cublas")}
        # A copy with fewer labs has fewer goals.
        if differing := [goal for goal, bars in asked.items() if data["goals"].get(goal, {}).get("bars") != bars]:
            raise self.error(f"speed-proof.json: no verdicts on {', '.join(differing)} as it stands in lab.toml")
        for goal, one in data["goals"].items():
            stage, kind, _ = goal.split()
            solution, previous = one["solution"], one.get("previous")
            name = "TF32" if "tf32" in solution["kernel"] else {"float": "FP32", "double": "FP64", "half": "FP16", "bfloat16": "BF16"}.get(kind, kind)
            few.append(min(side["verdicts"] for side in (solution, previous) if side))
            if solution["pass"] != solution["verdicts"] or previous and previous["fail"] != previous["verdicts"]:
                raise self.error(f"speed-proof.json: not every verdict of {goal} is right")
            # A mutant stands for a technique that is no rung: "gemm_naive<float> (lab1_naive@L1-01-x-along-rows)".
            rung = re.sub(r"<.*?(?:@L\d+-\d+-(.*))?\)$", lambda m: f", {m[1].replace('-', ' ')}" if m[1] else "", previous["kernel"]) if previous else ""
            before = (f"<td>{escape(rung)}</td><td class='number'>{previous['fail']} of {previous['verdicts']}</td>"
                      f"<td class='number'>{previous['highest']:.2f}</td>") if previous else '<td>the naive yardstick</td>' + "<td class='number'>–</td>" * 2
            rows.append(f"<tr><th scope='row'>{escape(stage)} {escape(name)}</th><td class='number'>{solution['pass']} of {solution['verdicts']}</td>"
                        f"<td class='number'>{solution['lowest']:.2f}</td>{before}</tr>")
        head = ('<tr><th>goal</th><th class="number">the solution passed</th><th class="number">at least, of the bar</th><th>the technique before</th>'
                '<th class="number">failed</th><th class="number">at most, of the bar</th></tr>')
        if min(few) < 40 or sum(number < 50 for number in few) > 1:
            raise self.error("speed-proof.json: fewer verdicts than the page says")
        last = max(data["runs"], key=lambda run: run["date"])
        commits = ", ".join(dict.fromkeys(run["commit"][:10] for run in data["runs"]))
        return [made_table(head, rows, f"At n = 4096. A pass begins at 0.97 of the bar. {data['gpu']}, {last['date'][:10]}.",
                           f"Driver {last['driver']}, CUDA {last['cuda']}, commits {commits}. {data['protocol']}. docs/results/h200/speed-proof.json, written by measure prove-speed")]


CHECKED = re.compile(r"ok +[\d.]+(?:x naive| of cuBLAS) \(asked [\d.]+\), ([\d.]+) TFLOP/s\s+(\w+) (\d+)³(?:; ([\d.]+)x your (\w+))?")


def checked_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """{checked}`5.4 bfloat16 tflops`: the speed of a stage as `make check` printed it on an H200 (results/h200/check.txt), or,
    with the word ratio, how many times as fast as the rung that it names."""
    inliner.document.settings.env.note_dependency(str(H200 / "check.txt"))
    stage, math_, what = text.split()
    section = re.findall(rf"^{re.escape(stage)} +ok +clean.*?(?=^\S|^  \S|\Z)", (H200 / "check.txt").read_text(encoding="utf-8"), re.M | re.S)
    found = {kind: (tflops, ratio) for one in section for tflops, kind, _, ratio, _ in CHECKED.findall(one)}
    if math_ not in found or what not in ("tflops", "ratio"):
        message = inliner.reporter.error(f"check.txt has no '{text}'", line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    return [nodes.Text(f"{shown(float(found[math_][0]))} TFLOP/s" if what == "tflops" else found[math_][1])], []


def equal_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """{equal}`global load sectors`: in how many launches of counts.json hardware and simgpu agree, "255 of 255"."""
    inliner.document.settings.env.note_dependency(str(H200 / "counts.json"))
    launches = json.loads((H200 / "counts.json").read_text(encoding="utf-8"))["launches"]
    pairs = [one["counts"][text] for one in launches if text in one["counts"]]
    if not pairs:
        message = inliner.reporter.error(f"counts.json has no counter '{text}'", line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    return [nodes.Text(f"{sum(pair['hardware'] == pair['simulated'] for pair in pairs)} of {len(pairs)}")], []


# ---- sweeps

COLUMNS = {"registers": "registers", "local_bytes": "local bytes per thread", "occupancy": "occupancy",
           "dynamic_shared": "shared bytes", "static_shared": "shared bytes", "resident_blocks": "blocks per SM", "blocks": "blocks"}


def provenance(about):
    """Where a result comes from: in a word, and all of it."""
    return (f"{about['gpu']}, {about['date']}",
            f"Driver {about['driver']}, nvcc {about['nvcc']}, cuBLAS {about['cublas']}, clock {about['sm_clock']}, commit {about['commit'][:10]}. "
            f"{about['timing'][:1].upper()}{about['timing'][1:]}. {about['command']}")


def time(ms):
    return f"{ms:.4g}" if ms < 1000 else f"{ms:.0f}"


def curve(places, series, title, unit, quantity="ms"):
    """A quantity over a parameter, both by factors, for wide windows and for narrow ones: an SVG with a line per series,
    dashed from the fifth on. The narrow one has the names below it."""
    words = "; ".join(f"{name}: " + ", ".join(f"{place} {time(value)} {quantity}" for place, value in zip(places, values) if value) for name, values in series)
    shown_values = [value for _, values in series for value in values if value]
    low, high = math.floor(math.log10(min(shown_values))), math.ceil(math.log10(max(shown_values)))
    high = max(high, low + 1)
    kinds = [f"s{number % 4}" + (" dashed" if number >= 4 else "") for number in range(len(series))]

    def draw(width, height, left, right, key):
        top, bottom = 14, 40

        def at(i, value):
            return (left + i * (width - left - right) / max(1, len(places) - 1),
                    top + (high - math.log10(value)) / (high - low) * (height - top - bottom))

        parts = []
        for power in range(low, high + 1):
            y = at(0, 10**power)[1]
            label = f"{10.0**power:g}" + ("" if power < high else f" {quantity}")
            parts.append(f'<path d="M{left} {y:.1f}H{width - right}" class="grid"/><text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        step = 1 if key == "wide" or len(places) < 8 else 2
        for i, place in enumerate(places):
            if i % step == 0:
                parts.append(f'<text x="{at(i, 10**low)[0]:.1f}" y="{height - bottom + 18}" text-anchor="middle">{escape(place)}</text>')
        parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 5}" text-anchor="middle">{escape(unit)}</text>')
        taken = []
        for (name, values), kind in zip(series, kinds):
            points = [at(i, value) for i, value in enumerate(values) if value]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" class="series {kind}"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="dot {kind}"/>' for x, y in points]
            if key == "wide":
                y = points[-1][1] + 4
                while any(abs(y - other) < 14 for other in taken):
                    y -= 14
                taken.append(y)
                parts.append(f'<text x="{width - right + 10}" y="{y:.1f}" class="name {kind}">{escape(name)}</text>')
        ids = f"{key}{hashlib.md5((title + words).encode()).hexdigest()[:8]}"
        return (f'<svg class="curve {key}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t{ids} d{ids}"><title id="t{ids}">{escape(title)}</title>'
                f'<desc id="d{ids}">{escape(words)}</desc>{"".join(parts)}</svg>')

    names = "".join(f'<span class="{kind}">{escape(name)}</span>' for (name, _), kind in zip(series, kinds))
    left = 12 + 7 * len(f"{10.0**high:g} {quantity}")
    return draw(660, 250, left, 150, "wide") + draw(340, 230, left, 14, "narrow") + f'<p class="curve-key narrow" aria-hidden="true">{names}</p>'


class Rates(LabDirective):
    """```{rates} bfloat16
    5.2 | gemm_wmma
    cuBLAS | cuBLAS
    ```: TFLOP/s over n, from docs/results/h200/bench.json, at its powers of two."""

    required_arguments = 1
    has_content = True

    def run(self):
        bench, kind = Bench(self.read(H200 / "bench.json")), self.arguments[0]
        sizes = sorted({n for rung, math_, n in bench.records if math_ == kind and n & (n - 1) == 0})
        lines = measured_lines([line.partition("|")[::2] for line in self.content], bench.records, [kind], sizes[-1:])
        series = []
        for label, name in lines:
            values = [bench.records[name, kind, n]["tflops"] if (name, kind, n) in bench.records else None for n in sizes]
            if not any(values):
                raise self.error(f"bench.json has no '{name}' in {kind}")
            series.append((label, values))
        where_from, how = bench.source()
        drawing = curve([str(n) for n in sizes], series, f"{kind}: TFLOP/s over n", "M = N = K", "TFLOP/s")
        return [raw(f'<figure class="made-table"><div class="curve-box">{drawing}</div><figcaption class="provenance"><details><summary>{escape(kind)}. {escape(where_from)}. '
                    f'<span class="how">How measured</span></summary>{escape(how)}</details></figcaption></figure>')]


class Sweep(LabDirective):
    """```{sweep} 2
    :experiment: register tile
    :type: float
    :n: 1024 4096
    :variants: neighbours; interleaved
    :x: TILE
    :columns: registers local_bytes
    :sentences:
    :curve:
    ```

    A table of docs/results/h200/sweep-lab2.json: a row per parameter, a column per variant and n; further columns are of
    the last series. In the experiment "size" a row is an n. :sentences: adds what `make sweep` says of them, :curve: draws them.
    """

    required_arguments = 1
    option_spec = {"experiment": directives.unchanged_required, "type": directives.unchanged, "n": directives.unchanged,
                   "variants": directives.unchanged, "x": directives.unchanged, "columns": directives.unchanged,
                   "sentences": directives.flag, "curve": directives.flag}

    def run(self):
        name = f"sweep-lab{self.arguments[0]}.json"
        data = json.loads(self.read(H200 / name))
        experiment, kind = self.options["experiment"], self.options.get("type", "float")
        points = [p for p in data["points"] if p["experiment"] == experiment and p["type"] == kind]
        variants = [v.strip() for v in self.options["variants"].split(";")] if "variants" in self.options else list(dict.fromkeys(p["variant"] for p in points))
        points = [p for p in points if p["variant"] in variants]  # others may count their places in another way
        sizes = [int(n) for n in self.options.get("n", "4096").split()]
        note = f"{kind}, {', '.join(f'n = {n}' for n in sizes)}"
        by_size = experiment == "size"
        if by_size:
            points, sizes, note = [dict(p, x=p["n"], n=None) for p in points if p["n"] in sizes], [None], kind
        places = [(x, label) for x, label in dict.fromkeys((p["x"], p.get("label", str(p["x"]))) for p in points)]
        found = {(p["variant"], p["n"], p["x"]): p for p in points}
        series = [(v, n) for v in variants for n in sizes]
        for v, n in series:
            if not any((v, n, x) in found for x, _ in places):
                raise self.error(f"{name} has no '{experiment}' of '{v}' in {kind} at n = {n}")
        places = [(x, label) for x, label in places if any((v, n, x) in found for v, n in series)]
        names = [", ".join(([v] if len(variants) > 1 else []) + ([f"n = {n}"] if not by_size and (len(sizes) > 1 or len(variants) == 1) else [])) for v, n in series]
        extra = self.options.get("columns", "").split()
        unit = self.options.get("x", experiment)
        head = f"<tr><th>{escape(unit)}</th>" + "".join(f'<th class="number">{escape(one)}, ms</th>' for one in names) + "".join(
            f'<th class="number">{COLUMNS[one]}</th>' for one in extra) + "</tr>"
        # The best place of each series, or the best kernel at each n.
        best = {(*s, x): min(found[(*t, y)]["ms"] for t in (series if by_size else [s]) for y, _ in ([(x, "")] if by_size else places) if (*t, y) in found)
                for s in series for x, _ in places if (*s, x) in found}
        rows = []
        for x, label in places:
            cells = ""
            for s in series:
                p = found.get((*s, x))
                cells += "<td class='number'>–</td>" if p is None else (
                    f'<td class="number{" best" if p["ms"] == best[(*s, x)] else ""}" title="95 % of medians: {time(p["low"])} to {time(p["high"])} ms, {p["samples"]} samples">{time(p["ms"])}</td>')
            p = next((found[(*s, x)] for s in reversed(series) if (*s, x) in found), None)
            cells += "".join(f'<td class="number">{p[one] * 100:g} %</td>' if one == "occupancy" else f'<td class="number">{p[one]}</td>' for one in extra)
            rows.append(f"<tr><th scope='row'>{escape(label)}</th>{cells}</tr>")
        where_from, how = provenance(data["provenance"])
        result = [made_table(head, rows, f"{note}. {where_from}.", f"{how}. docs/results/h200/{name}")]
        if "curve" in self.options:
            lines = [(names[i], [found[(*s, x)]["ms"] if (*s, x) in found else None for x, _ in places]) for i, s in enumerate(series)]
            result.insert(0, raw(f'<div class="curve-box">{curve([label for _, label in places], lines, f"{experiment}, {kind}: time over {unit}", unit)}</div>'))
        if "sentences" in self.options:
            for sentence in data["sentences"]:
                if sentence["experiment"] == experiment and sentence["type"] == kind and sentence["variant"] in variants:
                    lead = f"*{sentence['variant']}:* " if len(variants) > 1 else ""
                    result += self.parsed(lead + sentence["minimum"] + " " + sentence.get("turn", ""))
        return result


# ---- bounds

def evaluate(expression, names):
    """An arithmetic expression over `names`: numbers, + - * / **, min, max and parentheses."""

    def value(node):
        match node:
            case ast.Expression(body=body):
                return value(body)
            case ast.Constant(value=number) if isinstance(number, (int, float)):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.BinOp(left=left, op=op, right=right):
                a, b = value(left), value(right)
                match op:
                    case ast.Add(): return a + b
                    case ast.Sub(): return a - b
                    case ast.Mult(): return a * b
                    case ast.Div(): return a / b
                    case ast.Pow(): return a**b
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
                return (min if name == "min" else max)(*(value(a) for a in args))
        raise ValueError(f"not arithmetic: {expression}")

    return value(ast.parse(expression, mode="eval"))


def shown(number):
    """Three digits, as site.js writes them."""
    if number == 0:
        return "0"
    magnitude = abs(number)
    digits = 0 if magnitude >= 100 else 1 if magnitude >= 10 else 2 if magnitude >= 1 else 3
    return f"{number:.{digits}f}"


class Bounds(LabDirective):
    """```{bounds}
    arithmetic peak, FP32 | sms * lanes * 2 * mhz / 1e6 | TFLOP/s
    ```

    One row per line: label, expression, unit. The page shows the default GPU; in a browser the reader picks another one
    or types in their own, and every box of every page follows. `name = expression` lines define names.
    """

    has_content = True

    def run(self):
        data = json.loads(self.read(DOCS / "data" / "gpus.json"))
        gpu = next(one for one in data["gpus"] if one["name"] == data["default"])
        names = {key: value for key, value in gpu.items() if isinstance(value, (int, float))}
        rows = []
        for line in self.content:
            if "|" not in line:
                name, _, expression = (part.strip() for part in line.partition("="))
                names[name] = evaluate(expression, names)
                rows.append(f'<tr hidden data-name="{escape(name)}" data-formula="{escape(expression)}"></tr>')
                continue
            label, expression, unit = (part.strip() for part in line.split("|"))
            rows.append(f'<tr data-formula="{escape(expression)}"><th scope="row">{inline(label)}</th>'
                        f'<td class="number"><span class="value">{shown(evaluate(expression, names))}</span> {escape(unit)}</td></tr>')
        table = json.dumps(data["gpus"])
        return [raw(f'<div class="bounds" data-default="{escape(data["default"])}"><script type="application/json">{table}</script>'
                    f'<div class="bounds-gpu"><span class="bounds-title">The bound, for <span class="gpu-name">{escape(data["default"])}</span></span></div>'
                    f'<table class="made"><tbody>{"".join(rows)}</tbody></table>'
                    f'<p class="provenance">{escape(data["source"])}</p></div>')]


def setup(app):
    app.add_directive("ladder", Ladder)
    app.add_directive("tuning", Tuning)
    app.add_directive("ceilings", Ceilings)
    app.add_directive("claims", Claims)
    app.add_directive("rates", Rates)
    for kind in FIGURES:
        app.add_role(kind, figure_role(kind))
    app.add_role("equal", equal_role)
    app.add_role("checked", checked_role)
    app.add_directive("counts", Counts)
    app.add_directive("verdicts", Verdicts)
    app.add_directive("sweep", Sweep)
    app.add_directive("bounds", Bounds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
