"""matplotlib as the plots here use it: SVG that is the same byte for byte each time, transparent,
with colours that stand out from a white page and from a dark one."""

import io

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)
from matplotlib.ticker import NullFormatter  # noqa: E402

INK = "#777777"  # text and axes: 4.5 : 1 on white, 4.1 : 1 on #131416
# Middle tones; no two that differ in hue alone (Okabe and Ito's, darkened where white needs it).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a08a00", "#56a0d6", "#8f6bd6", "#9a5b3d", "#6f8a3f",
           "#c2477f", "#3f8f9f", "#b07030")
MARKERS = "osD^vP*Xphd<"

SETTINGS = {
    "svg.hashsalt": "cuda-gemm-lab",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.25,  # matplotlib ignores the alpha of a grid's colour
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
}


def figure(width, height, rows=1, columns=1, **more):
    plt.rcParams.update(SETTINGS)
    fig, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, **more)
    return fig, axes


def svg(fig, title, description):
    """The figure as SVG text, with a title and a description for those who cannot see it."""
    out = io.StringIO()
    fig.savefig(out, format="svg", transparent=True, bbox_inches="tight",
                metadata={"Date": None, "Creator": None, "Title": title, "Description": description})
    plt.close(fig)
    text = out.getvalue()
    # Trailing blanks in matplotlib's paths would fail the checks of some editors and of git.
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def plain_numbers(axis):
    """Ticks of logarithmic axes as plain numbers, at the large steps only."""
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_formatter(lambda value, _: f"{value:g}")
        one.set_minor_formatter(NullFormatter())


def style(index):
    """Colour and marker: no pair comes twice among the first 144."""
    turn, colour = divmod(index, len(COLOURS))
    return {"color": COLOURS[colour], "marker": MARKERS[(colour + turn) % len(MARKERS)]}
