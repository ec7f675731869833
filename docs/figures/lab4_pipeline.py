"""Lab 4: time of a block with and without copies in flight."""

from svg import Drawing


def draw():
    d = Drawing("lab4-pipeline", 760, 350, "Copies in flight while tiles are multiplied",
                "Without cp.async a block fetches, waits, multiplies and fetches again. With three stages the copies of the next two k tiles are on "
                "their way while one is multiplied, and only the first is waited for.")
    d.text(24, 32, "one pair of tiles: the block fetches, or it multiplies", size=15, bold=True)
    unit, x0 = 62, 110
    d.text(24, 66, "memory", "tmuted", 13)
    d.text(24, 98, "arithmetic", "tmuted", 13)
    for t in range(3):
        x = x0 + t * 3.1 * unit
        d.box(x, 48, 1.9 * unit, 26, "a", f"fetch {t}", 12.5)
        d.rect(x, 80, 1.9 * unit, 26, "cell", dash="4 3")
        d.text(x + .95 * unit, 97, "waits", "tmuted", 12, "middle")
        d.box(x + 1.95 * unit, 80, 1.1 * unit, 26, "c", f"multiply {t}", 11.5)
    d.line("M24 128H736")
    d.text(24, 156, "three pairs in turn: copies of t + 1 and t + 2 under way while t is multiplied", size=15, bold=True)
    for s in range(3):
        d.text(24, 190 + 32 * s, f"stage {s}", "tmuted", 13)
    d.text(24, 286, "arithmetic", "tmuted", 13)
    begin = 1.95
    for t in range(7):
        start = 0 if t == 0 else .12 if t == 1 else begin + 1.15 * (t - 2)
        if x0 + (start + 1.9) * unit > 738:
            continue
        d.box(x0 + start * unit, 172 + 32 * (t % 3), 1.9 * unit, 26, "a", f"copy {t}", 12.5)
    d.rect(x0, 268, begin * unit - 3, 26, "cell", dash="4 3")
    d.text(x0 + .95 * unit, 285, "waits once", "tmuted", 12, "middle")
    for t in range(7):
        d.box(x0 + (begin + 1.15 * t) * unit, 268, 1.1 * unit, 26, "c", f"multiply {t}", 11.5)
    d.text(24, 330, "Before each multiply: wait for copy t, one barrier, start copy t + 2 into the stage that t − 1 has left.", size=13)
    return d.svg()
