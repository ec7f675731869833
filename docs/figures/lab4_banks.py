"""Lab 4: one column of a tile in the 32 banks: row by row, padded, swizzled."""

from svg import NARROW, Drawing

K = 5
ROWS, READ = 8, 4  # rows that are drawn, and those read at once: not as many as in 4.1, which asks for that number


def draw(narrow=False):
    d = Drawing("lab4-banks", *((NARROW, 800) if narrow else (760, 320)), "One column of a tile in the 32 banks",
                "Four words of one column: row by row they all lie in bank 5 and take four wavefronts; with one word of padding, or permuted "
                "by exclusive or, they lie in four banks and take one.")
    layouts = (("Row by row", "place = 32 r + k", lambda r, k: 32 * r + k), ("One word of padding", "place = 33 r + k", lambda r, k: 33 * r + k),
               ("Swizzle", "place = 32 r + (k ^ r)", lambda r, k: 32 * r + (k ^ r)))
    cell, tall = 9 if narrow else 6.5, 15
    for i, (head, formula, place) in enumerate(layouts):
        d.at(*((10, 244 * i) if narrow else (245 * i, 0)))
        x, y = 40, 74 if not narrow else 50
        d.text(x - (30 if narrow else 0), 28, head, size=15 if narrow else 16, bold=True)
        d.text(*((328, 28) if narrow else (x, 50)), formula, size=13.5, anchor="end" if narrow else "start")
        d.rect(x, y, 32 * cell, ROWS * tall, "panel")
        for bank in range(4, 32, 4):
            d.line(f"M{x + bank * cell} {y}v{ROWS * tall}")
        banks = [place(r, K) % 32 for r in range(READ)]
        for r in range(ROWS):
            d.rect(x + place(r, 0) % 32 * cell, y + r * tall + 1, cell, tall - 2, "cell")
            if r < READ:
                d.rect(x + banks[r] * cell, y + r * tall + 1, cell, tall - 2, "a", 1.5)
            if i == 0 or narrow:
                d.text(x - 5, y + r * tall + 12, f"r={r}", "tmuted", 12.5, "end")
        for bank in (0, 8, 16, 24, 31):
            d.text(x + (bank + .5) * cell, y + ROWS * tall + 16, bank, "tmuted", 12.5, "middle")
        d.text(x + 16 * cell, y + ROWS * tall + 32, "bank", "tmuted", 12.5, "middle")
        worst = max(banks.count(b) for b in banks)
        foot = y + ROWS * tall + 56
        words, cost = f"{READ} words in {'bank ' + str(banks[0]) if worst == READ else str(len(set(banks))) + ' banks'}:", f"{worst} wavefront{'s' if worst > 1 else ''}"
        d.text(x, foot, words, size=14)
        d.text(*((x + 150, foot) if narrow else (x, foot + 20)), cost, "tbad" if worst > 1 else "tc", 14, bold=True)
    d.at(0, 0)
    note = f"Grey: k = 0 of each row. Blue: k = {K} of {READ} rows, if a warp reads them at once."
    if narrow:
        d.line(f"M16 740H{NARROW - 16}")
        d.text(16, 762, f"Grey: k = 0 of each row. Blue: k = {K} of {READ} rows,", size=13.5)
        d.text(16, 781, "if a warp reads them at once.", size=13.5)
    else:
        d.text(40, 302, note, size=13)
    return d.svg()
