#!/usr/bin/env python3
"""bench_plots.py bench.json FOLDER [counts.json]: the plots of a bench, as SVG files.

  ladder.svg      per cent of cuBLAS, rung by rung, at 4096 (or the largest size that was measured)
  rates-TYPE.svg  TFLOP/s over size, one curve per rung, and cuBLAS
  roofline.svg    rungs under what this GPU can do; needs ceilings.json beside bench.json, and
                  counts of what kernels ask of memory (default: docs/results/h200/counts.json)

Prints one line per file. Ends with 3 and one line if matplotlib is not installed.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import results as R  # noqa: E402

try:
    import drawing
except ImportError:
    print("No plots: matplotlib is not installed (sudo apt-get install python3-matplotlib, or pip install matplotlib).",
          file=sys.stderr)
    sys.exit(3)


def ladder(bench):
    """Bars per rung, one panel per type. None if nothing was compared with cuBLAS."""
    n = R.best_square(bench)
    panels = []
    for math in R.maths(bench):
        records = [r for r in R.measured(bench, math, n) if "percent_of_cublas" in r]
        if records:
            panels.append((math, records))
    if not panels:
        return None
    rows = sum(len(records) for _, records in panels)
    fig, axes = drawing.figure(7.5, 0.26 * rows + 0.62 * len(panels) + 0.4, len(panels),
                               height_ratios=[len(records) + 1 for _, records in panels])
    for (math, records), axis in zip(panels, axes[:, 0]):
        values = [r["percent_of_cublas"] for r in records]
        places = list(range(len(records)))
        colours = [drawing.COLOURS[(r["lab"] - 1) % len(drawing.COLOURS)] for r in records]
        bars = axis.barh(places, values, color=colours, height=0.72)
        for bar, record, value in zip(bars, records, values):
            bar.set_gid(f"ladder-{math}-{record['rung']}")
            axis.annotate(f"{value:.1f} %   {record['tflops']:.3g} TFLOP/s", (value, bar.get_y() + bar.get_height() / 2),
                          xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
        axis.set_yticks(places, [f"{r['lab']} {r['rung']}" for r in records], fontsize=8)
        axis.invert_yaxis()
        axis.set_xlim(0, max(118, 1.3 * max(values)))
        axis.axvline(100, color=drawing.INK, linewidth=1, linestyle="--")
        axis.grid(axis="y", visible=False)
        axis.set_title(f"{R.MATH_NAMES[math]}, {n} x {n} x {n}", loc="left", fontsize=10)
    axes[-1, 0].set_xlabel("per cent of cuBLAS in the same math mode")
    fig.suptitle(R.provenance_line(bench), fontsize=8, x=0.01, ha="left")
    fig.tight_layout()
    words = "; ".join(f"{R.MATH_NAMES[m]}: " + ", ".join(f"{r['rung']} {r['percent_of_cublas']:.1f}" for r in records)
                      for m, records in panels)
    return drawing.svg(fig, f"Percent of cuBLAS, rung by rung, at {n}", words)


def rates(bench, math):
    records = [r for r in R.measured(bench, math) if R.is_square(r) and r["n"] in R.EVEN]
    rungs = list(dict.fromkeys((r["lab"], r["rung"]) for r in records))
    if not rungs:
        return None
    fig, axes = drawing.figure(7.5, 4.4)
    axis = axes[0, 0]
    for index, (lab, rung) in enumerate(rungs):
        points = sorted((r["n"], r["tflops"]) for r in records if (r["lab"], r["rung"]) == (lab, rung))
        line, = axis.plot(*zip(*points), label=f"{lab} {rung}", markersize=4, linewidth=1.3, **drawing.style(index))
        line.set_gid(f"rate-{math}-{rung}")
    library = sorted((y["n"], y["cublas_tflops"]) for y in R.yardsticks(bench, math)
                     if "cublas_tflops" in y and R.is_square(y) and y["n"] in R.EVEN)
    if library:
        line, = axis.plot(*zip(*library), label="cuBLAS", color=drawing.INK, linewidth=2, linestyle="--")
        line.set_gid(f"rate-{math}-cublas")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xticks(sorted({n for n, _ in [(r["n"], 0) for r in records]}))
    drawing.plain_numbers(axis)
    axis.set_xlabel("M = N = K")
    axis.set_ylabel("TOP/s" if math == "int32" else "TFLOP/s")
    axis.set_title(f"{R.MATH_NAMES[math]}: speed over size\n{R.provenance_line(bench)}", loc="left", fontsize=9)
    axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    words = f"{len(rungs)} rungs" + (" and cuBLAS" if library else "")
    return drawing.svg(fig, f"{R.MATH_NAMES[math]}: TFLOP/s over size", words)


def roofline(bench, ceilings, intensities):
    roofs = R.ceilings_by_name(ceilings)
    n = R.best_square(bench)
    panels = []
    for math in R.maths(bench):
        points = [(r, intensities[r["rung"], r["type"]]) for r in R.measured(bench, math, n)
                  if (r["rung"], r["type"]) in intensities]
        tops = [(roofs[name], words) for name, words in R.ROOFS[math] if name in roofs]
        if points and tops:
            panels.append((math, points, tops))
    if not panels or "copy" not in roofs:
        return None
    # One below the other: a legend beside each hides no point.
    fig, axes = drawing.figure(7.2, 3.9 * len(panels), len(panels), 1)
    for axis, (math, points, tops) in zip(axes.flat, panels):
        low = min(x for _, x in points) / 2
        high = max([x for _, x in points] + [max(t for t, _ in tops) * 1e3 / roofs["copy"]]) * 3
        top = max(t for t, _ in tops)
        for name, words, line_style in (("copy", "device memory", "-"), ("shared", "shared memory", ":")):
            if name in roofs:
                slope = roofs[name] / 1e3  # TFLOP/s per (FLOP/B)
                turn = top / slope
                axis.plot([low, min(turn, high)], [low * slope, min(turn, high) * slope], color=drawing.INK,
                          linestyle=line_style, linewidth=1.2, label=f"{words}, {roofs[name] / 1e3:.3g} TB/s")
        for height, words in tops:
            line = axis.axhline(height, color=drawing.INK, linewidth=1.2, linestyle="--")
            line.set_gid(f"roof-{math}-{words.replace(' ', '-')}")
            axis.annotate(f"{words} {height:.3g}", (high, height), xytext=(0, 3), textcoords="offset points",
                          ha="right", fontsize=8)
        for index, (record, x) in enumerate(points):
            dot, = axis.plot([x], [record["tflops"]], linestyle="none", markersize=6,
                             label=f"{record['lab']} {record['rung']}", **drawing.style(index))
            dot.set_gid(f"roofline-{math}-{record['rung']}")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlim(low, high)
        axis.set_ylim(min(r["tflops"] for r, _ in points) / 2, top * 2)
        drawing.plain_numbers(axis)
        axis.set_xlabel("operations per byte asked of global memory")
        axis.set_ylabel("TFLOP/s")
        axis.set_title(f"{R.MATH_NAMES[math]}, n = {n}", loc="left", fontsize=10)
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    fig.suptitle(R.provenance_line(bench) + "; a point above the line of device memory is fed by caches", fontsize=8,
                 x=0.01, y=1, ha="left", va="bottom")
    fig.tight_layout()
    words = "; ".join(f"{R.MATH_NAMES[m]}: " + ", ".join(f"{r['rung']} {x:.3g} operations per byte, {r['tflops']:.3g} TFLOP/s"
                                                         for r, x in points) for m, points, _ in panels)
    return drawing.svg(fig, "Roofline", words)


def plots(bench, ceilings, intensities):
    """{file name: SVG text}"""
    found = {"ladder.svg": ladder(bench)}
    for math in R.maths(bench):
        found[f"rates-{math}.svg"] = rates(bench, math)
    if ceilings:
        found["roofline.svg"] = roofline(bench, ceilings, intensities)
    return {name: text for name, text in found.items() if text}


def default_counts():
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "results", "h200", "counts.json")


def load_counts(path):
    try:
        return R.load(path, "counts")
    except R.Unusable:
        return None


def main(arguments):
    if len(arguments) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 4
    try:
        bench = R.load(arguments[1], "bench")
        ceilings = R.beside(arguments[1], "ceilings.json", "ceilings")
    except R.Unusable as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    counts = load_counts(arguments[3] if len(arguments) == 4 else default_counts())
    os.makedirs(arguments[2], exist_ok=True)
    made = plots(bench, ceilings, R.intensities(counts, R.best_square(bench) or 256))
    for name, text in made.items():
        with open(os.path.join(arguments[2], name), "w", encoding="utf-8") as file:
            file.write(text)
    if made:
        print("plots: " + ", ".join(made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
