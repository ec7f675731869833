"""The goals of speed in the report: what a GPU measured, for the class and for one student."""
import collections
import statistics

from markup import button, plain, shape, text

YARDSTICK = {"cublas": "of cuBLAS", "naive": "times the naive kernel"}
# A kernel far above its goal must not flatten the others.
HIGHEST = 2.0
KIND = {"pass": "pass", "fail": "fail"}


def digits(value):
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def goals(stage):
    """The speed goals of a stage that a GPU has looked at."""
    return (stage.get("gpu") or {}).get("speed") or []


def measured(goal):
    return goal["verdict"] != "not_measured" and (goal["ratio"] or 0) > 0 and (goal["bar"] or 0) > 0


def verdict(goal):
    """pass, fail, or unclear: what nobody gains or loses by before a person has looked."""
    return "unclear" if goal["suspect"] else KIND.get(goal["verdict"], "unclear")


def share(goal):
    return goal["ratio"] / goal["bar"]


def in_words(goal):
    return f"{digits(goal['ratio'])} {YARDSTICK.get(goal['by'], goal['by'])}"


# ---- the class
class Group:
    """One goal of one stage, over all submissions."""

    def __init__(self, stage, kind, at, by):
        self.stage, self.kind, self.at, self.by, self.goals, self.unmeasured = stage, kind, at, by, [], 0

    def count(self, what):
        return sum(verdict(goal) == what for goal in self.goals)

    def asked(self):
        bars = sorted({digits(goal["bar"]) for goal in self.goals}, key=float)
        return bars[0] if len(bars) == 1 else f"{bars[0]} to {bars[-1]}"  # GPUs of several kinds

    def chart(self):
        """A bar for each submission, the slowest first, and a line where the goal is."""
        ranked = sorted(self.goals, key=share)
        top = max(1.15, min(HIGHEST, max(map(share, ranked))))
        paths = collections.defaultdict(str)
        width = 1 if len(ranked) > 80 else 0.8  # gaps of less than a pixel make colours pale
        for number, goal in enumerate(ranked):
            height = 100 * min(share(goal), top) / top
            paths[verdict(goal)] += f"M{number} 100v-{height:.1f}h{width}V100z"
        drawn = "".join(f'<path class="{kind}" d="{path}"/>' for kind, path in sorted(paths.items()))
        goal_at = 100 - 100 / top
        shares = [share(goal) for goal in ranked]
        words = (f"{len(ranked)} submissions: the slowest reaches {digits(shares[0])} of the goal, "
                 f"the median {digits(statistics.median(shares))}, the fastest {digits(shares[-1])}")
        return (f'<div class="ranked"><svg viewBox="0 0 {max(8, len(ranked))} 100" preserveAspectRatio="none" role="img" aria-label="{text(words)}">'
                f'{drawn}<path class="goal" d="M0 {goal_at:.1f}H{max(8, len(ranked))}"/></svg>'
                f'<span style="top:{goal_at:.1f}%">goal</span></div>')

    def part(self):
        if not self.goals:
            return f'<p class="note"><b>{text(self.kind)}</b>, {shape(self.at)}: not measured for {self.unmeasured}.</p>'
        counts = [f"{self.count('pass')} of {len(self.goals)} reach it"]
        for kind, words in (("fail", "too slow"), ("unclear", "unclear")):
            if self.count(kind):
                counts.append(button(f"v:{self.stage}:{kind}", f"{self.count(kind)} {words}"))
        if self.unmeasured:
            counts.append(f"{self.unmeasured} not measured")
        unit = YARDSTICK.get(self.by, self.by)
        middle = f"goal {self.asked()}, median {digits(statistics.median(goal['ratio'] for goal in self.goals))} {unit}"
        cublas = [goal["over_cublas"][1] for goal in self.goals if goal.get("over_cublas")]
        if self.by != "cublas" and cublas:
            middle += f", {digits(statistics.median(cublas))} of cuBLAS"
        return (f"<div><p><b>{text(self.kind)}</b>, {shape(self.at)}: {text(middle)}</p>{self.chart()}"
                f'<p class="note">{", ".join(counts)}</p></div>')


def groups(students_stages):
    """By stage, in order: students_stages gives the stages of one submission after the other."""
    found = collections.OrderedDict()
    for stage in students_stages:
        for goal in goals(stage):
            key = (stage["id"], goal["type"], tuple(goal["at"]))
            group = found.setdefault(key, Group(*key, goal["by"]))
            if measured(goal):
                group.by = goal["by"]
                group.goals.append(goal)
            else:
                group.unmeasured += 1
    return found.values()


def section(titles, students_stages):
    """titles: of stages. Empty where no GPU measured anything."""
    by_stage = collections.defaultdict(list)
    for group in groups(students_stages):
        by_stage[group.stage].append(group)
    return "".join(f"<div><h3>{text(stage)} {text(title)}</h3>{''.join(group.part() for group in by_stage[stage])}</div>"
                   for stage, title in titles.items() if stage in by_stage)


def tags(stage):
    """What the filter finds a submission by."""
    return [f"v:{stage['id']}:{verdict(goal)}" for goal in goals(stage) if measured(goal) and verdict(goal) != "pass"]


# ---- one student
def rows(stage, points):
    """What was measured for one stage; points: for its speed, None where speed gives none."""
    found = goals(stage)
    parts = []
    for goal in found:
        where = f"{text(goal['type'])}, {shape(goal['at'])}"
        if not measured(goal):
            parts.append(f'<tr><td>{where}</td><td colspan="3">not measured: {text(goal["reason"])}</td></tr>')
            continue
        what = verdict(goal)
        words = {"pass": "fast enough", "fail": "too slow", "unclear": "not decided: this costs nothing"}[what]
        parts.append(f'<tr><td>{where}</td><td class="bars">{bar_of(goal, what)}</td><td>{text(in_words(goal))}, '
                     f'goal {digits(goal["bar"])}</td><td class="{what}">{words}</td></tr>')
    table = (f"<table><thead><tr><th>speed on a GPU</th><th class=\"bars\">share of the goal</th><th></th><th></th></tr></thead>"
             f"<tbody>{''.join(parts)}</tbody></table>") if parts else ""
    return table + (f'<p class="note">speed on a GPU: {plain(points)} points</p>' if points is not None else "")


def bar_of(goal, what):
    """Full at the goal and beyond."""
    return f'<div class="bar" aria-hidden="true"><i class="{what}" style="width:{100 * min(1, share(goal)):.1f}%"></i></div>'
