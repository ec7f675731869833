#!/usr/bin/env python3
"""Curves of a sweep as SVG: sweep_plots.py RESULTS.json [FOLDER]

One picture per experiment and element type, one panel per variant in it, one curve per size of the
matrices. Where the size is what is swept, one curve per variant. Written beside the results, or to
FOLDER. Exit status 77: matplotlib is not installed.
"""

import json
import os
import sys

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


def families(points):
    """{(experiment, type): points} of what has a time, in the file's order."""
    found = {}
    for point in points:
        if "ms" in point and "error" not in point:
            found.setdefault((point["experiment"], point["type"]), []).append(point)
    return found


def style(number):
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.3,
    }


def gflops(point, key="ms"):
    return 2 * point["n"] ** 3 / point[key] * 1e-6


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
            [max(0, p["ms"] - p["low"]) for p in curve],
            [max(0, p["high"] - p["ms"]) for p in curve],
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
    about = results["provenance"]
    figure.suptitle(
        f"Lab {results['lab']}: {experiment}, {kind}. {about.get('gpu', '?')}, "
        f"driver {about.get('driver', '?')}, {about.get('date', '?')}",
        fontsize=9,
    )
    return figure


def main(argv):
    if len(argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 4
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed", file=sys.stderr)
        return 77
    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    # The same results give the same bytes; text stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "gemm-lab", "svg.fonttype": "none", "font.size": 8})
    with open(argv[1], encoding="utf-8") as file:
        results = json.load(file)
    folder = argv[2] if len(argv) == 3 else os.path.dirname(os.path.abspath(argv[1]))
    os.makedirs(folder, exist_ok=True)
    stem = os.path.splitext(os.path.basename(argv[1]))[0]
    for (experiment, kind), points in families(results["points"]).items():
        figure = draw(plt, results, experiment, kind, points)
        path = os.path.join(folder, f"{stem}-{slug(experiment)}-{kind}.svg")
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        print(f"plot: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
