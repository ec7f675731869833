"""Tables of what was measured, from the logs and the JSON that measuring wrote."""

import json
import re
import tomllib

from docutils.parsers.rst import directives

from common import DOCS, H200, ROOT, LabDirective, escape, fold, inline, raw
from recorded import NAMES, Bench, error_words, log_header, log_records, made_table, measured_lines, percent, results, shown, time, tuning_runs
import tables


def row(head, cells):
    return f"<tr><th scope='row'>{head}</th>{cells}</tr>"


def number(value, kind="", more=""):
    return f'<td class="number{kind}"{more}>{value}</td>'


def heads(first, *numbers):
    """The head of a table whose columns after the first are numbers."""
    return f"<tr><th>{first}</th>" + "".join(f'<th class="number">{one}</th>' for one in numbers) + "</tr>"


class Ladder(LabDirective):
    """```{ladder} bench
    :n: 4096
    :type: float
    :also: 1024 4095
    4.1 as given | gemm_column_walk
    ```

    One row per line: what the reader is told, and the rung in docs/results/h200/bench.json, or cuBLAS; without lines, every
    rung. :also: adds the share of cuBLAS at other sizes. Another name than "bench" is a log in docs/transcripts, for what
    is no rung. What was not measured is an error, unless its line begins with "? ": then it is left out. The share of cuBLAS
    at n is a bar as well. Where the clock was not the same for all rows, a column says so; where errors were measured, another one.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"n": directives.positive_int, "type": directives.unchanged, "also": directives.unchanged}

    def source(self):
        """{(name, type, n): (ms, TFLOP/s, share of cuBLAS, MHz, errors)}, the first three as words; where they come from, and how."""
        where = self.arguments[0]
        if where == "bench":
            bench = Bench(self.read(H200 / "bench.json"))
            found = {key: (time(r["ms"]), shown(r["tflops"]), percent(r["percent_of_cublas"]), bench.clock(key), r.get("errors"))
                     for key, r in bench.records.items() if "percent_of_cublas" in r}
            return found, *bench.source()
        text = self.read(DOCS / "transcripts" / f"{where}.txt")
        found = {(r["name"].strip(), r["type"], int(r["n"])): (r["ms"], r["tf"], r["percent"], 1, None) for r in log_records(text)}
        where_from, _, how = log_header(text).partition(" (")
        return found, where_from, f"({how} Log: docs/transcripts/{where}.txt"

    def lines(self, found, kinds, sizes):
        """[(what the reader is told, rung)], each of which was measured."""
        where = self.arguments[0]
        lines = [line.partition("|")[::2] for line in self.content]
        if not lines and where == "bench":
            rungs = Bench(self.read(H200 / "bench.json")).rungs(kinds[0], sizes[0])
            lines = [(f"[lab {lab}](lab{lab}.md) `{rung}`", rung) for lab, rung in rungs] + [("cuBLAS", "cuBLAS")]
        lines = measured_lines(lines, found, kinds, sizes)
        for _, name in lines:
            for kind in kinds:
                for size in sizes:
                    if (name, kind, size) not in found:
                        raise self.error(f"{where} has no '{name}' in {kind} at n = {size}")
        return lines

    def run(self):
        n = self.options.get("n", 4096)
        kinds = self.options.get("type", "float").split()
        also = [int(one) for one in self.options.get("also", "").split()]
        found, where_from, how = self.source()
        lines = self.lines(found, kinds, (n, *also))
        clocks = [found[name, kind, n][3] for _, name in lines for kind in kinds]
        clocked = max(clocks) > 1.02 * min(clocks)
        checked = any(found[name, kind, n][4] for _, name in lines for kind in kinds)
        columns = [column for kind in kinds
                   for column in (f"{kind + ', ' if len(kinds) > 1 else ''}of cuBLAS", *(f"at {size}" for size in also), "TFLOP/s", "ms", *["MHz"][:clocked], *["error"][:checked])]
        rows = []
        for label, name in lines:
            cells = ""
            for kind in kinds:
                ms, tflops, share, mhz, errors = found[name, kind, n]
                cells += number(f"{share} %", " bar", f' style="--share:{min(float(share), 100)}%"')
                cells += "".join(number(f"{found[name, kind, size][2]} %") for size in also) + number(tflops) + number(ms)
                cells += number(f"{mhz:.0f}") if clocked else ""
                cells += number(error_words(errors)) if checked else ""
            rows.append(row(inline(label), cells))
        first = f"{' and '.join(kinds)}, n = {n}" + ("; at …: the share of cuBLAS at another n" if also else "")
        first += "; MHz: the clock while it ran, which power limits" if clocked else ""
        first += "; error: the worst (and the mean) in u(|A||B|)" if checked else ""
        return [made_table(heads("kernel", *columns), rows, f"{first}. {where_from}.", how)]


class Climb(LabDirective):
    """```{climb}
    :n: 4096
    FP32 | float
    [lab 1](lab1.md) | gemm_naive
    ```: the ladder as bars, for the first page. A line "words | float" (an arithmetic) begins a group, ended by cuBLAS; the
    others are what {ladder} takes."""

    has_content = True
    option_spec = {"n": directives.positive_int}

    def run(self):
        bench, n = Bench(self.read(H200 / "bench.json")), self.options.get("n", 4096)
        kind, rows = None, []

        def bar(label, rung, css=""):
            one = bench.records.get((rung, kind, n))
            if one is None or "percent_of_cublas" not in one:
                raise self.error(f"bench.json has no '{rung}' in {kind} at n = {n}")
            share = one["percent_of_cublas"]
            rows.append(f'<li class="climb-row{css}" style="--share:{min(share, 100):.1f}%;--at:{len(rows)}"><span class="climb-name">{label}</span>'
                        f'<span class="climb-bar" aria-hidden="true"></span><span class="climb-share">{percent(share)} %</span></li>')

        def end():
            if kind is not None:
                bar("cuBLAS", "cuBLAS", " climb-top")
                rows.append("</ol>")

        for line in self.content:
            label, name = (part.strip() for part in line.split("|"))
            if name in NUMBERS:
                end()
                kind = name
                rows.append(f'<p class="climb-head">{inline(label)}</p><ol class="climb-rows">')
            else:
                bar(inline(label), name)
        end()
        note, how = bench.source()
        return [raw(f'<figure class="climb">{"".join(rows)}<figcaption class="provenance"><details><summary>Speed as a share of cuBLAS at n = {n}. {escape(note)}. '
                    f'<span class="how">How measured</span></summary>{escape(how)}</details></figcaption></figure>')]


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
    ```: what the synthetic loops of docs/results/h200/ceilings.json reach, the best of their samples. A line that begins with "? "
    is left out where the loop was not measured."""

    has_content = True

    def run(self):
        data = results.parse(self.read(H200 / "ceilings.json"), "ceilings.json", "ceilings")
        found = {one["name"]: one for one in data["ceilings"] if one["right"]}
        rows = []
        for line in self.content:
            label, _, name = (part.strip() for part in line.removeprefix("? ").partition("|"))
            if name not in found:
                if line.startswith("? "):
                    continue
                raise self.error(f"ceilings.json has no '{name}'")
            rows.append(f"<tr><th scope='row'>{inline(label)}</th><td class='number'>{found[name]['best']:.3g} {escape(found[name]['unit'])}</td></tr>")
        m, p = data["machine"], data["provenance"]
        how = f"Driver {m['driver']}, nvcc {m['nvcc']}, commit {p['commit'][:10]}. {p['command']}. docs/results/h200/ceilings.json"
        return [made_table('<tr><th>loop of</th><th class="number">reaches</th></tr>', rows, f"Best of {data['samples']}. {m['gpu']}, {p['date'][:10]}.", how)]


class Counts(LabDirective):
    """```{counts} gemm_naive<float>, 256x256x256```: a launch in docs/results/h200/counts.json, both sides of each
    counter. Several launches, one a line of the content, make a table of one counter each (:counter: NAME)."""

    has_content = True
    option_spec = {"counters": directives.unchanged_required}

    def run(self):
        data = results.parse(self.read(H200 / "counts.json"), "counts.json", "counts")
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


class Differences(LabDirective):
    """```{differences}
    ```: how often hardware and simgpu agree on each counter of counts.json, and, folded, why where they do not."""

    def run(self):
        data = results.parse(self.read(H200 / "counts.json"), "counts.json", "counts")
        device = data["device"]
        rows = [f"<tr><th scope='row'>{escape(counter)}</th>" + "".join(f'<td class="number">{number}</td>' for number in numbers) + "</tr>"
                for counter, *numbers in tables.tallies(data)]
        head = "<tr><th>counter</th>" + "".join(f'<th class="number">{one}</th>' for one in ("launches", "equal", "explained", "not explained")) + "</tr>"
        whole = made_table(head, rows, f"{len(data['launches'])} launches on {device['gpu']}, {device['date']}, beside simgpu.",
                           f"A counter is compared in every launch where one side is not 0. Driver {device['driver']}, nvcc {device['nvcc']}, ncu {device['ncu']}; "
                           f"simgpu with clang {data['clang']}. docs/results/h200/counts.json, written by make verify-counts")
        rows = [f"<tr><th scope='row'>{escape(launch)}</th><td>{escape(counter)}</td><td class='number'>{real}</td><td class='number'>{ours}</td><td>{escape(why)}</td></tr>"
                for launch, counter, real, ours, why in tables.differences(data)]
        head = '<tr><th>launch</th><th>counter</th><th class="number">H200</th><th class="number">simgpu</th><th>why</th></tr>'
        box = raw(f'<div class="table-box" tabindex="0" role="region" aria-label="Differences"><table class="made"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>')
        return [whole, *fold(f"The {len(rows)} differences", [box])]


class Others(LabDirective):
    """```{others}
    ```: how often simgpu counts as the profiler does on kernels in public manner, by clang, in docs/results/h200/others.json."""

    def run(self):
        data = json.loads(self.read(H200 / "others.json"))
        compared = data["compared"]
        head = "<tr><th rowspan='2'>counter</th>" + "".join(f"<th class='number' colspan='3'>clang {one['clang'].partition('.')[0]}</th>" for one in compared) + \
            "</tr><tr>" + "<th class='number'>exact</th><th class='number'>within 25 %</th><th class='number'>launches</th>" * len(compared) + "</tr>"
        rows = [row(escape(counter), "".join(number(one["counters"][counter][column]) for one in compared for column in ("exact", "within 25 %", "of")))
                for counter in compared[0]["counters"]]
        first = compared[0]
        return [made_table(head, rows, f"{first['launches']} launches of {first['kernels']} kernels. A counter is compared where it is not 0 on both sides.",
                           f"{data['measured']}; simgpu of commit {data['commit']}, {data['date']}. Kernels: grader/author/counts/others. "
                           "docs/results/h200/others.json, written by make compare-counts OUT=...")]


NUMBERS = {"float": "FP32", "double": "FP64", "half": "FP16", "bfloat16": "BF16"}


class Verdicts(LabDirective):
    """```{verdicts}
    :judged: 13, all but two 20; lab 6: 20
    :awaited: 6.4.4 6.4.5
    ```: how often the solution of each goal passed, and the technique before it failed, in docs/results/h200/speed-proof.json.
    The page around it says "every goal" and "always", and how often each was judged at least, which :judged: repeats; labs
    that it does not name are counted together. It also says which stages have no verdicts since their kernel changed, and
    :awaited: repeats them. The site does not build where that is not so."""

    option_spec = {"judged": directives.unchanged_required, "awaited": directives.unchanged_required}

    def enough(self, judged):
        """`judged`: goal -> how often. Whether that is what the page says."""
        said = {}
        for part in self.options.get("judged", "").split(";"):
            if not (match := re.fullmatch(r"(?:lab (\d+): )?(\d+)(?:, all but (one|two) (\d+))?", part.strip())):
                raise self.error(f"judged: what is '{part.strip()}'?")
            said[match[1]] = int(match[2]), int(match[4] or match[2]), 2 if match[3] == "two" else 1

        def said_of(goal):
            of_lab = goal.split(".")[0]
            return of_lab if of_lab in said else None

        for lab, (least, usual, fewer) in said.items():
            times = [often for goal, often in judged.items() if said_of(goal) == lab]
            if min(times, default=least) < least or sum(often < usual for often in times) > fewer:
                return False
        return True

    def check(self, data):
        """What the page says of the verdicts is so."""
        judged = {goal["goal"]: goal for goal in data["goals"]}
        if not self.enough({name: min(goal[side]["verdicts"] for side in ("solution", "previous") if side in goal) for name, goal in judged.items()}):
            raise self.error("speed-proof.json: fewer verdicts than the page says")
        asked = {}
        for file in sorted(ROOT.glob("lab[0-9]*_*/lab.toml")):
            for goal in tomllib.loads(self.read(file)).get("speed", []):
                asked[f"{goal['stage']} {goal['type']} {'x'.join(map(str, goal['shape']))}"] = {bar: goal.get(bar, 0) for bar in ("naive", "cublas")}
        # A copy with fewer labs has fewer goals.
        awaited = set(self.options.get("awaited", "").split())
        if differing := [goal for goal, bars in asked.items()
                         if (goal.split()[0] in awaited) == (goal in judged) or goal in judged and judged[goal]["bars"] != bars]:
            raise self.error(f"speed-proof.json: no verdicts on {', '.join(differing)} as it stands in lab.toml, or some where none are said to be")
        for name, goal in judged.items():
            solution, previous = goal["solution"], goal.get("previous")
            if solution["pass"] != solution["verdicts"] or previous and previous["fail"] != previous["verdicts"]:
                raise self.error(f"speed-proof.json: not every verdict of {name} is right")

    def cells(self, goal):
        stage, kind, shape = goal["goal"].split()
        solution, previous = goal["solution"], goal.get("previous")
        name = "TF32" if "tf32" in solution["kernel"] else NUMBERS.get(kind, kind)
        sides = shape.split("x")
        if sides != ["4096"] * 3:
            name += f", n = {sides[0]}" if len(set(sides)) == 1 else f", {' × '.join(sides)}"
        before = "<td>the naive yardstick</td>" + number("–") * 2
        if previous:
            # A mutant stands for a technique that is no rung: "gemm_naive<float> (lab1_naive@L1-01-x-along-rows)".
            rung = re.sub(r"<.*?(?:@L\d+-\d+-(.*))?\)$", lambda m: f", {m[1].replace('-', ' ')}" if m[1] else "", previous["kernel"])
            before = f"<td>{escape(rung)}</td>" + number(tables.of_all(previous, "fail")) + number(f"{previous['highest']:.2f}")
        return row(f"{escape(stage)} {escape(name)}", number(tables.of_all(solution, "pass")) + number(f"{solution['lowest']:.2f}") + before)

    def run(self):
        data = results.parse(self.read(H200 / "speed-proof.json"), "speed-proof.json", "speed-proof")
        self.check(data)
        head = ('<tr><th>goal</th><th class="number">the solution passed</th><th class="number">at least, of the bar</th><th>the technique before</th>'
                '<th class="number">failed</th><th class="number">at most, of the bar</th></tr>')
        last = max(data["runs"], key=lambda run: run["date"])
        commits = ", ".join(dict.fromkeys(run["commit"][:10] for run in data["runs"]))
        return [made_table(head, map(self.cells, data["goals"]), f"At n = 4096 where no other shape is named. A pass begins at 0.97 of the bar. {data['machine']['gpu']}, {last['date'][:10]}.",
                           f"Driver {last['driver']}, CUDA {last['cuda']}, commits {commits}. {data['provenance']['protocol']}. docs/results/h200/speed-proof.json, "
                           "written by measure prove-speed")]


def setup(app):
    for name, directive in {"ladder": Ladder, "climb": Climb, "tuning": Tuning, "ceilings": Ceilings, "counts": Counts, "differences": Differences, "others": Others,
                            "verdicts": Verdicts}.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
