"""Lab 1: one thread for each element of C, and where a thread stands in the grid."""

from svg import NARROW, Drawing, letters, matrices


def draw(narrow=False):
    d = Drawing("lab1-thread", *((NARROW, 744) if narrow else (760, 332)), "One thread for each element of C",
                "The thread of element (row, col) walks along a row of A and down a column of B. The grid of blocks covers C; where it is "
                "larger than C, threads have no element.")
    d.at(30 if narrow else 0, 0)
    d.text(150, 28, "what one thread reads", size=16, anchor="middle", bold=True)
    corners = matrices(d, 20, 46, 116)
    (ax, ay), (bx, by), (cx, cy) = corners["A"], corners["B"], corners["C"]
    d.rect(ax, ay + 52, 116, 10, "a")
    d.rect(bx + 68, by, 10, 116, "b")
    d.rect(cx + 68, cy + 52, 10, 10, "c", 1.5)
    d.line(f"M{ax + 6} {ay + 72}H{ax + 110}", "ink", arrow=True)
    d.text(ax + 58, ay + 88, "k", size=14, anchor="middle")
    d.line(f"M{bx + 88} {by + 6}V{by + 110}", "ink", arrow=True)
    d.text(bx + 95, by + 62, "k", size=14)
    letters(d, corners)
    if narrow:
        d.at(0, 0)
        d.line(f"M16 324H{NARROW - 16}")
    else:
        d.line("M296 16V316")
    d.at(*((-300, 328) if narrow else (0, 0)))
    d.text(480 if narrow else 530, 28, "where it is", size=16, anchor="middle", bold=True)
    unit, x0, y0, cols, rows, block = (26 if narrow else 22), 324, 62, 10, 7, 4
    for r in range(8):
        for c in range(12):
            d.rect(x0 + c * unit, y0 + r * unit, unit, unit, "c" if r < rows and c < cols else "cell")
    for by_ in range(2):
        for bx_ in range(3):
            d.rect(x0 + bx_ * block * unit, y0 + by_ * block * unit, block * unit, block * unit, "outline", 2.5)
            d.text(x0 + (bx_ + .5) * block * unit, y0 - 8 if by_ == 0 else y0 + 8 * unit + 18, f"block ({bx_}, {by_})", size=13.5, anchor="middle")
    d.rect(x0 + 6 * unit, y0 + 5 * unit, unit, unit, "mark", 2)
    side, beside = (x0, y0 + 8 * unit + 34) if narrow else (x0 + 12 * unit + 16, y0)
    d.text(side, beside + 14, "thread (2, 1)" + (" of block (1, 1):" if narrow else ""), "tmark", 14, bold=True)
    if not narrow:
        d.text(side, beside + 32, "of block (1, 1):", "tmark", 14, bold=True)
    line = beside + (36 if narrow else 56)
    for i, words in enumerate(("row = 1·4 + 1 = 5", "col = 1·4 + 2 = 6")):
        d.text(side + (160 * i if narrow else 0), line + (0 if narrow else 18 * i), words, size=14)
    if narrow:
        d.text(side, line + 24, "x counts columns, y counts rows.", size=14)
        d.text(side, line + 48, "C = 7 × 10 takes 2 × 3 blocks of 4 × 4.", size=14)
        d.text(side, line + 68, "Grey: beyond C. These touch no memory.", size=14)
    else:
        for i, words in enumerate(("grey: beyond C,", "no element:", "touch no memory")):
            d.text(side, line + 56 + 18 * i, words, size=14)
        d.text(324, 292, "C = 7 × 10 in blocks of 4 × 4 threads: 2 × 3 blocks, rounded up.", size=13)
        d.text(324, 312, "x counts columns, y counts rows.", size=13)
    return d.svg()
