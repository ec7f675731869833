"""A sweep as tables for a terminal of 80 columns, each with its sentences below it. Standard library only."""

import textwrap

import sentences as S

COLUMNS, LABEL, CELL = 80, 16, 9


def cell(value):
    """Three digits that count; small and large times in one column."""
    if not value or value <= 0:
        return "-"
    return f"{value:.0f}" if value >= 1000 else f"{value:.5f}" if value < 0.01 else f"{value:.3g}"


def fit(words, width):
    return words if len(words) <= width else words[:width - 1] + "…"


def right(words, width):
    return words.rjust(width) if len(words) < width else " " + words


def label(words, width=LABEL):
    return fit(words, width).ljust(width)


def gflops(record, key="ms"):
    return 2 * record["n"] ** 3 / record[key] * 1e-6 if record.get(key) else 0


def values(records, key):
    return sorted({r[key] for r in records})


def yardstick(records, n, key):
    """Yardsticks do not depend on x: of the first record that has one."""
    return next((r[key] for r in records if r["n"] == n and r.get(key)), 0)


def times(family, records):
    """Rows x, columns n, milliseconds; registers, local memory and occupancy at the largest n."""
    experiment, variant, math = family
    sizes = values(records, "n")
    best = {n: min((r["ms"] for r in records if r["n"] == n and r.get("ms")), default=0) for n in sizes}
    model = any(r.get("wavefronts", 0) > 0 for r in records)
    tight = model and len(sizes) > 4  # five sizes and the model's column just fit
    first, each = (13, CELL - 1) if tight else (LABEL, CELL)
    lines = [fit(f"{experiment} · {variant} · {math}, milliseconds", COLUMNS),
             label(S.AXES.get(experiment, "x"), first) + "".join(right(str(n), each) for n in sizes) + " regs  local  occ" + ("  wavefr" if model else "")]
    for x in values(records, "x"):
        found = {r["n"]: r for r in records if r["x"] == x}
        line = label(S.place(next(iter(found.values()))), first)
        for n in sizes:
            one = found.get(n, {})
            time = one.get("ms")
            line += right(cell(time) if time else "wrong" if one.get("status") in ("wrong", "failed") else "-", each - 1)
            line += "*" if time and time == best[n] else " "
        if known := [found[n] for n in sizes if n in found and found[n].get("threads")]:
            last = known[-1]
            line += f" {last['registers']:4d} {last['local_bytes']:6d} {100 * last['occupancy']:3.0f}%"
            if last.get("wavefronts"):
                line += right(cell(last["wavefronts"]), 8)
        lines.append(line)
    for key, name in (("naive_ms", "naive, 32 x 8"), ("cublas_ms", "cuBLAS")):
        found = [yardstick(records, n, key) for n in sizes]
        if any(found):
            lines.append(label(name, first) + "".join(right(cell(one), each - 1) + " " for one in found))
    return lines


def rates(family, records):
    """Rows n, a column per variant, GFLOP/s: what is compared is the same work in other tiles."""
    experiment, _, math = family
    variants = list(dict.fromkeys(r["variant"] for r in records))[:4]
    lines = [f"{experiment} · {math}, GFLOP/s",
             right("n", 6) + "".join(right(v.partition(",")[0], 13) for v in variants) + right("naive", 10) + right("cuBLAS", 10)]
    for n in values(records, "n"):
        here = [r for r in records if r["n"] == n]
        found = {r["variant"]: gflops(r) for r in here}
        best = max(map(gflops, here))
        line = right(str(n), 6)
        for variant in variants:
            rate = found.get(variant, 0)
            line += right(cell(rate), 12) + ("*" if rate and rate == best else " ")
        yardsticks = [yardstick(reversed(here), n, key) for key in ("naive_ms", "cublas_ms")]
        lines.append(line + "".join(right(cell(2 * n**3 / ms * 1e-6 if ms else 0), 10) for ms in yardsticks))
    return lines


def faster(base, other, math):
    """How many times as fast `other` is as `base`, point by point."""
    sizes = values(base, "n")
    time = [{(r["n"], r["x"]): r["ms"] for r in records if r.get("ms")} for records in (base, other)]
    lines = ["", f"{other[0]['variant']} against {base[0]['variant']} · {math}, times as fast",
             label("side") + "".join(right(str(n), CELL) for n in sizes)]
    for x in values(base, "x"):
        lines.append(label(str(x)) + "".join(right(cell(time[0][n, x] / time[1][n, x]) if (n, x) in time[0] and (n, x) in time[1] else "-", CELL) for n in sizes))
    return lines


def tables(sweep):
    """All lines, 80 columns at most."""
    families = S.families(sweep["records"])
    said = {(s["experiment"], s["variant"], s["math"]): s for s in S.sentences(sweep)}
    lines = []
    for family, records in families.items():
        experiment, variant, math = family
        lines += [""] if lines else []
        lines += (rates if experiment == "size" else times)(family, records)
        if (experiment, variant) == ("side", "shared") and (base := families.get(("side", "naive", math))):
            lines += faster(base, records, math)
        for sentence in (said[family]["minimum"], said[family]["turn"]) if family in said else ():
            lines += textwrap.wrap(sentence, COLUMNS, initial_indent="  ", subsequent_indent="  ")
    if lines:
        lines += [""] + textwrap.wrap("* minimum of its column; regs, local: registers and bytes per thread at the largest n", COLUMNS)
    return lines
