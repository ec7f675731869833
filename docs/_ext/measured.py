"""Tables of what was measured, from the logs and the JSON that measuring wrote; and bounds for the reader's own GPU."""

import ast
import json
import math
import re

from docutils import nodes
from docutils.parsers.rst import directives

from common import DOCS, H200, LabDirective, escape, inline, raw

# ---- the log of labs 1 to 3, which has what is no rung: a kernel as given, a wrong turn
TYPES = {"f": "float", "d": "double", "i": "int32"}
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

class Bench:
    """docs/results/h200/bench.json: squares by rung, arithmetic and n; cuBLAS is a rung as well."""

    def __init__(self, text):
        data = json.loads(text)
        self.machine, self.provenance = data["machine"], data["provenance"]
        self.records = {}
        for one in data["records"] + [dict(y, rung="cuBLAS", ms=y["cublas_ms"], tflops=y["cublas_tflops"], percent_of_cublas=100)
                                      for y in data["yardsticks"] if "cublas_ms" in y]:
            if one["status"] == "measured" and one["m"] == one["n"] == one["k"]:
                self.records[one["rung"], one["math"], one["n"]] = one

    def source(self):
        """One sentence on where the numbers come from."""
        m, p = self.machine, self.provenance
        protocol = p["protocol"].partition(": ")[2]
        return (f"{m['gpu']}, driver {m['driver']}, nvcc {m['nvcc']}, cuBLAS {m['cublas']}, clock {p['sm_clock']}, {p['date'][:10]}, commit "
                f"{p['commit'][:10]}. {protocol[:1].upper()}{protocol[1:]}. {p['command']}. docs/results/h200/bench.json")


def percent(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"


class Ladder(LabDirective):
    """```{ladder} bench
    :n: 4096
    :type: float
    :also: 1024 4095
    4.1 as given | gemm_column_walk
    ```

    One row per line: what the reader is told, and the rung in docs/results/h200/bench.json, or cuBLAS. :also: adds the
    share of cuBLAS at other sizes. Another name than "bench" is a log in docs/transcripts, for what is no rung. What was
    not measured is an error. The share of cuBLAS at n is a bar as well.
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
            note = bench.source()
        else:
            text = self.read(DOCS / "transcripts" / f"{where}.txt")
            found = {(r["name"].strip(), r["type"], int(r["n"])): (r["ms"], r["tf"], r["percent"]) for r in log_records(text)}
            note = f"{log_header(text)} Log: docs/transcripts/{where}.txt"
        groups = "".join(f'<th class="number">{kind + " " if len(kinds) > 1 else ""}ms</th><th class="number">TFLOP/s</th><th class="number">of cuBLAS</th>'
                         + "".join(f'<th class="number">at {size}</th>' for size in also) for kind in kinds)
        rows = []
        for line in self.content:
            label, _, name = (part.strip() for part in line.partition("|"))
            cells = ""
            for kind in kinds:
                for size in (n, *also):
                    if (name, kind, size) not in found:
                        raise self.error(f"{where} has no '{name}' in {kind} at n = {size}")
                ms, tflops, share = found[name, kind, n]
                cells += (f'<td class="number">{ms}</td><td class="number">{tflops}</td>'
                          f'<td class="number bar" style="--share:{min(float(share), 100)}%">{share} %</td>')
                cells += "".join(f'<td class="number">{found[name, kind, size][2]} %</td>' for size in also)
            rows.append(f"<tr><th scope='row'>{inline(label)}</th>{cells}</tr>")
        first = f"{', '.join(kinds)}, n = {n}" + ("; the last columns are shares of cuBLAS at other n" if also else "")
        return [made_table(f"<tr><th>kernel</th>{groups}</tr>", rows, f"{first}. {note}")]


def bench_number(words):
    """What {bench} and :from: bench mean: RUNG[/RUNG] MATH N [ms | tflops | % | mhz]; None if it was not measured. Two rungs
    make a quotient of their times."""
    rungs, math, n, *what = words.split()
    bench = Bench((H200 / "bench.json").read_text(encoding="utf-8"))
    found = [bench.records.get((rung, math, int(n))) for rung in rungs.split("/")]
    if None in found:
        return None
    if len(found) == 2:
        return found[0]["ms"] / found[1]["ms"]
    return found[0][{"ms": "ms", "tflops": "tflops", "%": "percent_of_cublas"}[what[0]]] if what[0] != "mhz" else found[0]["clocks"]["median"]


def bench_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """{bench}`gemm_mma bfloat16 4096 %`: one number of bench.json in running text. Two digits behind the point for
    {bench}`gemm_vector/gemm_warp_tile float 4096`, a quotient of times."""
    inliner.document.settings.env.note_dependency(str(H200 / "bench.json"))
    try:
        value = bench_number(text)
    except (ValueError, KeyError, IndexError):
        value = None
    if value is None:
        message = inliner.reporter.error(f"bench.json has no '{text}'", line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    unit = {"ms": " ms", "tflops": " TFLOP/s", "%": " %", "mhz": " MHz"}.get(text.split()[-1])
    digits = {None: ".2f", " %": ".0f", " MHz": ".0f"}
    shown_as = (time(value) if unit == " ms" else shown(value) if unit == " TFLOP/s" else format(value, digits[unit])) + (unit or "")
    return [nodes.Text(shown_as)], []


class Tuning(LabDirective):
    """```{tuning} f32 4096
    products to and fro | 7 | 4.2 o0 | 4.2 o2
    ```

    Steps from docs/results/h200/tuning-labs-4-5.txt: what was done, the run ("ends": the solutions before and after), the
    kernel before and the kernel after, by their names there. Ratios of different runs do not compare, so one run is asked.
    """

    required_arguments = 2
    has_content = True
    LINE = re.compile(r"^(\w+) (\d+) (.+?) +([\d.]+) ms +([\d.]+) T +([\d.]+) rel")

    def run(self):
        text = self.read(H200 / "tuning-labs-4-5.txt")
        kind, n = self.arguments[0], self.arguments[1]
        runs, run = {}, "ends"
        for line in text.splitlines():
            if line.startswith(("====", "---- run ")):
                run = line.removeprefix("---- run ") if line.startswith("----") else "ends"
            elif found := self.LINE.match(line):
                runs[run, *found.groups()[:3]] = found.groups()[3:]
        rows = []
        for line in self.content:
            what, run, before, after = (part.strip() for part in line.split("|"))
            cells = ""
            for name in (before, after):
                if (run, kind, n, name) not in runs:
                    raise self.error(f"tuning-labs-4-5.txt has no '{name}' in {kind} at n = {n} in run {run}")
                ms, tflops, share = runs[run, kind, n, name]
                cells += f'<td class="number" title="{escape(name)}: {ms} ms, {tflops} TFLOP/s">{100 * float(share):.1f} %</td>'
            ratio = float(runs[run, kind, n, before][0]) / float(runs[run, kind, n, after][0])
            verdict = "the same" if abs(ratio - 1) < 0.005 else f"{100 * (ratio - 1):+.0f} %".replace("-", "\u2212")
            rows.append(f"<tr><th scope='row'>{inline(what)}</th>{cells}<td class='number'>{verdict}</td></tr>")
        head = '<tr><th>step</th><th class="number">before, of cuBLAS</th><th class="number">after</th><th class="number">speed</th></tr>'
        about = text.split(". C = ")[0].replace("\n", " ")
        return [made_table(head, rows, f"{self.arguments[0]}, n = {n}. {about}. Both sides of a row are of one run. docs/results/h200/tuning-labs-4-5.txt")]


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
        note = (f"{m['gpu']}, driver {m['driver']}, nvcc {m['nvcc']}, {p['date'][:10]}, commit {p['commit'][:10]}. Best of {data['samples']}. {p['command']}. "
                "docs/results/h200/ceilings.json")
        return [made_table('<tr><th>loop of</th><th class="number">reaches</th></tr>', rows, note)]


def made_table(head, rows, note):
    """A table in a box that scrolls by itself, with where its numbers come from below it."""
    return raw(f'<figure class="made-table"><div class="table-box" tabindex="0" role="region" aria-label="Measurements"><table class="made">'
               f'<thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'
               f'<figcaption class="provenance">{escape(note)}</figcaption></figure>')


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
        note = (f"{device['gpu']}, driver {device['driver']}, nvcc {device['nvcc']}, ncu {device['ncu']}, {device['date']}; simgpu with clang {data['clang']}. "
                "docs/results/h200/counts.json, written by make verify-counts")
        return [made_table(head, rows, note)]


# ---- sweeps

COLUMNS = {"registers": "registers", "local_bytes": "local bytes per thread", "occupancy": "occupancy",
           "dynamic_shared": "shared bytes", "static_shared": "shared bytes", "resident_blocks": "blocks per SM", "blocks": "blocks"}


def provenance(about):
    """One sentence on where a result comes from."""
    return (f"{about['gpu']}, driver {about['driver']}, nvcc {about['nvcc']}, cuBLAS {about['cublas']}, clock {about['sm_clock']}, {about['date']}, "
            f"commit {about['commit'][:10]}. {about['timing'][:1].upper()}{about['timing'][1:]}. {about['command']}")


def time(ms):
    return f"{ms:.4g}" if ms < 1000 else f"{ms:.0f}"


def curve(places, series, title, unit):
    """Time over the parameter, both by factors: an SVG with a line per series, and a dashed one for every further four."""
    width, height, left, right, top, bottom = 660, 250, 62, 150, 14, 38
    times = [value for _, values in series for value in values if value]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    high = max(high, low + 1)

    def at(i, ms):
        return (left + i * (width - left - right) / max(1, len(places) - 1),
                top + (high - math.log10(ms)) / (high - low) * (height - top - bottom))

    parts = []
    for power in range(low, high + 1):
        y = at(0, 10**power)[1]
        parts.append(f'<path d="M{left} {y:.1f}H{width - right}" class="grid"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>')
    for i, place in enumerate(places):
        parts.append(f'<text x="{at(i, 10**low)[0]:.1f}" y="{height - bottom + 18}" text-anchor="middle">{escape(place)}</text>')
    parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 4}" text-anchor="middle">{escape(unit)}</text>')
    taken = []
    for number, (name, values) in enumerate(series):
        points = [at(i, value) for i, value in enumerate(values) if value]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        kind = f"series s{number % 4}" + (" dashed" if number >= 4 else "")
        parts.append(f'<polyline points="{path}" class="{kind}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="dot s{number % 4}"/>' for x, y in points]
        y = points[-1][1] + 4
        while any(abs(y - other) < 14 for other in taken):
            y -= 14
        taken.append(y)
        parts.append(f'<text x="{width - right + 10}" y="{y:.1f}" class="name s{number % 4}">{escape(name)}</text>')
    words = "; ".join(f"{name}: " + ", ".join(f"{place} {time(value)} ms" for place, value in zip(places, values) if value) for name, values in series)
    key = abs(hash((title, words))) % 10**8
    return (f'<svg class="curve" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t{key} d{key}"><title id="t{key}">{escape(title)}</title>'
            f'<desc id="d{key}">{escape(words)}</desc>{"".join(parts)}</svg>')


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
    the last series. :sentences: adds what `make sweep` says of them, :curve: draws them.
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
        places = [(x, label) for x, label in dict.fromkeys((p["x"], p.get("label", str(p["x"]))) for p in points)]
        found = {(p["variant"], p["n"], p["x"]): p for p in points}
        series = [(v, n) for v in variants for n in sizes]
        for v, n in series:
            if not any((v, n, x) in found for x, _ in places):
                raise self.error(f"{name} has no '{experiment}' of '{v}' in {kind} at n = {n}")
        places = [(x, label) for x, label in places if any((v, n, x) in found for v, n in series)]
        names = [", ".join(([v] if len(variants) > 1 else []) + ([f"n = {n}"] if len(sizes) > 1 or len(variants) == 1 else [])) for v, n in series]
        extra = self.options.get("columns", "").split()
        unit = self.options.get("x", experiment)
        head = f"<tr><th>{escape(unit)}</th>" + "".join(f'<th class="number">{escape(one)}, ms</th>' for one in names) + "".join(
            f'<th class="number">{COLUMNS[one]}</th>' for one in extra) + "</tr>"
        best = {s: min(found[(*s, x)]["ms"] for x, _ in places if (*s, x) in found) for s in series}
        rows = []
        for x, label in places:
            cells = ""
            for s in series:
                p = found.get((*s, x))
                cells += "<td class='number'>–</td>" if p is None else (
                    f'<td class="number{" best" if p["ms"] == best[s] else ""}" title="95 % of medians: {time(p["low"])} to {time(p["high"])} ms, {p["samples"]} samples">{time(p["ms"])}</td>')
            p = next((found[(*s, x)] for s in reversed(series) if (*s, x) in found), None)
            cells += "".join(f'<td class="number">{p[one] * 100:g} %</td>' if one == "occupancy" else f'<td class="number">{p[one]}</td>' for one in extra)
            rows.append(f"<tr><th scope='row'>{escape(label)}</th>{cells}</tr>")
        result = [made_table(head, rows, f"{kind}, {', '.join(f'n = {n}' for n in sizes)}. {provenance(data['provenance'])}. docs/results/h200/{name}")]
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
    app.add_role("bench", bench_role)
    app.add_directive("counts", Counts)
    app.add_directive("sweep", Sweep)
    app.add_directive("bounds", Bounds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
