"""Lab 2: an outer product in registers, and whose columns are whose."""

from svg import Drawing


def draw():
    d = Drawing("lab2-tile", 760, 360, "A tile of C in the registers of one thread, and who owns which column",
                "In one step of k a thread loads 8 elements of A and 4 of B and forms 32 products. With neighbouring columns the loads of a warp "
                "are four elements apart, with interleaved columns they are neighbours.")
    unit, x, y = 20, 150, 122
    d.text(160, 30, "one thread, one step of k", size=16, anchor="middle", bold=True)
    d.grid(x - 44, y, 1, 8, unit, "a")
    d.grid(x, y - 44, 4, 1, unit, "b")
    d.grid(x, y, 4, 8, unit, "c")
    d.rect(x - 44, y + 3 * unit, unit, unit, "a", 2.5)
    d.rect(x + 2 * unit, y - 44, unit, unit, "b", 2.5)
    d.rect(x + 2 * unit, y + 3 * unit, unit, unit, "c", 2.5)
    d.line(f"M{x - 22} {y + 3.5 * unit}H{x + 2 * unit - 3}", "ink", 1.5, arrow=True)
    d.line(f"M{x + 2.5 * unit} {y - 22}V{y + 3 * unit - 3}", "ink", 1.5, arrow=True)
    d.text(x - 34, y + 8 * unit + 20, "a_k: 8 loads", "ta", 13, "middle", True)
    d.text(x + 2 * unit, y - 54, "b_k: 4 loads", "tb", 13, "middle", True)
    d.text(x + 2 * unit + 12, y + 8 * unit + 40, "acc: 32 multiply-adds", "tc", 13, "middle", True)
    d.text(160, 344, "12 loads for 32 products; lab 1: 64", size=13, anchor="middle")
    d.line("M310 16V344")
    d.text(535, 30, "whose columns? (four threads, TN = 4)", size=16, anchor="middle", bold=True)
    cell = 25
    for top, words, step, note in ((76, "neighbouring columns: STEP = 1", 1, "load of b_k[0]: stride 4, 16 threads touch 8 sectors"),
                                   (208, "interleaved columns: STEP = number of threads", 4, "load of b_k[0]: side by side, 16 threads touch 2 sectors")):
        d.text(335, top - 12, words)
        for c in range(16):
            thread = c // 4 if step == 1 else c % 4
            first = c % 4 == 0 if step == 1 else c < 4
            d.rect(335 + c * cell, top, cell, 34, "b" if first else "plain", 2 if first else 1)
            d.text(335 + (c + .5) * cell, top + 22, thread, "" if first else "tmuted", 13, "middle", first)
            if first:
                d.line(f"M{335 + (c + .5) * cell} {top + 56}V{top + 38}", "ink", arrow=True)
        d.text(335, top + 78, note, size=13)
    d.text(335, 330, "Numbers: the column's thread. Orange: loaded by one instruction.", "tmuted", 12)
    return d.svg()
