"""Curves and tables of a quantity over a parameter: sweeps, and speed over size."""

import hashlib
import math

from docutils.parsers.rst import directives

from common import H200, LabDirective, escape, raw
from recorded import Bench, made_table, measured_lines, provenance, sweep_of, time
from sentences import sentences

COLUMNS = {"registers": "registers", "local_bytes": "local bytes per thread", "occupancy": "occupancy",
           "dynamic_shared": "shared bytes", "static_shared": "shared bytes", "resident_blocks": "blocks per SM", "blocks": "blocks"}


class Curve:
    """A quantity over a parameter, both by factors, for wide windows and for narrow ones: an SVG with a line per series,
    dashed from the fifth on. The narrow one has the names below it."""

    TOP, BOTTOM = 14, 40  # of the plot, in units of the drawing

    def __init__(self, places, series, title, unit, quantity="ms"):
        self.places, self.series, self.title, self.unit, self.quantity = places, series, title, unit, quantity
        values = [value for _, values in series for value in values if value]
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.kinds = [f"s{number % 4}" + (" dashed" if number >= 4 else "") for number in range(len(series))]
        self.words = "; ".join(f"{name}: " + ", ".join(f"{place} {time(value)} {quantity}" for place, value in zip(places, values) if value)
                               for name, values in series)

    def axes(self, width, height, left, right, at, step):
        parts = []
        for power in range(self.low, self.high + 1):
            y = at(0, 10**power)[1]
            label = f"{10.0**power:g}" + ("" if power < self.high else f" {self.quantity}")
            parts.append(f'<path d="M{left} {y:.1f}H{width - right}" class="grid"/><text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        for i, place in list(enumerate(self.places))[::step]:
            parts.append(f'<text x="{at(i, 10**self.low)[0]:.1f}" y="{height - self.BOTTOM + 18}" text-anchor="middle">{escape(place)}</text>')
        parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 5}" text-anchor="middle">{escape(self.unit)}</text>')
        return parts

    def lines(self, at, names_at):
        """`names_at`: where the names of the series begin; None: they stand elsewhere."""
        parts, taken = [], []
        for (name, values), kind in zip(self.series, self.kinds):
            points = [at(i, value) for i, value in enumerate(values) if value]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" class="series {kind}"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="dot {kind}"/>' for x, y in points]
            if names_at is not None:
                y = points[-1][1] + 4
                while any(abs(y - other) < 14 for other in taken):
                    y -= 14
                taken.append(y)
                parts.append(f'<text x="{names_at}" y="{y:.1f}" class="name {kind}">{escape(name)}</text>')
        return parts

    def draw(self, width, height, left, right, key):
        def at(i, value):
            return (left + i * (width - left - right) / max(1, len(self.places) - 1),
                    self.TOP + (self.high - math.log10(value)) / (self.high - self.low) * (height - self.TOP - self.BOTTOM))

        step = 1 if key == "wide" or len(self.places) < 8 else 2
        parts = self.axes(width, height, left, right, at, step) + self.lines(at, width - right + 10 if key == "wide" else None)
        ids = f"{key}{hashlib.md5((self.title + self.words).encode()).hexdigest()[:8]}"
        return (f'<svg class="curve {key}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t{ids} d{ids}"><title id="t{ids}">{escape(self.title)}</title>'
                f'<desc id="d{ids}">{escape(self.words)}</desc>{"".join(parts)}</svg>')

    def html(self):
        names = "".join(f'<span class="{kind}">{escape(name)}</span>' for (name, _), kind in zip(self.series, self.kinds))
        left = 12 + 7 * len(f"{10.0**self.high:g} {self.quantity}")
        return self.draw(660, 250, left, 150, "wide") + self.draw(340, 230, left, 14, "narrow") + f'<p class="curve-key narrow" aria-hidden="true">{names}</p>'


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
        drawing = Curve([str(n) for n in sizes], series, f"{kind}: TFLOP/s over n", "M = N = K", "TFLOP/s").html()
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

    def choose(self, data):
        """The records asked for, by series (variant, n) and place; for "size" the place is n, and the n of a series None."""
        sizes = [int(n) for n in self.options.get("n", "4096").split()]
        records = [p for p in data["records"] if p["experiment"] == self.experiment and p["math"] == self.kind]
        given = self.options.get("variants")
        self.variants = [v.strip() for v in given.split(";")] if given else list(dict.fromkeys(p["variant"] for p in records))
        records = [p for p in records if p["variant"] in self.variants]  # others may count their places in another way
        if self.by_size:
            records, sizes = [dict(p, x=p["n"], n=None, place=p.get("label", str(p["n"]))) for p in records if p["n"] in sizes], [None]
        self.found = {(p["variant"], p["n"], p["x"]): p for p in records}
        self.series = [(v, n) for v in self.variants for n in sizes]
        places = dict.fromkeys((p["x"], p["place"]) for p in records)
        self.places = [(x, label) for x, label in places if any((*s, x) in self.found for s in self.series)]
        for v, n in self.series:
            if not any((v, n, x) in self.found for x, _ in places):
                raise self.error(f"{self.name} has no '{self.experiment}' of '{v}' in {self.kind} at n = {n}")
        many = len(sizes) > 1 or len(self.variants) == 1
        self.names = [", ".join([v] * (len(self.variants) > 1) + [f"n = {n}"] * (not self.by_size and many)) for v, n in self.series]

    def best(self, s, x):
        """The least time of the series, or, by size, of all series at that n."""
        rivals = [(*t, x) for t in self.series] if self.by_size else [(*s, y) for y, _ in self.places]
        return min(self.found[key]["ms"] for key in rivals if key in self.found)

    def row(self, x, label, extra):
        cells = ""
        for s in self.series:
            p = self.found.get((*s, x))
            cells += "<td class='number'>–</td>" if p is None else (
                f'<td class="number{" best" if p["ms"] == self.best(s, x) else ""}" title="95 % of medians: {time(p["ms_interval"][0])} to '
                f'{time(p["ms_interval"][1])} ms, {p["rounds"]} samples">{time(p["ms"])}</td>')
        p = next((self.found[(*s, x)] for s in reversed(self.series) if (*s, x) in self.found), None)
        cells += "".join(f'<td class="number">{p[one] * 100:g} %</td>' if one == "occupancy" else f'<td class="number">{p[one]}</td>' for one in extra)
        return f"<tr><th scope='row'>{escape(label)}</th>{cells}</tr>"

    def run(self):
        self.name = f"sweep-lab{self.arguments[0]}.json"
        self.experiment, self.kind = self.options["experiment"], self.options.get("type", "float")
        self.by_size = self.experiment == "size"
        data = sweep_of(self.read(H200 / self.name), self.name)
        self.choose(data)
        extra, unit = self.options.get("columns", "").split(), self.options.get("x", self.experiment)
        head = f"<tr><th>{escape(unit)}</th>" + "".join(f'<th class="number">{escape(one)}, ms</th>' for one in self.names) + "".join(
            f'<th class="number">{COLUMNS[one]}</th>' for one in extra) + "</tr>"
        rows = [self.row(x, label, extra) for x, label in self.places]
        sizes = "" if self.by_size else "".join(f", n = {n}" for n in dict.fromkeys(n for _, n in self.series))
        where_from, how = provenance(data)
        result = [made_table(head, rows, f"{self.kind}{sizes}. {where_from}.", f"{how}. docs/results/h200/{self.name}")]
        if "curve" in self.options:
            lines = [(name, [self.found[(*s, x)]["ms"] if (*s, x) in self.found else None for x, _ in self.places]) for name, s in zip(self.names, self.series)]
            curve = Curve([label for _, label in self.places], lines, f"{self.experiment}, {self.kind}: time over {unit}", unit)
            result.insert(0, raw(f'<div class="curve-box">{curve.html()}</div>'))
        if "sentences" in self.options:
            for sentence in sentences(data):
                if sentence["experiment"] == self.experiment and sentence["math"] == self.kind and sentence["variant"] in self.variants:
                    lead = f"*{sentence['variant']}:* " if len(self.variants) > 1 else ""
                    result += self.parsed(lead + sentence["minimum"] + " " + sentence["turn"])
        return result


def setup(app):
    app.add_directive("rates", Rates)
    app.add_directive("sweep", Sweep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
