"""Lab 5: which elements of an mma.m16n8k16 lane 5 holds, and a swizzled tile for ldmatrix."""

from svg import NARROW, Drawing

LANE = 5


def draw(narrow=False):
    g, t = LANE // 4, LANE % 4
    d = Drawing("lab5-fragment", *((NARROW, 760) if narrow else (760, 388)), "The fragments of mma.sync, and a swizzled tile",
                f"In an mma m16n8k16 lane {LANE} holds four pairs of A, two of B and two of C. Without a swizzle chunk 2 of eight rows lies in 4 of 32 "
                "banks, with one in all of them.")
    u = 9.6
    ax, ay, cx = 34, 196, 210
    d.at(-14 if narrow else 0, 0)
    d.text(34, 34, "an mma m16n8k16:", size=14.5, bold=True)
    d.text(34, 54, f"what lane {LANE} holds", size=14.5, bold=True)
    d.text(34, 78, f"g = {LANE} / 4 = {g}", size=14)
    d.text(34, 98, f"t = {LANE} % 4 = {t}", size=14)
    by = ay - 16 * u - 14
    for x, y, columns, rows in ((ax, ay, 16, 16), (cx, by, 8, 16), (cx, ay, 8, 16)):
        d.grid(x, y, columns, rows, u, "plain")
        d.rect(x, y, columns * u, rows * u, "frame", 1.5)
        d.line(f"M{x} {y + 8 * u}h{columns * u}", "muted", 1.5)
        if columns == 16:
            d.line(f"M{x + 8 * u} {y}v{16 * u}", "muted", 1.5)
    for i, (row, col) in enumerate(((g, 2 * t), (g + 8, 2 * t), (g, 2 * t + 8), (g + 8, 2 * t + 8))):
        d.rect(ax + col * u, ay + row * u, 2 * u, u, "a", 1.5)
        d.text(ax + (col // 8 * 8 + 4) * u, ay + (row // 8 * 8 + 6) * u, f"a[{i}]", "ta", 14, "middle", True)
    for i in range(2):
        d.rect(cx + g * u, by + (2 * t + 8 * i) * u, u, 2 * u, "b", 1.5)
        d.text(cx + 5 * u, by + (8 * i + 6.5) * u, f"b[{i}]", "tb", 14, "middle", True)
        d.rect(cx + 2 * t * u, ay + (g + 8 * i) * u, 2 * u, u, "c", 1.5)
        d.text(cx + 4 * u, ay + (8 * i + 6) * u, f"d[{2 * i}] d[{2 * i + 1}]", "tc", 12.5, "middle", True)
    d.text(ax + 8 * u, ay + 16 * u + 20, "A: 16 × 16", "ta", 14, "middle", True)
    d.text(cx + 4 * u, ay + 16 * u + 20, "C: 16 × 8", "tc", 14, "middle", True)
    d.text(cx + 8 * u + 8, by + 14, "B: 16 × 8", "tb", 14, bold=True)
    if narrow:
        d.at(0, 0)
        d.line(f"M16 382H{NARROW - 16}")
        d.at(-398, 376)
    else:
        d.line("M386 16V372")
    d.text(406, 34, "a tile's rows, 8 chunks of 16 bytes each", size=14.5, bold=True)
    for x, head, place, result, cost, good in ((406, "without a swizzle", lambda r, c: c, "4 of 32 banks", "8 wavefronts", False),
                                         (586, "chunk c at c ^ r", lambda r, c: c ^ r, "32 of 32 banks", "1 wavefront", True)):
        d.text(x, 64, head, size=14, bold=True)
        for r in range(8):
            for c in range(8):
                chunk = place(r, c)  # its own inverse
                d.rect(x + 19.5 * c, 76 + 24 * r, 19.5, 24, "plain")
                if chunk != 2:
                    d.text(x + 19.5 * (c + .5), 92 + 24 * r, chunk, "tmuted", 13, "middle")
        for r in range(8):
            d.rect(x + 19.5 * place(r, 2), 76 + 24 * r, 19.5, 24, "a", 1.5)
            d.text(x + 19.5 * (place(r, 2) + .5), 92 + 24 * r, 2, "", 13, "middle", True)
        d.text(x, 289, "chunk 2 of eight rows:", size=13.5)
        d.text(x, 308, f"{result}:", size=13.5)
        d.text(x, 327, cost, "tc" if good else "tbad", 13.5, bold=True)
    d.text(406, 356, "ldmatrix reads eight rows of 16 bytes at once,", size=13.5)
    d.text(406, 375, "one chunk from each row.", size=13.5)
    return d.svg()
