"""Lab 2: an outer product in registers, and which thread owns which column."""

from svg import NARROW, Drawing


def draw(narrow=False):
    d = Drawing("lab2-tile", *((NARROW, 708) if narrow else (760, 360)), "A tile of C in the registers of one thread, and who owns which column",
                "In one step of k a thread loads 8 elements of A and 4 of B and forms 32 products. With neighbouring columns the loads of a warp "
                "are four elements apart, with interleaved columns they are neighbours.")
    unit, x, y = 20, 150, 122
    d.at(20 if narrow else 0, 0)
    d.text(160, 30, "one thread, one step of k", size=16, anchor="middle", bold=True)
    d.grid(x - 44, y, 1, 8, unit, "a")
    d.grid(x, y - 44, 4, 1, unit, "b")
    d.grid(x, y, 4, 8, unit, "c")
    d.rect(x - 44, y + 3 * unit, unit, unit, "a", 2.5)
    d.rect(x + 2 * unit, y - 44, unit, unit, "b", 2.5)
    d.rect(x + 2 * unit, y + 3 * unit, unit, unit, "c", 2.5)
    d.line(f"M{x - 22} {y + 3.5 * unit}H{x + 2 * unit - 3}", "ink", 1.5, arrow=True)
    d.line(f"M{x + 2.5 * unit} {y - 22}V{y + 3 * unit - 3}", "ink", 1.5, arrow=True)
    d.text(x - 34, y + 8 * unit + 20, "a_k: 8 loads", "ta", 14, "middle", True)
    d.text(x + 2 * unit, y - 54, "b_k: 4 loads", "tb", 14, "middle", True)
    d.text(x + 2 * unit + 12, y + 8 * unit + 40, "acc: 32 multiply-adds", "tc", 14, "middle", True)
    d.text(160, 344, "12 loads for 32 products; lab 1: 64", size=14, anchor="middle")
    if narrow:
        d.at(0, 0)
        d.line(f"M16 362H{NARROW - 16}")
        d.at(-322, 362)
        d.text(502, 30, "who owns which column (TN = 4)", size=16, anchor="middle", bold=True)
    else:
        d.line("M310 16V344")
        d.text(535, 30, "which thread owns which column (TN = 4)", size=16, anchor="middle", bold=True)
    cell = 20 if narrow else 25
    for top, words, step, note in ((76, "neighbouring columns: STEP = 1", 1, "load of b_k[0]: stride 4, 16 threads touch 8 sectors"),
                                   (208, "interleaved columns: STEP = number of threads", 4, "load of b_k[0]: side by side, 16 threads touch 2 sectors")):
        d.text(335, top - 12, words, size=14)
        for c in range(16):
            thread = c // 4 if step == 1 else c % 4
            first = c % 4 == 0 if step == 1 else c < 4
            d.rect(335 + c * cell, top, cell, 34, "b" if first else "plain", 2 if first else 1)
            d.text(335 + (c + .5) * cell, top + 22, thread, "" if first else "tmuted", 14, "middle", first)
            if first:
                d.line(f"M{335 + (c + .5) * cell} {top + 56}V{top + 38}", "ink", arrow=True)
        if narrow:
            note = note.replace("load of ", "")
        d.text(335, top + 78, note, size=13.5)
    if narrow:
        d.text(335, 314, "Numbers: the column's thread.", "tmuted", 13.5)
        d.text(335, 333, "Orange: loaded by one instruction.", "tmuted", 13.5)
    else:
        d.text(335, 330, "Numbers: the column's thread. Orange: loaded by one instruction.", "tmuted", 12.5)
    return d.svg()
