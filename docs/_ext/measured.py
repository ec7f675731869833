"""Tables of what was measured, from the logs and the JSON that measuring wrote; and bounds for the reader's own GPU."""

import ast
import json
import re

from docutils.parsers.rst import directives

from common import DOCS, H200, LabDirective, escape, inline, raw

# ---- logs of the labs' first measurements, one pattern per kind of line
TYPES = {"f": "float", "d": "double", "i": "int32", "f16": "half", "bf16": "bfloat16", "tf32": "tf32", "f64": "double"}
LINES = (
    re.compile(r"^(?P<type>[fdi]) (?P<n>\d+) (?P<name>.+?)\s+(?P<ms>[\d.]+) ms\s+(?P<tf>[\d.]+) TF(?:\s+(?P<percent>[\d.]+)%)?$"),
    re.compile(r"^(?P<type>\w+)?\s*n=(?P<n>\d+)\s+(?P<name>.+?)\s+(?P<ms>[\d.]+) ms \(min.*?\)\s+(?P<tf>[\d.]+) TFLOP/s\s+(?P<percent>[\d.]+) %"),
)


def log_records(text):
    """The measurements in a log, as dictionaries of type, n, name, ms, tf and percent (of cuBLAS)."""
    records = []
    for line in text.splitlines():
        for pattern in LINES:
            found = pattern.match(line)
            if found:
                record = found.groupdict()
                record["type"] = TYPES.get(record["type"], "float")
                record["percent"] = record["percent"] or "100"
                records.append(record)
                break
    return records


def log_header(text):
    """What a log says about its measurements: its first paragraph."""
    return " ".join(text.strip().split("\n\n")[0].splitlines())


class Ladder(LabDirective):
    """```{ladder} h200-lab4
    :n: 4096
    :type: float
    4.1 as given | 4.1 gemm_column_walk
    ```

    One row per line: what the reader is told, and the name in docs/transcripts/<log>.txt. A name that the log does not
    hold is an error. The last column is a bar as well.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"n": directives.positive_int, "type": directives.unchanged, "caption": directives.unchanged}

    def run(self):
        text = self.read(DOCS / "transcripts" / f"{self.arguments[0]}.txt")
        n = self.options.get("n", 4096)
        kinds = self.options.get("type", "float").split()
        records = {(r["type"], int(r["n"]), r["name"].strip()): r for r in log_records(text)}
        head = "".join(f'<th class="number">{kind} ms</th><th class="number">TFLOP/s</th><th class="number">of cuBLAS</th>' for kind in kinds)
        rows = []
        for line in self.content:
            label, _, name = (part.strip() for part in line.partition("|"))
            cells = ""
            for kind in kinds:
                record = records.get((kind, n, name))
                if record is None:
                    raise self.error(f"{self.arguments[0]} has no '{name}' in {kind} at n = {n}")
                share = float(record["percent"])
                cells += (f'<td class="number">{record["ms"]}</td><td class="number">{record["tf"]}</td>'
                          f'<td class="number bar" style="--share:{min(share, 100)}%">{share:g} %</td>')
            rows.append(f"<tr><th scope='row'>{inline(label)}</th>{cells}</tr>")
        note = f"n = {n}. {log_header(text)} Log: docs/transcripts/{self.arguments[0]}.txt"
        return [made_table(f"<tr><th>kernel</th>{head}</tr>", rows, note)]


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
    app.add_directive("counts", Counts)
    app.add_directive("bounds", Bounds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
