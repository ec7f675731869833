"""Lab 5.4: a ring of four places, who waits for whom, and the phases of the first place's two barriers."""

from svg import NARROW, Drawing

PLACES, COPY, ORDER = 4, 2.2, .15  # a product takes one unit of time; a copy's time and that of ordering it


def schedule(steps):
    """(begin, end) of each step's copy and of its product."""
    copies, products = [], []
    for t in range(steps):
        begin = products[t - PLACES][1] if t >= PLACES else ORDER * t
        copies.append((begin, begin + COPY))
        start = max(copies[t][1], products[-1][1] if products else 0)
        products.append((start, start + 1))
    return copies, products


def draw(narrow=False):
    steps = 5 if narrow else 8
    copies, products = schedule(steps)
    d = Drawing("lab5-ring", *((NARROW, 478) if narrow else (760, 420)), "A ring of four places with two barriers each",
                "Copies of four steps are ordered at once. A step is multiplied when its place is full; the copy of the step four later begins when its place "
                "is empty. Below: the phases of place 0's barriers and their parities.")
    left, right, x0, unit = (12, NARROW - 8, 64, 39) if narrow else (24, 740, 104, 68)

    def span(begin, end):
        return x0 + begin * unit, min(end, (right - x0) / unit) * unit - begin * unit

    d.text(left, 28, "copies and products" if narrow else "one thread requests copies, eight warps multiply", size=15, bold=True)
    y = 44
    for place in range(PLACES):
        d.text(left, y + 34 * place + 19, f"place {place}", "tmuted", 13)
    d.text(left, y + 34 * PLACES + 19, "warps", "tmuted", 13)
    for t in range(steps):
        row = y + 34 * (t % PLACES)
        begin, width = span(*copies[t])
        if width > 20:
            d.box(begin, row, width - 2, 28, "a", f"copy {t}" if width > 50 else t, 13)
        begin, width = span(*products[t])
        if width > 20:
            d.box(begin, y + 34 * PLACES, width - 2, 28, "c", f"× {t}", 13)
            d.rect(begin, row, width - 2, 28, "cell", dash="4 3", radius=5)
            if width > 45:
                d.text(begin + width / 2, row + 18, "in use", "tmuted", 12.5, "middle")
    begin, width = span(0, COPY)
    d.rect(begin, y + 34 * PLACES, width - 2, 28, "cell", dash="4 3")
    d.text(begin + width / 2, y + 34 * PLACES + 18, "wait once", "tmuted", 12.5, "middle")

    y += 34 * PLACES + 46
    d.line(f"M{left} {y}H{right}")
    d.text(left, y + 26, "place 0: phases of its barriers", size=15, bold=True)
    end = (right - x0) / unit
    for row, (name, turns) in enumerate((("full", [copies[t][1] for t in (0, 4)]), ("empty", [products[t][1] for t in range(0, steps, 4)]))):
        top = y + 42 + 38 * row
        d.text(left, top + 19, name, "tmuted", 13)
        begins = [0, *turns]
        for phase, begin in enumerate(begins):
            stop = begins[phase + 1] if phase + 1 < len(begins) else end
            x, width = span(begin, stop)
            if width > 24:
                words = (f"phase {phase}, parity {phase % 2}", f"parity {phase % 2}", f"{phase % 2}")
                d.box(x, top, width - 2, 28, "b" if phase % 2 else "plain", words[0 if width > 130 else 1 if width > 62 else 2], 12.5, False)
    notes = (("× t begins when the full phase with its", "parity has ended: 0 for t = 0, 1 for t = 4.", "Copy t begins when the empty phase with the",
              "other parity has ended: 0 for t = 4.", "Copies 0 to 3 wait for parity 1, which counts", "as ended on a new barrier.") if narrow else
             ("× t begins when the full phase with its parity has ended: parity 0 for t = 0, parity 1 for t = 4.",
              "Copy t begins when the empty phase with the other parity has ended: for t = 4 that is parity 0, after × 0.",
              "Copies 0 to 3 wait for parity 1. On a new barrier that phase counts as ended, so they begin at once."))
    for i, words in enumerate(notes):
        d.text(left, y + 138 + 19 * i, words, size=13)
    return d.svg()
