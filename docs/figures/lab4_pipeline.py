"""Lab 4: time of a block with and without copies in flight."""

from svg import NARROW, Drawing


def draw(narrow=False):
    d = Drawing("lab4-pipeline", *((NARROW, 430) if narrow else (760, 350)), "Copies in flight while tiles are multiplied",
                "Without cp.async a block fetches, waits, multiplies and fetches again. With three stages the copies of the next two k tiles are on "
                "their way while one is multiplied, and only the first is waited for.")
    left, right = (12, NARROW - 12) if narrow else (24, 736)
    unit, x0 = (40, 82) if narrow else (62, 110)

    def head(y, *lines):
        for i, words in enumerate(lines):
            d.text(left, y + 20 * i, words, size=15, bold=True)

    head(*((28, "one pair of tiles:", "the block fetches, or it multiplies") if narrow else (32, "one pair of tiles: the block fetches, or it multiplies")))
    y = 62 if narrow else 48
    d.text(left, y + 18, "memory", "tmuted", 13)
    d.text(left, y + 50, "arithmetic", "tmuted", 13)
    for t in range(2 if narrow else 3):
        x = x0 + t * 3.1 * unit
        d.box(x, y, 1.9 * unit, 26, "a", f"fetch {t}", 13)
        d.rect(x, y + 32, 1.9 * unit, 26, "cell", dash="4 3")
        d.text(x + .95 * unit, y + 49, "waits", "tmuted", 13, "middle")
        d.box(x + 1.95 * unit, y + 32, 1.1 * unit, 26, "c", f"× {t}", 13)
    y += 80
    d.line(f"M{left} {y}H{right}")
    head(y + 28, *(("three pairs in turn: copies of t + 1 and", "t + 2 in flight while t is multiplied") if narrow else (
        "three pairs in turn: copies of t + 1 and t + 2 in flight while t is multiplied",)))
    y += 62 if narrow else 44
    for s in range(3):
        d.text(left, y + 18 + 32 * s, f"stage {s}", "tmuted", 13)
    d.text(left, y + 114, "arithmetic", "tmuted", 13)
    begin = 1.95
    for t in range(7):
        start = 0 if t == 0 else .12 if t == 1 else begin + 1.15 * (t - 2)
        if x0 + (start + 1.9) * unit <= right + 2:
            d.box(x0 + start * unit, y + 32 * (t % 3), 1.9 * unit, 26, "a", f"copy {t}", 13)
    d.rect(x0, y + 96, begin * unit - 3, 26, "cell", dash="4 3")
    d.text(x0 + .95 * unit, y + 113, "waits once", "tmuted", 12.5, "middle")
    for t in range(7):
        if x0 + (begin + 1.15 * t + 1.1) * unit <= right + 2:
            d.box(x0 + (begin + 1.15 * t) * unit, y + 96, 1.1 * unit, 26, "c", f"× {t}", 13)
    lines = ("Before each multiplication (×): wait for", "copy t, one barrier, start copy t + 2 into", "the stage that t − 1 has left.") if narrow else (
        "Before each multiplication (×): wait for copy t, one barrier, start copy t + 2 into the stage that t − 1 has left.",)
    for i, words in enumerate(lines):
        d.text(left, y + (150 if narrow else 158) + 19 * i, words, size=14 if narrow else 13)
    return d.svg()
