"""Lab 4: C, the tile of a block, the tile of a warp, the tile of a lane."""

from svg import NARROW, Drawing


def draw(narrow=False):
    d = Drawing("lab4-warp-tiles", *((NARROW, 632) if narrow else (760, 344)), "From C to a block, a warp and a lane",
                "C is cut into tiles of 128 by 256 for a block, these into 64 by 64 for each of eight warps, these into 8 by 16 for each of 32 lanes.")
    top = 66
    steps = ((24, "C", 5, 7, 33, 16.5, "one tile per block"), (216, "block: 128 × 256", 4, 2, 42, 42, "8 warps"),
             (408, "warp: 64 × 64", 4, 8, 38, 19, "8 × 4 lanes"), (584, "lane: 8 × 16", 16, 8, 9.5, 9.5, "128 registers"))
    chosen = ((3, 2), (1, 1), (2, 5), None)
    for i, (x, head, columns, rows, wide, tall, foot) in enumerate(steps):
        if narrow:
            d.at(-16 - (i // 2) * 384, (i // 2) * 220)
            x -= (i % 2) * 22 if i < 2 else 0
        d.text(x, 34, head, "tc" if i == 0 else "", 15, bold=True)
        d.text(x, 52, foot, "tmuted", 13.5)
        for r in range(rows):
            for c in range(columns):
                d.rect(x + c * wide, top + r * tall, wide, tall, "c" if i == 3 else "plain")
        if chosen[i]:
            c, r = chosen[i]
            d.rect(x + c * wide, top + r * tall, wide, tall, "c", 2)
            if narrow and i == 1:  # the next panel stands below
                continue
            right, next_x, next_high = x + (c + 1) * wide, steps[i + 1][0] - (22 if narrow and i == 0 else 0), steps[i + 1][3] * steps[i + 1][5]
            d.line(f"M{right} {top + r * tall}L{next_x} {top}M{right} {top + (r + 1) * tall}L{next_x} {top + next_high}", "muted", dash="4 3")
    d.at(0, 0)
    y, left, table = (470, 12, 12) if narrow else (258, 24, 350)
    for i, words in enumerate(("fetched into shared memory once per block,", "read from there once per warp,", "kept in registers by each lane")):
        d.text(left, y + 18 * i, words, size=13.5 if narrow else 13)
    if narrow:
        y += 72
    d.text(table, y, "per k, elements for multiply-adds:", size=13.5, bold=True)
    for i, (who, loads, fmas) in enumerate((("block", "128 + 256 = 384", "32 768"), ("warp", "64 + 64 = 128", "4 096"), ("lane", "8 + 16 = 24", "128"))):
        for x, words in ((0, who), (54, loads), (190, "for " + fmas)):
            d.text(table + x, y + 22 + 20 * i, words, size=13.5)
    return d.svg()
