#!/usr/bin/env python3
"""What a sweep measured: sweep_plots.py RESULTS.json [FOLDER]

Prints its tables and sentences. With a FOLDER it draws curves there, as SVG: one picture per experiment and element type,
one panel per variant in it, one curve per size of the matrices. Where the size is what is swept, one curve per variant.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import results as R  # noqa: E402
import sweep_tables  # noqa: E402
from sweep_tables import gflops  # noqa: E402

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
MARKERS = "osD^vPX"

AXES = {
    "side": "threads per block side",
    "register tile": "TILE: a thread has TILE x TILE elements",
    "read-only loads": "TILE",
    "size": "n",
    "padding": "elements of padding per row",
    "carve-out": "per cent of L1 asked for as shared memory",
    "packing": "packed",
    "repeated products": "products per packing",
    "steps": "step",
    "layout": "layout of A's tile",
    "stages": "stages",
    "tile shape": "tile",
}


def slug(words):
    return "".join(c if c.isalnum() else "-" for c in words)


def unique(values):
    return list(dict.fromkeys(values))


def families(records):
    """{(experiment, math): records} of what has a time, in the file's order."""
    found = {}
    for record in records:
        if "ms" in record:
            found.setdefault((record["experiment"], record["math"]), []).append(record)
    return found


def style(number):
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.3,
    }


def draw_over_parameter(panel, points, sizes):
    """Milliseconds over x, a curve per size, its interval as bars."""
    labelled = any(point.get("label") for point in points)
    xs = unique(sorted(point["x"] for point in points))
    for number, n in enumerate(sizes):
        curve = sorted((p for p in points if p["n"] == n), key=lambda p: p["x"])
        if not curve:
            continue
        where = [xs.index(p["x"]) if labelled else p["x"] for p in curve]
        times = [p["ms"] for p in curve]
        bars = [
            [max(0, p["ms"] - p["ms_interval"][0]) for p in curve],
            [max(0, p["ms_interval"][1] - p["ms"]) for p in curve],
        ]
        drawn = panel.errorbar(where, times, yerr=bars, label=f"n = {n}", capsize=2, **style(number))
        drawn.lines[0].set_gid(f"curve-n{n}-{slug(curve[0]['variant'])}")
    panel.set_yscale("log")
    if labelled:
        names = {p["x"]: p.get("label") or str(p["x"]) for p in points}
        panel.set_xticks(range(len(xs)), [names[x] for x in xs], rotation=20, ha="right")
    else:
        if min(xs) > 0 and max(xs) / min(xs) >= 8:
            panel.set_xscale("log", base=2)
        panel.set_xticks(xs, [str(x) for x in xs])
        panel.minorticks_off()
    panel.set_ylabel("milliseconds")


def draw_over_size(panel, points):
    """GFLOP/s over n, a curve per variant, the naive yardstick and cuBLAS beside them."""
    for number, variant in enumerate(unique(p["variant"] for p in points)):
        curve = sorted((p for p in points if p["variant"] == variant), key=lambda p: p["n"])
        (line,) = panel.plot(
            [p["n"] for p in curve], [gflops(p) for p in curve], label=variant, **style(number)
        )
        line.set_gid(f"curve-{slug(variant)}")
    for key, name, dash in (("naive_ms", "naive", ":"), ("cublas_ms", "cuBLAS", "--")):
        curve = {p["n"]: gflops(p, key) for p in points if p.get(key)}
        if curve:
            sizes = sorted(curve)
            (line,) = panel.plot(sizes, [curve[n] for n in sizes], dash, color="#666666", label=name)
            line.set_gid(f"curve-{name}")
    panel.set_ylabel("GFLOP/s")
    panel.set_ylim(bottom=0)


def draw_speed_up(panel, points, sizes):
    """How many times as fast shared is as naive: over n, a curve per side; 32 is the course's."""
    times = {(p["variant"], p["n"], p["x"]): p["ms"] for p in points}
    for number, side in enumerate(unique(sorted(p["x"] for p in points))):
        both = [n for n in sizes if ("naive", n, side) in times and ("shared", n, side) in times]
        if not both:
            continue
        ratios = [times["naive", n, side] / times["shared", n, side] for n in both]
        (line,) = panel.plot(both, ratios, label=f"side {side}", **style(number))
        line.set_gid(f"curve-side{side}")
    panel.axhline(1, color="#999999", linewidth=0.8)
    panel.set_xscale("log", base=2)
    panel.set_xticks(sizes, [str(n) for n in sizes])
    panel.minorticks_off()
    panel.set_xlabel("n")
    panel.set_title("naive / shared", fontsize=9)
    panel.set_ylabel("times as fast")
    panel.legend(fontsize=7, frameon=False)


def draw(plt, results, experiment, kind, points):
    sizes = unique(sorted(p["n"] for p in points))
    variants = [None] if experiment == "size" else unique(p["variant"] for p in points)
    both = experiment == "side" and {"naive", "shared"} <= set(variants)
    panels = len(variants) + both
    columns = min(panels, 3)
    rows = -(-panels // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(max(4.6, 3.6 * columns), 3.3 * rows + 0.7), squeeze=False, layout="constrained"
    )
    axes = axes.ravel()
    for panel, variant in zip(axes, variants):
        if variant is None:
            draw_over_size(panel, points)
        else:
            mine = [p for p in points if p["variant"] == variant]
            draw_over_parameter(panel, mine, sizes)
            panel.set_title(variant, fontsize=9)
        panel.set_xlabel(AXES.get(experiment, "x"))
    if both:
        draw_speed_up(axes[len(variants)], points, sizes)
    for unused in axes[panels:]:
        unused.set_visible(False)
    for panel in axes[: len(variants)]:
        panel.grid(True, which="major", color="#dddddd", linewidth=0.6)
    # Times of all panels can be compared, and one legend serves them.
    if variants != [None]:
        limits = [panel.get_ylim() for panel in axes[: len(variants)]]
        for panel in axes[: len(variants)]:
            panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=5, fontsize=7, frameon=False)
    figure.suptitle(f"Lab {results['records'][0]['lab']}: {experiment}, {kind}. {R.provenance_words(results)}", fontsize=9)
    return figure


def draw_all(path, results, folder):
    """One SVG per experiment and type; their paths. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    # The same results give the same bytes; text stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "gemm-lab", "svg.fonttype": "none", "font.size": 8})
    os.makedirs(folder, exist_ok=True)
    stem = os.path.splitext(os.path.basename(path))[0]
    made = []
    for (experiment, kind), records in families(results["records"]).items():
        figure = draw(plt, results, experiment, kind, records)
        made.append(os.path.join(folder, f"{stem}-{slug(experiment)}-{kind}.svg"))
        figure.savefig(made[-1], metadata={"Date": None})
        plt.close(figure)
    return made


def main(argv):
    if len(argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 4
    try:
        results = R.load(argv[1], "sweep")
    except R.Unusable as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    lab = results["records"][0]["lab"] if results["records"] else "?"
    print(sweep_tables.fit(f"gemm-lab sweep · lab {lab} · {R.provenance_words(results, ' · ')}", sweep_tables.COLUMNS) + "\n")
    print("\n".join(sweep_tables.tables(results)))
    if len(argv) == 3:
        try:
            for path in draw_all(argv[1], results, argv[2]):
                print(f"plot: {path}")
        except ImportError:
            print("no plots: matplotlib is not installed (pip install matplotlib)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
