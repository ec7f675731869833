"""The colours of the course, in one place.

A, B and C keep theirs in every figure and every widget: A is blue, B is orange, C is green. Each has a strong tone for
outlines and words, and a pale one for areas. Words in a strong tone on `bg` or `panel` have a contrast of 4.5 at least
(docs/tests/widgets_test.py computes it). draw.py puts these values into the SVG files and into docs/widgets/widgets.css.
"""

LIGHT = {
    "bg": "#f6f8fa",  # a figure's or widget's ground
    "panel": "#ffffff",  # matrices, fields
    "fg": "#1b1f24",
    "muted": "#57606a",
    "line": "#d0d7de",
    "cell": "#eaeef2",  # touched, but not what this is about
    "a": "#0860ca", "a-fill": "#b6d7ff",
    "b": "#b04600", "b-fill": "#ffd8b5",
    "c": "#1a7037", "c-fill": "#b4e6c0",
    "mark": "#7440cf", "mark-fill": "#e2d3ff",  # a fourth thing
    "bad": "#a40e26", "bad-fill": "#ffd0d5",
}

DARK = {
    "bg": "#161b22",
    "panel": "#0d1117",
    "fg": "#e6edf3",
    "muted": "#9da7b3",
    "line": "#3d444d",
    "cell": "#2a313c",
    "a": "#79c0ff", "a-fill": "#1c3d66",
    "b": "#ffb77c", "b-fill": "#5a2f0c",
    "c": "#56d364", "c-fill": "#154a24",
    "mark": "#d2a8ff", "mark-fill": "#432c6b",
    "bad": "#ff9b9b", "bad-fill": "#5c1a22",
}
