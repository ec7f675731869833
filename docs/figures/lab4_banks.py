"""Lab 4: one column of a tile in the 32 banks: row by row, padded, swizzled."""

from svg import NARROW, Drawing

K = 5


def draw(narrow=False):
    d = Drawing("lab4-banks", *((NARROW, 800) if narrow else (760, 320)), "One column of a tile in the 32 banks",
                "Eight words of one column: row by row they all lie in bank 5 and take eight wavefronts; with one word of padding, or permuted "
                "by exclusive or, they lie in eight banks and take one.")
    layouts = (("Row by row", "place = 32 r + k", lambda r, k: 32 * r + k), ("One word of padding", "place = 33 r + k", lambda r, k: 33 * r + k),
               ("Swizzle", "place = 32 r + (k ^ r)", lambda r, k: 32 * r + (k ^ r)))
    cell, tall = 9 if narrow else 6.5, 15
    for i, (head, formula, place) in enumerate(layouts):
        d.at(*((10, 244 * i) if narrow else (245 * i, 0)))
        x, y = 40, 74 if not narrow else 50
        d.text(x - (30 if narrow else 0), 28, head, size=15 if narrow else 16, bold=True)
        d.text(*((328, 28) if narrow else (x, 50)), formula, size=13.5, anchor="end" if narrow else "start")
        d.rect(x, y, 32 * cell, 8 * tall, "panel")
        for bank in range(4, 32, 4):
            d.line(f"M{x + bank * cell} {y}v{8 * tall}")
        banks = [place(r, K) % 32 for r in range(8)]
        for r in range(8):
            d.rect(x + place(r, 0) % 32 * cell, y + r * tall + 1, cell, tall - 2, "cell")
            d.rect(x + banks[r] * cell, y + r * tall + 1, cell, tall - 2, "a", 1.5)
            if i == 0 or narrow:
                d.text(x - 5, y + r * tall + 12, f"r={r}", "tmuted", 12.5, "end")
        for bank in (0, 8, 16, 24, 31):
            d.text(x + (bank + .5) * cell, y + 8 * tall + 16, bank, "tmuted", 12.5, "middle")
        d.text(x + 16 * cell, y + 8 * tall + 32, "bank", "tmuted", 12.5, "middle")
        worst = max(banks.count(b) for b in banks)
        foot = y + 8 * tall + 56
        words, cost = f"8 words in {'bank ' + str(banks[0]) if worst == 8 else str(len(set(banks))) + ' banks'}:", f"{worst} wavefront{'s' if worst > 1 else ''}"
        d.text(x, foot, words, size=14)
        d.text(*((x + 150, foot) if narrow else (x, foot + 20)), cost, "tbad" if worst > 1 else "tc", 14, bold=True)
    d.at(0, 0)
    note = f"Grey: k = 0 of each row. Blue: k = {K} of A's tile, which the lanes 0, 4, 8 ... 28 of a warp read at once."
    if narrow:
        d.line(f"M16 740H{NARROW - 16}")
        d.text(16, 762, f"Grey: k = 0 of each row. Blue: k = {K} of A's tile,", size=13.5)
        d.text(16, 781, "which lanes 0, 4, 8 ... 28 of a warp read at once.", size=13.5)
    else:
        d.text(40, 302, note, size=13)
    return d.svg()
