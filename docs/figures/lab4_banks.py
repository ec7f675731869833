"""Lab 4: one column of a tile in the 32 banks: row by row, padded, swizzled."""

from svg import Drawing

K = 5


def draw():
    d = Drawing("lab4-banks", 760, 320, "One column of a tile in the 32 banks",
                "Eight words of one column: row by row they all lie in bank 5 and take eight wavefronts; with one word of padding, or permuted "
                "by exclusive or, they lie in eight banks and take one.")
    layouts = (("Row by row", "place = 32 r + k", lambda r, k: 32 * r + k), ("One word of padding", "place = 33 r + k", lambda r, k: 33 * r + k),
               ("Swizzle", "place = 32 r + (k ^ r)", lambda r, k: 32 * r + (k ^ r)))
    cell, tall = 6.5, 15
    for i, (head, formula, place) in enumerate(layouts):
        x, y = 40 + 245 * i, 74
        d.text(x, 28, head, size=16, bold=True)
        d.text(x, 50, formula, size=13)
        d.rect(x, y, 32 * cell, 8 * tall, "panel")
        for bank in range(4, 32, 4):
            d.line(f"M{x + bank * cell} {y}v{8 * tall}")
        banks = [place(r, K) % 32 for r in range(8)]
        for r in range(8):
            d.rect(x + place(r, 0) % 32 * cell, y + r * tall + 1, cell, tall - 2, "cell")
            d.rect(x + banks[r] * cell, y + r * tall + 1, cell, tall - 2, "a", 1.5)
            if i == 0:
                d.text(x - 5, y + r * tall + 12, f"r={r}", "tmuted", 11.5, "end")
        for bank in (0, 8, 16, 24, 31):
            d.text(x + (bank + .5) * cell, y + 8 * tall + 16, bank, "tmuted", 11.5, "middle")
        d.text(x + 16 * cell, y + 8 * tall + 32, "bank", "tmuted", 11.5, "middle")
        worst = max(banks.count(b) for b in banks)
        d.text(x, 250, f"8 words in {'bank ' + str(banks[0]) if worst == 8 else str(len(set(banks))) + ' banks'}:", size=13.5)
        d.text(x, 270, f"{worst} wavefront{'s' if worst > 1 else ''}", "tbad" if worst > 1 else "tc", 13.5, bold=True)
    d.text(40, 302, f"Grey: k = 0 of each row. Blue: k = {K} of A's tile, which the lanes 0, 4, 8 ... 28 of a warp read at once.", size=13)
    return d.svg()
