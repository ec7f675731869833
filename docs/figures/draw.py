#!/usr/bin/env python3
"""draw.py [--check]: writes every figure of the course, the palette into docs/widgets/widgets.css, and what was measured
into the widgets that show it.

Each module beside this file that has draw() makes two SVGs: lab1_warp.py makes lab1-warp.svg and, with draw(narrow=True),
lab1-warp-narrow.svg, which a page shows on narrow screens. Nothing but Python's own
library is needed, and the output depends on nothing but the scripts. --check writes nothing: it names what is not up to
date and exits with 1.
"""

import importlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import measured  # noqa: E402
import palette  # noqa: E402

WIDGETS = os.path.join(HERE, "..", "widgets")
CSS = os.path.join(WIDGETS, "widgets.css")
# The scripts that have a block "// measured: begin ... // measured: end", and what stands in it.
SCRIPTS = {"roofline-chart.js": measured.roofs, "occupancy-calculator.js": measured.presets}


def css_block(colours):
    return " ".join(f"--w-{name}: {value};" for name, value in colours.items())


def widgets_css(old):
    """The style sheet with the palette of palette.py between its markers."""
    light, dark = css_block(palette.LIGHT), css_block(palette.DARK)
    begin, end = "/* palette: light */", "/* palette: end */"
    block = (
        f"{begin}\n.gemm-widget {{ {light} }}\n"
        f"/* palette: dark */\n@media (prefers-color-scheme: dark) {{\n  html:not([data-theme=light]) .gemm-widget {{ {dark} }}\n}}\n"
        f"html[data-theme=dark] .gemm-widget {{ {dark} }}\n"
    )
    return old[: old.index(begin)] + block + old[old.index(end) :]


def with_measured(old, value):
    """A script with what was measured between its markers, as a constant MEASURED."""
    begin, end = "  // measured: begin\n", "  // measured: end\n"
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        text = "[\n" + "".join(f"    {json.dumps(one, ensure_ascii=False)},\n" for one in value) + "  ]"
    before, _, rest = old.partition(begin)
    return f"{before}{begin}  const MEASURED = {text};\n{end}{rest.partition(end)[2]}"


def outputs():
    """(path, text) of everything that is generated."""
    for file in sorted(os.listdir(HERE)):
        module = importlib.import_module(file[:-3]) if file.endswith(".py") and file != "draw.py" else None
        if hasattr(module, "draw"):
            name = os.path.join(HERE, file[:-3].replace("_", "-"))
            yield name + ".svg", module.draw()
            yield name + "-narrow.svg", module.draw(narrow=True)
    with open(CSS, encoding="utf-8") as sheet:
        yield CSS, widgets_css(sheet.read())
    for name, values in SCRIPTS.items():
        with open(os.path.join(WIDGETS, name), encoding="utf-8") as script:
            yield os.path.join(WIDGETS, name), with_measured(script.read(), values())


def main():
    stale = []
    for path, text in outputs():
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text:
            continue
        stale.append(os.path.relpath(path, os.path.join(HERE, "..", "..")))
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
    for path in stale:
        print(("not up to date: " if "--check" in sys.argv else "drawn: ") + path)
    if "--check" in sys.argv and stale:
        sys.exit("run: python3 docs/figures/draw.py")


if __name__ == "__main__":
    main()
