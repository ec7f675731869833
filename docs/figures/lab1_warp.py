"""Lab 1: what a warp touches along a row of C, and down a column."""

from svg import NARROW, Drawing, letters, matrices


def draw(narrow=False):
    d = Drawing("lab1-warp", *((NARROW, 668) if narrow else (760, 338)), "A warp along a row and a warp down a column of C",
                "Along a row the 32 threads of a warp need one element of A and four sectors of B and of C. Down a column they need 32 sectors "
                "of A, one of B and 32 of C.")
    for x, head, sectors in ((15, "along a row: x counts columns", (1, 4, 4)), (395, "down a column: x counts rows", (32, 1, 32))):
        if narrow:
            d.at(*((-10, 0) if sectors[0] == 1 else (-390, 300)))
        d.text(x + 170, 28, head, size=16, anchor="middle", bold=True)
        corners = matrices(d, x, 48, 108)
        (ax, ay), (bx, by), (cx, cy) = corners["A"], corners["B"], corners["C"]
        if sectors[0] == 1:
            d.rect(ax, ay + 48, 108, 8, "cell")
            d.rect(ax + 60, ay + 48, 8, 8, "a")
            d.rect(bx + 32, by + 60, 64, 8, "b")
            d.rect(cx + 32, cy + 48, 64, 8, "c")
            d.line(f"M{cx + 32} {cy + 66}H{cx + 94}", "ink", arrow=True)
        else:
            d.rect(bx + 64, by, 8, 108, "cell")
            d.rect(ax + 60, ay + 26, 8, 64, "a")
            d.rect(bx + 64, by + 60, 8, 8, "b")
            d.rect(cx + 64, cy + 26, 8, 64, "c")
            d.line(f"M{cx + 82} {cy + 26}V{cy + 88}", "ink", arrow=True)
        letters(d, corners)
        for i, letter in enumerate("ABC"):
            d.text(cx + (116 if narrow else 118), cy + 28 + 26 * i, f"{letter}: {sectors[i]} sector{'s' if sectors[i] > 1 else ''}", "t" + letter.lower(), 14, bold=True)
    if narrow:
        d.at(0, 0)
        d.line(f"M16 304H{NARROW - 16}")
        for i, words in enumerate(("What one warp of 32 threads touches, in float,", "in one step of k (A, B) and in its store (C).", "A sector is 32 bytes.")):
            d.text(15, 616 + 19 * i, words, size=13.5)
    else:
        d.line("M380 16V304")
        d.text(380, 325, "What one warp of 32 threads touches in one step of k (A, B) and in its store (C), in float: a sector is 32 bytes", size=13, anchor="middle")
    return d.svg()
