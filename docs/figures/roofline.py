"""The roofline of an H200 in FP32, and where the labs' tiles stand under it."""

import math

from measured import ceiling, copy_bandwidth
from svg import NARROW, Drawing

PEAK, BANDWIDTH = round(ceiling("ffma"), 1), round(copy_bandwidth(), 2)  # TFLOP/s of the best loop of multiply-adds, TB/s of a copy
TILES = ((1, 1, "lab 1: 1 × 1"), (8, 4, "lab 2: 8 × 4"), (32, 32, "lab 3: 32 × 32"), (128, 128, "lab 3: 128 × 128"))


def draw(narrow=False):
    ridge = PEAK / BANDWIDTH
    d = Drawing("roofline", *((NARROW, 424) if narrow else (760, 400)), "The roofline of an H200 in FP32",
                f"Up to {ridge:.0f} FLOP per byte the memory's {BANDWIDTH} TB/s limit, beyond that {PEAK} TFLOP/s of arithmetic. One thread per element "
                "stands at 0.25 FLOP per byte, a tile of 128 by 128 at 32.")
    left, top, wide, high = (42, 56, 296, 262) if narrow else (70, 56, 650, 270)
    x = lambda v: left + wide * (math.log10(v) + 1) / 4  # noqa: E731
    y = lambda v: top + high * (2 - math.log10(v)) / 3  # noqa: E731
    d.text(16 if narrow else 24, 28, "what a byte allows", size=16, bold=True)
    d.rect(left, top, x(ridge) - left, high, "cell", 0)
    d.rect(x(ridge), top, left + wide - x(ridge), high, "mark", 0, opacity=.35)
    for decade in (.1, 1, 10, 100, 1000):
        d.line(f"M{x(decade):.1f} {top}v{high}")
        d.text(x(decade), top + high + 18, f"{decade:g}", "tmuted", 12.5, "middle")
    for decade in (.1, 1, 10, 100):
        d.line(f"M{left} {y(decade):.1f}h{wide}")
        d.text(left - 8, y(decade) + 4, f"{decade:g}", "tmuted", 12.5, "end")
    d.line(f"M{left} {y(BANDWIDTH / 10):.1f}L{x(ridge):.1f} {y(PEAK):.1f}H{left + wide}", "ink", 2.5)
    if narrow:
        d.text(left + 10, top + 20, "limited by memory", "tmuted", 14, bold=True)
        for i, words in enumerate(("limited by", "arithmetic")):
            d.text(left + wide - 6, top + 120 + 18 * i, words, "tmark", 14, "end", True)
        d.text(left + wide - 6, top + 88, f"{PEAK} TFLOP/s", size=13, anchor="end")
        d.text(x(1.1), y(BANDWIDTH) - 14, f"{BANDWIDTH} TB/s", size=13, anchor="end")
        d.text(x(ridge) + 6, top + high - 10, f"they meet at {ridge:.0f}", size=13)
    else:
        d.text(left + 12, top + 20, "limited by memory", "tmuted", 14, bold=True)
        d.text(left + wide - 12, top + 64, "limited by arithmetic", "tmark", 14, "end", True)
        d.text(left + wide - 12, top + 14, f"{PEAK} TFLOP/s", size=13, anchor="end")
        d.text(x(1.1), y(BANDWIDTH) - 16, f"{BANDWIDTH} TB/s", size=13, anchor="end")
        d.text(x(ridge) + 8, top + high - 12, f"they meet at {ridge:.0f}", size=13)
    d.line(f"M{x(ridge):.1f} {y(PEAK):.1f}V{top + high}", "muted", dash="4 3")
    for bm, bn, name in TILES:
        at = 2 / (4 * (1 / bm + 1 / bn))
        roof = min(PEAK, BANDWIDTH * at)
        d.dot(x(at), y(roof), 6, "head")
        if bm == 32:  # left of the slope, clear of the line where the roofs meet
            d.text(x(at) - 11, y(roof) + 2, f"{bm} × {bn}" if narrow else name, "", 13.5, "end", True)
        elif narrow and bm > 32:  # beside the roof there is no room for the whole name
            d.text(x(at) + 9, y(roof) + 21, f"{bm} × {bn}", "", 13.5, "start", True)
        else:
            d.text(x(at) + 12, y(roof) + 22, name, "", 13.5, "start", True)
    d.text(16 if narrow else left - 46, top - 9, "TFLOP/s", "tmuted", 12.5)
    d.text(left + wide, top + high + 36, "FLOP per byte that the tiles fetch", "tmuted", 12.5, "end")
    if narrow:
        for i, words in enumerate(("Both roofs measured on an H200. A point:", "the most that a tile allows without caches.", "32 × 32 and 128 × 128 are lab 3's.")):
            d.text(16, 376 + 19 * i, words, size=13.5)
    else:
        d.text(24, 386, "Both roofs measured on an H200. A point: the most that a tile allows if no cache helped.", size=13)
    return d.svg()
