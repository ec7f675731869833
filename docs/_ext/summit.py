"""The bars of lab 6, met and missed, and the best public kernels beside them."""

import pathlib
import sys

from common import DOCS, H200, LabDirective, escape, inline, raw
from figures import files_of, with_figures
from recorded import Bench, error_words, made_table, results

sys.path.insert(0, str(pathlib.Path(results.__file__).parent))
import bars  # noqa: E402

BARS = DOCS / "data" / "bars.toml"


def shape_words(name):
    return name.replace("x", " × ")


class Bars(LabDirective):
    """```{bars}
    ```: every bar of docs/data/bars.toml beside its figure in docs/results/h200/bench.json. A bar without a figure breaks the build."""

    def cells(self, cell):
        name = f"<th scope='row'>{escape(shape_words(cell.shape))}</th>"
        bar = f"<td class='number'>{cell.bar:.2f}</td>" if cell.bar else "<td class='number'>–</td>"
        if cell.figure is None:
            return f"<tr>{name}{bar}<td class='number'>–</td><td>not measured yet</td>" + "<td class='number'>–</td>" * 2 + self.notes(cell)
        between = f"<br>{cell.interval[0]:.3f} to {cell.interval[1]:.3f}" if cell.interval else ""
        stage = f"<br>{escape(cell.stage)}" if self.several else ""
        verdict = "reported" if not cell.bar else "met" if cell.met else f"<strong>missed by {100 * (1 - cell.ratio / cell.bar):.1f} %</strong>"
        errors = "".join(f"<td class='number'>{error_words(cell.figure.get(key))}</td>" for key in ("errors", "cublas_errors"))
        return f"<tr>{name}{bar}<td class='number'>{cell.ratio:.3f}{between}{stage}</td><td>{verdict}</td>{errors}{self.notes(cell)}"

    def notes(self, cell):
        """What bounds it and what was tried, as numbers of the list below: most stand for several shapes."""
        numbers = [self.numbered.setdefault(note, len(self.numbered) + 1) for note in (cell.bound, cell.tried)]
        return "".join(f'<td class="number"><a href="#bars-note-{number}">{number}</a></td>' for number in numbers) + "</tr>"

    def figured(self, note):
        """A note with its figures, {stalled}`...` and {powered}`...` as on any page."""
        for file in files_of(note):
            self.read(file)
        try:
            return with_figures(note)
        except ValueError as error:
            raise self.error(f"bars.toml, '{note[:40]} ...': {error}") from None

    def run(self):
        self.read(BARS)
        text = self.read(H200 / "bench.json")
        try:
            kinds = bars.judged(bars.load(BARS), results.parse(text, "bench.json", "bench"))
        except results.Unusable as error:
            raise self.error(f"bars.toml: {error}") from None
        rows = []
        self.numbered = {}
        for kind, cells in kinds:
            self.several = len(kind["kernels"]) > 1
            stages = " or ".join(stage for stage, _ in kind["kernels"]) + (", whichever is faster" if self.several else "")
            rows.append(f"<tr><th colspan='8' scope='colgroup'>{escape(kind['name'])}, {stages}</th></tr>")
            rows += map(self.cells, cells)
        head = ('<tr><th>M × N × K</th><th class="number">bar</th><th class="number">of cuBLAS</th><th>verdict</th><th class="number">error</th>'
                '<th class="number">cuBLAS\'s</th><th class="number">bound by</th><th class="number">tried</th></tr>')
        where_from, how = Bench(text).source()
        notes = raw("<ol>" + "".join(f'<li id="bars-note-{number}">{inline(self.figured(note))}</li>' for note, number in self.numbered.items()) + "</ol>")
        return [made_table(head, rows, f"Speed as a multiple of cuBLAS's, with the 95 % interval of its median, and the worst error (and the mean) in units of u(|A||B|). {where_from}.",
                           f"{how}. Bars and notes: docs/data/bars.toml, from docs/results/h200/tuning-lab-6.txt, stalls-lab-6.txt, power-lab-6.txt and their neighbours"),
                notes]


class Yardsticks(LabDirective):
    """```{yardsticks}
    ```: the best public kernels of docs/data/bars.toml, in per cent of cuBLAS."""

    def run(self):
        self.read(BARS)
        all_of = bars.load(BARS)["yardstick"]
        sizes = sorted({int(n) for one in all_of for n in one["figures"]}, key=lambda n: (n % 2, n))
        rows = []
        for one in all_of:
            source = f'<a href="https://github.com/{escape(one["source"])}">{escape(one["source"])}</a>, {escape(one["kernel"])}'
            cells = "".join(f"<td class='number'>{one['figures'][str(n)]:g} %</td>" if str(n) in one["figures"] else "<td class='number'>–</td>" for n in sizes)
            rows.append(f"<tr><th scope='row'>{escape(one['type'])}</th><td>{source}</td>{cells}<td>{escape(one['note'])}</td></tr>")
        head = "<tr><th></th><th>kernel</th>" + "".join(f'<th class="number">{n}</th>' for n in sizes) + "<th></th></tr>"
        return [made_table(head, rows, "Per cent of cuBLAS in the same run, M = N = K. NVIDIA H200, CUDA 13.0, November 2026.",
                           "Each project's sources as published, compiled by nvcc 13.0 for sm_90a and run in a harness of their own, not in make bench: "
                           "inputs stay in the cache, and not every result was compared. docs/data/bars.toml")]


def setup(app):
    app.add_directive("bars", Bars)
    app.add_directive("yardsticks", Yardsticks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
