"""Lab 1: one thread for each element of C, and where a thread stands in the grid."""

from svg import Drawing, letters, matrices


def draw():
    d = Drawing("lab1-thread", 760, 332, "One thread for each element of C",
                "The thread of element (row, col) walks along a row of A and down a column of B. The grid of blocks covers C; where it is "
                "larger than C, threads have no element.")
    d.text(150, 28, "what one thread reads", size=16, anchor="middle", bold=True)
    corners = matrices(d, 20, 46, 116)
    (ax, ay), (bx, by), (cx, cy) = corners["A"], corners["B"], corners["C"]
    d.rect(ax, ay + 52, 116, 10, "a")
    d.rect(bx + 68, by, 10, 116, "b")
    d.rect(cx + 68, cy + 52, 10, 10, "c", 1.5)
    d.line(f"M{ax + 6} {ay + 72}H{ax + 110}", "ink", arrow=True)
    d.text(ax + 58, ay + 88, "k", size=13, anchor="middle")
    d.line(f"M{bx + 88} {by + 6}V{by + 110}", "ink", arrow=True)
    d.text(bx + 95, by + 62, "k", size=13)
    letters(d, corners)
    d.line("M296 16V316")
    d.text(530, 28, "where it stands", size=16, anchor="middle", bold=True)
    unit, x0, y0, cols, rows, block = 22, 324, 62, 10, 7, 4
    for r in range(8):
        for c in range(12):
            d.rect(x0 + c * unit, y0 + r * unit, unit, unit, "c" if r < rows and c < cols else "cell")
    for by_ in range(2):
        for bx_ in range(3):
            d.rect(x0 + bx_ * block * unit, y0 + by_ * block * unit, block * unit, block * unit, "ink", 2.5)
            d.text(x0 + (bx_ + .5) * block * unit, y0 - 8 if by_ == 0 else y0 + 8 * unit + 18, f"block ({bx_}, {by_})", size=12.5, anchor="middle")
    d.rect(x0 + 6 * unit, y0 + 5 * unit, unit, unit, "mark", 2)
    side = x0 + 12 * unit + 16
    d.text(side, y0 + 14, "thread (2, 1)", "tmark", 13, bold=True)
    d.text(side, y0 + 32, "of block (1, 1):", "tmark", 13, bold=True)
    d.text(side, y0 + 56, "row = 1·4 + 1 = 5", size=13)
    d.text(side, y0 + 74, "col = 1·4 + 2 = 6", size=13)
    d.text(side, y0 + 112, "grey: beyond C,", size=13)
    d.text(side, y0 + 130, "no element:", size=13)
    d.text(side, y0 + 148, "touch no memory", size=13)
    d.text(324, 292, "C = 7 × 10 in blocks of 4 × 4 threads: 2 × 3 blocks, rounded up.", size=12.5)
    d.text(324, 312, "x counts columns, y counts rows.", size=12.5)
    return d.svg().replace('class="ink" x=', 'class="ink" fill="none" x=')
