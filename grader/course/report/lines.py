"""What each line of a student's file did on the simulated GPU: the view of `make explain`, short enough to stand in the page
of each student. The judge has counted these lines anyway, so that they cost nothing. The whole page of `make explain`
takes as long as grading does and megabytes for each student; a student makes it by one command."""
from markup import shape, text

MOST = 12
NUMBER, INSTRUCTIONS, SECTORS, IDEAL_SECTORS, WAVEFRONTS, IDEAL_WAVEFRONTS = range(6)


def shown_stages(lab):
    """Stages whose lines are shown: of a rung that several share, the last that was counted."""
    last = {}
    for stage in lab["stages"]:
        if stage.get("counted", {}).get("lines"):
            last[stage["rung"]] = stage["id"]
    return set(last.values())


def hottest(stage):
    """The lines that most instructions, sectors or wavefronts belong to, in the order of the file."""
    rows = stage["counted"]["lines"]
    totals = [max(1, sum(row[column] for row in rows)) for column in range(6)]

    def part(row):
        return max(row[column] / totals[column] for column in (INSTRUCTIONS, SECTORS, WAVEFRONTS))
    chosen = sorted((row for row in rows if part(row) >= 0.01), key=part, reverse=True)[:MOST]
    return sorted(chosen), totals[INSTRUCTIONS]


def grouped(count):
    return f"{count:,}".replace(",", "&#8239;")


def against(cost, ideal):
    """Marked by a sign too, not by colour alone."""
    if cost > ideal:
        return f'<td class="number waste">▲ {grouped(cost)}, ideal {grouped(ideal)}</td>'
    return f'<td class="number">{grouped(cost) if cost else ""}</td>'


def table(stage, source, link):
    """source: the lines of the file, or none; link: makes the number of a line lead to it."""
    rows, instructions = hottest(stage)
    if not rows:
        return ""
    counted, body = stage["counted"], []
    for row in rows:
        code = source[row[NUMBER] - 1].strip()[:120] if 0 < row[NUMBER] <= len(source) else ""
        body.append(f'<tr><td class="number">{link(row[NUMBER])}</td><td class="number">{100 * row[INSTRUCTIONS] / instructions:.0f}&#8239;%</td>'
                    f"{against(row[SECTORS], row[IDEAL_SECTORS])}{against(row[WAVEFRONTS], row[IDEAL_WAVEFRONTS])}"
                    f"<td><code>{text(code)}</code></td></tr>")
    wasted = any(row[SECTORS] > row[IDEAL_SECTORS] or row[WAVEFRONTS] > row[IDEAL_WAVEFRONTS] for row in rows)
    opened = " open" if stage["state"] == "failed" and stage["goals"] and wasted else ""
    where = f"{text(counted['type'])}, {shape(counted['at'])}"
    return (f"<details{opened}><summary>what each line moved</summary>"
            f'<p class="note">One call on the simulated GPU, {where}. Sectors are 32 bytes of global memory, wavefronts the steps that '
            f'shared memory takes. ▲ marks more than the same bytes need at best.</p><div class="wide"><table class="lines">'
            f"<thead><tr><th>line</th><th>instructions</th><th>sectors</th><th>wavefronts</th><th>source</th></tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table></div></details>")
