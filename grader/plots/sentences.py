"""What a sweep says: where the minimum of each curve lies, and what turns there. Two sentences per family of curves, from
the records alone. Standard library only."""

FLAT = 0.03  # differences below this fraction are not called differences

AXES = {"side": "side", "register tile": "TILE", "read-only loads": "TILE", "size": "n", "padding": "padding", "carve-out": "% shared",
        "packing": "packed", "repeated products": "products", "steps": "step", "layout": "layout", "stages": "stages", "tile shape": "tile"}


def axis(record):
    return AXES.get(record["experiment"], record["experiment"])


def place(record):
    """What stands for x: its label where x is no number of its own."""
    return record.get("label") or str(record["x"])


def shown(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def per_cent(ratio):
    """0.02 -> "2 %", 3.5 -> "350 %": a time as a fraction of another."""
    return f"{100 * ratio:.2g} %" if ratio < 0.1 else f"{100 * ratio:.0f} %"


def by_size(records):
    """[(n, its curve: records with a time, by x)]"""
    curves = {r["n"]: [] for r in sorted(records, key=lambda r: r["n"])}
    for record in sorted(records, key=lambda r: r["x"]):
        if record.get("ms"):
            curves[record["n"]].append(record)
    return list(curves.items())


def same(a, b):
    return a <= b * (1 + FLAT) and b <= a * (1 + FLAT)


def fastest(curve):
    return min(range(len(curve)), key=lambda i: curve[i]["ms"])


def spread(curve):
    """The range of the times as a fraction of the smallest."""
    times = [r["ms"] for r in curve]
    return max(times) / min(times) - 1


def changes(a, b, multiprocessors):
    """What differs between two records, as clauses, the strongest cause first: ["registers 40 -> 168"]."""
    found = []

    def clause(true, words, before, after, more=""):
        if true:
            found.append(f"{words} {before} -> {after}{more}")

    def both(key):
        return a.get(key, 0), b.get(key, 0)

    local, waves, blocks, occupancy, registers = map(both, ("local_bytes", "wavefronts", "blocks", "occupancy", "registers"))
    clause(local[0] != local[1], "local memory", *local, " bytes per thread")
    clause(min(waves) > 0 and waves[0] != waves[1], "wavefronts per shared request", *map(shown, waves))
    clause(a["experiment"] == "stages" and a["x"] != b["x"], "tiles on their way while one is multiplied", a["x"] - 1, b["x"] - 1)
    # Of larger tiles each element that is fetched is used more often. Occupancy and registers are the price, not the reason.
    if a["experiment"] == "tile shape" and min(blocks) > 0:
        clause(blocks[0] != blocks[1], "elements of C per block", a["n"] ** 2 // blocks[0], b["n"] ** 2 // blocks[1])
    lanes = [min(threads, 32) for threads in both("threads")]
    clause(lanes[0] != lanes[1], "lanes at work in a warp", *lanes)
    clause(blocks[0] != blocks[1] and min(blocks) < 2 * multiprocessors, "blocks", *blocks, f" for {multiprocessors} multiprocessors")
    clause(min(occupancy) > 0 and max(occupancy) > 1.1 * min(occupancy), "occupancy", *(shown(100 * one) for one in occupancy), " %")
    clause(abs(registers[0] - registers[1]) >= 8, "registers", *registers)
    return found[:4]


def all_changes(a, b, multiprocessors):
    if found := changes(a, b, multiprocessors):
        return "; ".join(found)
    if a.get("wavefronts", 0) > 0 and b.get("wavefronts", 0) > 0:
        return "registers, spills, occupancy and wavefronts are the same, so none of them is the reason"
    return "registers, spills and occupancy are the same, so it is how memory is accessed, which make explain counts"


def minimum_of(curve):
    """(template, its numbers) of one size; "{sizes}" stays open, for all sizes of which the same is said."""
    if len(curve) < 2:
        return "With n = {sizes} there are too few times for a minimum.", {}
    if spread(curve) <= FLAT:
        return "With n = {sizes} the curve is flat: all times lie within {percent} %.", {"percent": spread(curve)}
    best = first = last = fastest(curve)
    while first > 0 and same(curve[first - 1]["ms"], curve[best]["ms"]):
        first -= 1
    while last + 1 < len(curve) and same(curve[last + 1]["ms"], curve[best]["ms"]):
        last += 1
    where = f"{axis(curve[0])} {place(curve[first])}"
    if first != last:
        where += f" to {place(curve[last])}, too close to tell apart"
    elif not curve[first].get("label") and (first == 0 or last + 1 == len(curve)):  # a choice has no end; a number has
        where += ", the end of the sweep"
    return f"With n = {{sizes}} the minimum lies at {where}: {{ms}} ms at {{n}}.", {"ms": curve[best]["ms"]}


def minimum_sentence(records):
    """`records`: of one experiment, variant and type, all sizes."""
    said = {}
    for n, curve in by_size(records):
        template, numbers = minimum_of(curve)
        one = said.setdefault(template, {"sizes": [], "percent": 0})
        one["sizes"].append(str(n))
        one.update(n=n, ms=numbers.get("ms", 0), percent=max(one["percent"], numbers.get("percent", 0)))
    return " ".join(template.format(sizes=", ".join(one["sizes"]), percent=shown(100 * one["percent"]), ms=shown(one["ms"]), n=one["n"])
                    for template, one in said.items())


def turn_sentence(records, multiprocessors):
    """What changes on the way to the minimum and beyond it, at the largest size whose curve is not flat."""
    curves = [(n, curve) for n, curve in by_size(records) if len(curve) >= 2]
    bent = [(n, curve) for n, curve in curves if spread(curve) > FLAT]
    if not bent:
        return f"Nothing turns: no choice makes a difference of more than {shown(100 * FLAT)} %." if curves else ""
    n, curve = bent[-1]
    best = fastest(curve)

    def step(a, b, verb):
        return (f"At n = {n}, from {axis(a)} {place(a)} to {place(b)} {verb} {per_cent(b['ms'] / a['ms'])}: "
                f"{all_changes(a, b, multiprocessors)}.")

    if curve[0].get("label"):
        a, b = max(curve, key=lambda r: r["ms"]), curve[best]
        return f"At n = {n} {place(b)} takes {per_cent(b['ms'] / a['ms'])} of the time of {place(a)}: {all_changes(a, b, multiprocessors)}."
    parts = []
    # What had to change from the slowest place before the minimum; then the step in which the time first leaves it for good.
    if best > 0:
        slowest = max(curve[:best], key=lambda r: r["ms"])
        if not same(slowest["ms"], curve[best]["ms"]):
            parts.append(step(slowest, curve[best], "the time falls to"))
    last = best
    while last + 1 < len(curve) and same(curve[last + 1]["ms"], curve[best]["ms"]):
        last += 1
    if last + 1 < len(curve):
        parts.append(step(curve[last], curve[last + 1], "it rises to"))
    return " ".join(parts)


def size_sentences(records, multiprocessors):
    """Which variant is the fastest from which n on, and what turns where another one takes over."""
    runs, crossing = [], None  # runs: [record, first n, last n]
    for n, curve in by_size(records):
        if not curve:
            continue
        best = curve[fastest(curve)]
        if runs:
            # Another variant takes over when it is faster by more than what is called flat.
            holders = [r for r in curve if r["variant"] == runs[-1][0]["variant"]]
            if holders and same(holders[-1]["ms"], best["ms"]):
                runs[-1][2] = n
                continue
            crossing = (holders[-1], best) if holders else None
        runs.append([best, n, n])
    if not runs:
        minimum = ""
    elif len(runs) == 1:
        minimum = f"{runs[0][0]['variant']} is the fastest at all sizes."
    else:
        minimum = "The fastest tile: " + "; ".join(
            f"{best['variant']} at n = {first}" if first == last else f"{best['variant']} from n = {first} to {last}" for best, first, last in runs) + "."
    if not crossing:
        return minimum, "One tile is the fastest throughout: nothing turns."
    a, b = crossing
    return minimum, f"At n = {a['n']}, {a['variant']} -> {b['variant']} ({per_cent(b['ms'] / a['ms'])} of the time): {all_changes(a, b, multiprocessors)}."


def families(records):
    """{(experiment, variant, math): records}, in the file's order; the variants of the experiment "size" are one family."""
    found = {}
    for record in records:
        variant = "" if record["experiment"] == "size" else record["variant"]
        found.setdefault((record["experiment"], variant, record["math"]), []).append(record)
    return found


def sentences(sweep):
    """[{experiment, variant, math, minimum, turn}]; families without any time have none."""
    processors = int(sweep["machine"]["multiprocessors"])
    said = []
    for (experiment, variant, math), records in families(sweep["records"]).items():
        if any(r.get("ms") for r in records):
            minimum, turn = (size_sentences(records, processors) if experiment == "size"
                             else (minimum_sentence(records), turn_sentence(records, processors)))
            said.append({"experiment": experiment, "variant": variant, "math": math, "minimum": minimum, "turn": turn})
    return said
