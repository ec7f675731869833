"""Single figures in running text, each with the source that it is drawn from, and claims about them."""

import json
import re

from docutils import nodes

from bounds import evaluate
from common import DOCS, H200, RESULTS, LabDirective
from recorded import Bench, log_records, results, shown, sweep_of, tuning_runs, with_unit
from sentences import FLAT

def pair(words):
    """"left/right" as two, anything else as one."""
    return words.split("/") if "/" in words else [words]


def spread(fields):
    """One list of fields, or, where any of them is "left/right", two: the sides of a quotient."""
    sides = [pair(field) for field in fields]
    return [[side[min(i, len(side) - 1)] for side in sides] for i in range(max(map(len, sides)))]


def quotient(values):
    return values[0] if len(values) == 1 else values[0] / values[1]


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
    name = f"sweep-lab{lab}.json"
    records = sweep_of((H200 / name).read_text(encoding="utf-8"), name)["records"]
    return [p for p in records if "ms" in p and p["experiment"] == experiment and variant in ("*", p["variant"]) and p["math"] == kind
            and n in ("*", str(p["n"])) and x in ("*", p["place"])]


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
    name = {2: lambda p: p["variant"], 4: lambda p: str(p["n"]), 5: lambda p: p["place"]}[free]
    points = sweep_points(*fields)
    if len(points) < 2 or len({name(p) for p in points}) < len(points):
        raise ValueError(text)
    least = min(p["ms"] for p in points)
    return [name(p) for p in points if p["ms"] <= least * (1 + FLAT)]


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
    found = {one["name"]: one["best"] for one in results.load(H200 / "ceilings.json", "ceilings")["ceilings"] if one["right"]}
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


def bound_number(text):
    """EXPRESSION [; UNIT]: as a row of {bounds}, for the GPU that these show at first."""
    data = json.loads((DOCS / "data" / "gpus.json").read_text(encoding="utf-8"))
    gpu = next(one for one in data["gpus"] if one["name"] == data["default"])
    names = {key: value for key, value in gpu.items() if isinstance(value, (int, float))}
    names["peak"] = evaluate("sms * lanes * 2 * mhz / 1e6", names)
    return evaluate(fields_of(text)[0], names)


def bound_words(text):
    return f"{shown(bound_number(text))} {''.join(fields_of(text)[1:])}".strip()


def tabled_number(text):
    """FILE; HEAD; ROW; COLUMN [; %]: the number in this column, counted from 1, of the first line behind one with HEAD in it that begins with ROW,
    in a table that results/h200/FILE.txt holds as text."""
    name, head, row, column, *_ = fields_of(text)
    below = (H200 / f"{name}.txt").read_text(encoding="utf-8").split(head, 1)[1].split("\n")[1:]
    cells = next(line.split() for line in below if line.split()[:1] == [row])
    return float(cells[int(column)])


def tabled_words(text):
    unit = fields_of(text)[4:]
    return f"{100 * tabled_number(text):.0f} %" if unit == ["%"] else f"{tabled_number(text):g} {''.join(unit)}".strip()


PROFILED = re.compile(r"^(?P<stage>\S+) +(?P<who>ours|cublas) +(?P<shape>[\dx]+) +\S+ +(?P<share>\d+)% of +(?P<us>[\d.]+) us +(?P<rest>.*)$", re.M)


def stalled_numbers(text):
    """STAGE; WHO; MxNxK [MxNxK ...]; UNIT [UNIT ...]: how many per cent of the cycles, or of the time, these units were busy in the kernel that
    took most of the time, as stalls-lab-6.txt has it. WHO is ours or cublas; a unit is issue, fma, tensor, sm, l2 or memory. Two more stand for
    units: "us", how many microseconds all kernels of the product took, and "others", how many per cent of them were not this one's."""
    stage, who, shapes, units = fields_of(text)
    lines = [found.groupdict() for found in PROFILED.finditer((H200 / "stalls-lab-6.txt").read_text(encoding="utf-8"))]
    values = []
    for shape in shapes.split():
        longest = max((one for one in lines if (one["stage"], one["who"], one["shape"]) == (stage, who, shape)), key=lambda one: int(one["share"]))
        busy = dict(re.findall(r"(\w+) +(\d+) %", longest["rest"]), us=longest["us"], others=100 - int(longest["share"]))
        values += [float(busy[unit]) for unit in units.split()]
    return values


def stalled_number(text):
    """The one number that these fields name."""
    (value,) = stalled_numbers(text)
    return value


def stalled_words(text):
    """"75", or of several numbers the least and the most: "81 to 84"."""
    values = stalled_numbers(text)
    return f"{min(values):g}" if min(values) == max(values) else f"{min(values):g} to {max(values):g}"


# The columns of power-lab-6.txt behind kernel, shape and who. Only a row of ours has a ratio.
POWERED = {"ours": ["tflops", "ratio", "least", "most", "mhz", "watts", "tensor", "issue", "l2", "memory"],
           "cublas": ["tflops", "mhz", "watts", "tensor", "issue", "l2", "memory"]}


def powered_number(text):
    """STAGE WHO MxNxK QUANTITY: of power-lab-6.txt, a kernel under lasting load beside cuBLAS."""
    stage, who, shape, what = text.split()
    rows = (re.split(r"[\s()]+", line) for line in (H200 / "power-lab-6.txt").read_text(encoding="utf-8").splitlines())
    (row,) = (row for row in rows if row[:3] == [stage, shape, who])
    return float(row[3 + POWERED[who].index(what)])


def powered_words(text):
    """Per cent are whole; a ratio below one has no zero before its point."""
    value, what = powered_number(text), text.split()[-1]
    return f"{value:.0f}" if what in ("tensor", "issue") else f"{value:.3f}".removeprefix("0") if what == "ratio" else f"{value:g}"


def in_h200(name):
    return lambda text: H200 / name


def of_sweep(text):
    return H200 / f"sweep-lab{fields_of(text)[0]}.json"


def of_table(text):
    return H200 / f"{fields_of(text)[0]}.txt"


def of_transcript(text):
    return DOCS / "transcripts" / f"{re.split('[; ]', text)[0]}.txt"


# What a role or a claim may name: its number, its words, the file that it comes from.
def tried_number(text):
    """NUMBER; WORDS: a number, rounded as it is given here, in a line of tuning-lab-6.txt that has these words. The log is written by hand from
    what experiments printed: the role makes sure that a page has its numbers."""
    number, words = fields_of(text)
    places = len(number.partition(".")[2])
    lines = [line for line in (H200 / "tuning-lab-6.txt").read_text(encoding="utf-8").splitlines() if words in line]
    return next(float(number) for line in lines for one in re.findall(r"(?<![\w.])\d*\.?\d+(?![\w.])", line)
                if f"{float(one):.{places}f}" == f"{float(number):.{places}f}")


def tried_words(text):
    tried_number(text)
    return fields_of(text)[0]


def graded_number(text):
    """WHICH QUANTITY of grading.json: solutions or core; per_minute, processor_seconds_each or compile_seconds_each."""
    which, quantity = text.split()
    return json.loads((RESULTS / "grading.json").read_text(encoding="utf-8"))[which][quantity]


def graded_words(text):
    """Without decimals: another run differs by some per cent."""
    return f"{graded_number(text):.0f}"


FIGURES = {
    "bench": (bench_number, bench_words, in_h200("bench.json")),
    "sweep": (sweep_number, sweep_words, of_sweep),
    "best": (best_places, best_words, of_sweep),
    "tuned": (tuned_number, tuned_words, in_h200("tuning-labs-4-5.txt")),
    "logged": (logged_number, logged_words, of_transcript),
    "printed": (printed_number, printed_words, of_transcript),
    "ceiling": (ceiling_number, ceiling_words, in_h200("ceilings.json")),
    "bound": (bound_number, bound_words, lambda text: DOCS / "data" / "gpus.json"),
    "tabled": (tabled_number, tabled_words, of_table),
    "tried": (tried_number, tried_words, in_h200("tuning-lab-6.txt")),
    "graded": (graded_number, graded_words, lambda text: RESULTS / "grading.json"),
    "stalled": (stalled_number, stalled_words, in_h200("stalls-lab-6.txt")),
    "powered": (powered_number, powered_words, in_h200("power-lab-6.txt")),
}
NOT_THERE = (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError, OSError, StopIteration)


INLINE = re.compile(r"\{(\w+)\}`([^`]+)`")


def files_of(text):
    """The files that the roles in a text read."""
    return [FIGURES[kind][2](words) for kind, words in INLINE.findall(text) if kind in FIGURES]


def with_figures(text):
    """A text of a data file with its roles replaced by what they show, as on a page. ValueError names a figure that is not there."""
    def words(found):
        kind, asked = found.groups()
        try:
            return FIGURES[kind][1](asked)
        except NOT_THERE:
            where = FIGURES[kind][2](asked).name if kind in FIGURES else f"no role is called '{kind}', which"
            raise ValueError(f"{where} has no '{asked}'") from None

    return INLINE.sub(words, text)


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

    def judged(self, line):
        """Whether a line holds, and what was found instead."""
        left, sign, right = re.fullmatch(r"(.*?) (<|>|=|!=) (.*)", line.strip()).groups()
        if sign in "<>":
            values = [float(one) if re.fullmatch(r"[\d.]+", one) else self.side(one, line) for one in (left, right)]
            return (values[0] < values[1] if sign == "<" else values[0] > values[1]), "are " + " and ".join(f"{value:.4g}" for value in values)
        if "; each" in line and sign == "!=":
            raise self.error(f"'{line}' would ask for what is best at no n")
        best = self.side(left, line)
        others = self.side(right, line) if right.startswith("best ") else right.split(" or ")
        return (set(others) <= set(best) if sign == "=" else not set(others) & set(best)), "is " + " or ".join(best)

    def run(self):
        for line in self.content:
            true, found = self.judged(line)
            if not true:
                raise self.error(f"the page claims {line}, measured {found}: write the sentence anew")
        return []


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
    launches = results.load(H200 / "counts.json", "counts")["launches"]
    pairs = [one["counts"][text] for one in launches if text in one["counts"]]
    if not pairs:
        message = inliner.reporter.error(f"counts.json has no counter '{text}'", line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    return [nodes.Text(f"{sum(pair['hardware'] == pair['simulated'] for pair in pairs)} of {len(pairs)}")], []


def setup(app):
    app.add_directive("claims", Claims)
    for kind in FIGURES:
        app.add_role(kind, figure_role(kind))
    app.add_role("equal", equal_role)
    app.add_role("checked", checked_role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
