"""Lab 3: tiles of A and B walk along K through shared memory, between two barriers."""

from svg import NARROW, Drawing, letters


def draw(narrow=False):
    d = Drawing("lab3-tiles", *((NARROW, 714) if narrow else (760, 372)), "Tiles in shared memory and the two barriers",
                "A block keeps its tile of C and walks along K. In each step it fetches a tile of A and one of B into shared memory, waits, "
                "multiplies, and waits again before it overwrites them.")
    d.at(20 if narrow else 0, 0)
    size, x, y = 124, 24, 28
    corners = {"A": (x, y + size + 22), "B": (x + size + 22, y), "C": (x + size + 22, y + size + 22)}
    for left, top in corners.values():
        d.rect(left, top, size, size, "panel")
    (ax, ay), (bx, by), (cx, cy) = corners["A"], corners["B"], corners["C"]
    d.rect(ax, ay + 42, size, 46, "cell")
    d.rect(bx + 52, by, 46, size, "cell")
    for i, opacity in ((0, .35), (1, .35), (2, 1)):
        d.rect(ax + 18 * i, ay + 42, 18, 46, "a", opacity=opacity)
        d.rect(bx + 52, by + 18 * i, 46, 18, "b", opacity=opacity)
    d.line(f"M{ax + 58} {ay + 65}H{ax + size - 4}", "ink", 1.5, arrow=True)
    d.line(f"M{bx + 75} {by + 58}V{by + size - 4}", "ink", 1.5, arrow=True)
    d.rect(cx + 52, cy + 42, 46, 46, "c", 1.5)
    d.rect(cx + 68, cy + 58, 6, 6, "head")
    letters(d, corners)
    d.text(ax + 62, ay + 104, "a_tile: 128 × 16", "ta", 13.5, "middle", True)
    d.text(bx - 6, by + 50, "b_tile: 16 × 128", "tb", 13.5, "end", True)
    d.text(cx + 62, cy + 104, "128 × 128,", "tc", 13.5, "middle", True)
    d.text(cx + 62, cy + 119, "8 × 8 a thread", "tc", 13, "middle", True)
    d.text(24, 340, "Pale: done. One fetched element of A", size=14)
    d.text(24, 358, "serves 128 columns of C.", size=14)
    if narrow:
        d.at(0, 0)
        d.line(f"M16 374H{NARROW - 16}")
        d.at(-352, 372)
    else:
        d.line("M336 16V356")
    left, wide = 372, 118 if narrow else 138
    d.text(left, 34, "every k tile:", size=16, bold=True)
    for top, high, kind, words, notes in (
        (52, 44, "a", "fetch", ("each element of the", "tiles by one thread") if narrow else ("each element of both tiles by one", "thread, zero outside")),
        (108, 30, "panel", "__syncthreads()", ("now the tiles are complete",)),
        (150, 44, "c", "multiply", ("each element read by 16", "threads, 8 × 8 products") if narrow else ("each element read by 16 threads,", "8 × 8 products from 8 + 8 values")),
        (206, 30, "panel", "__syncthreads()", ("nobody reads them any more",)),
    ):
        d.box(left, top, wide, high, kind, words, 13)
        for i, note in enumerate(notes):
            d.text(left + wide + 12, top + high / 2 + 4 + (18 * i - 9 * (len(notes) - 1)), note, size=13.5)
    d.line(f"M{left} 221H{left - 14}V74H{left - 3}", "ink", arrow=True)
    lines = ("Without the first barrier a thread reads", "what is not there yet; without the second it", "overwrites what another thread still reads.") if narrow else (
        "Without the first barrier a thread reads what is not there", "yet; without the second it overwrites what another", "thread still reads.")
    for i, words in enumerate(lines):
        d.text(left - (12 if narrow else 0), 272 + 18 * i, words, size=14 if narrow else 13)
    return d.svg()
