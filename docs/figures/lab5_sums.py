"""Lab 5.4: which of the 64 x 256 sums of a warpgroup a lane of it holds."""

from svg import NARROW, Drawing

WARP, LANE, BLOCK = 1, 5, 2  # whose sums, and in which block of eight columns


def draw(narrow=False):
    g, t = LANE // 4, LANE % 4
    d = Drawing("lab5-sums", *((NARROW, 516) if narrow else (760, 268)), "The sums of a warpgroup",
                f"Each of four warps has 16 of the 64 rows. Its part is 32 blocks of eight columns, and in each block a lane holds four sums: lane {LANE} has rows "
                f"{g} and {g + 8}, columns {2 * t} and {2 * t + 1}.")
    left = 12 if narrow else 24
    d.text(left, 28, "64 × 256 by four warps", size=15, bold=True)
    width, high = (NARROW - 24, 36) if narrow else (420, 44)
    y = 40
    for warp in range(4):
        top = y + warp * high
        d.rect(left, top, width, high, "plain")
        d.text(left + width - 8, top + high / 2 + 5, f"warp {warp}: rows {16 * warp} to {16 * warp + 15}", "tc" if warp == WARP else "tmuted", 13, "end", warp == WARP)
    step = width / 32
    top = y + WARP * high
    for j in range(9):
        d.rect(left + j * step, top, step, high, "c" if j == BLOCK else "cell")
    d.text(left, y + 4 * high + 20, "a warp’s part: 32 blocks of 16 × 8", "tmuted", 13)
    x, by, u = (112, y + 4 * high + 62, 15) if narrow else (544, 50, 11.5)
    d.text(left + (BLOCK + .5) * step, top - 7, "block j", "tc", 13, "middle" if not narrow else "start", True)
    d.text(x, by - 12, f"block j: lane {LANE}", size=14, bold=True)
    d.grid(x, by, 8, 16, u, "plain")
    d.rect(x, by, 8 * u, 16 * u, "frame", 1.5)
    for half in range(2):
        d.rect(x + 2 * t * u, by + (g + 8 * half) * u, 2 * u, u, "c", 1.5)
        for i, words in enumerate((f"d[4j + {2 * half}]", f"d[4j + {2 * half + 1}]")):
            d.text(x + 8 * u + 10, by + (g + 8 * half) * u + (2 if i == 0 else 20), words, "tc", 13, bold=True)
    return d.svg()
