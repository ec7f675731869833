"""Flows for the map of the project: steps from top to bottom, in frames that say whose code runs there."""

import textwrap

from svg import NARROW, Drawing

WIDE, LINE = 760, 17
GAP, HEAD, END = 16, 30, 10  # between steps, a frame's name above its first step, space below its last one


def flow(name, title, desc, frames, narrow):
    """frames: (name of the frame, kind of its boxes, [(words in the box, what happens there)]). Where one frame ends and the
    next begins, data crosses from one process into another."""
    width = NARROW if narrow else WIDE
    box, columns = (width - 48, 43) if narrow else (216, 67)
    plan, y = [], 14
    for frame, kind, steps in frames:
        top, y = y, y + HEAD
        rows = []
        for words, note in steps:
            lines = textwrap.wrap(note, columns)
            high = 30 if narrow else max(30, LINE * len(lines) + 4)
            rows.append((y, words, lines))
            y += high + (LINE * len(lines) + 6 if narrow else 0) + GAP
        y += END - GAP
        plan.append((top, y - top, frame, kind, rows))
        y += 22
    d = Drawing(name, width, y - 8, title, desc)
    below = None
    for top, high, frame, kind, rows in plan:
        d.rect(8, top, width - 16, high, "frame", 1.5, 8, dash="5 4")
        x, anchor = (20, "start") if narrow else (width - 20, "end")  # beside the arrow that comes in
        d.text(x, top + 20, frame, "tbad" if kind == "bad" else "tmark" if kind == "mark" else "", 13, anchor, True)
        for at, words, lines in rows:
            if below is not None:
                d.line(f"M{24 + box - 14} {below}V{at - 2}", "ink", 1.5, arrow=True)
            d.box(24, at, box, 30, kind, words, 13)
            for i, line in enumerate(lines):
                d.text(24 if narrow else 24 + box + 14, at + 46 + LINE * i if narrow else at + 19.5 + LINE * i, line, size=13)
            below = at + 30
    return d.svg()
