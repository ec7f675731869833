"""The report of a class: GRADES/report/index.html, and a page per student that can be handed back.

    report.py GRADES

reads grades.json, results/ and sources/ of `make grade`. Each page is one file that needs no other and no network. Whatever
a student wrote (names, messages, source) stands in them as text."""
import argparse
import collections
import html
import json
import os
import statistics
import sys
from string import Template

import lines
import speed
from markup import bar, button, grouped, line, plain, sentence, shape, text

HERE = os.path.dirname(os.path.abspath(__file__))
NOT_TRIED = ("not_started", "locked", "skipped", "missing")
# What a person should look at, the most urgent first.
DOUBTS = {"SUSPECT": "suspect", "DIFFERENT": "different on the simulated and the real GPU", "INCONCLUSIVE": "inconclusive",
          "INFRA_ERROR": "not judged: the machine's fault", "LATE": "late, and nobody knows how late"}
OPEN_LISTS = 25  # rows; longer ones are folded


def read(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        return text.read()


def load(path):
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def fill(name, **gaps):
    return Template(read(os.path.join(HERE, name))).substitute(gaps)


def page(title, body, script=""):
    return fill("page.html", title=text(title), style=read(os.path.join(HERE, "page.css")), body=body,
                script=f"<script>\n{script}</script>\n" if script else "")


def write(path, content):
    partial = f"{path}.partial"
    with open(partial, "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(partial, path)


def stages_of(result):
    for lab in result.get("labs", []):
        for stage in lab["stages"]:
            yield lab, stage


def mark_missing(lab):
    """A stage whose file was not handed in was not tried: the grader says that it does not build. A lab may have several
    files, and the lines about its build begin with the name of each that is missing."""
    build = lab["build"]
    if build["status"] == "missing":
        said = [build["headline"], *build["details"]]
        for stage in lab["stages"]:
            if stage["state"] == "failed" and any(one.startswith(f"{stage['file']} ") for one in said):
                stage["state"] = "missing"


def handed_in(lab):
    return any(stage["state"] != "missing" for stage in lab["stages"])


def doubts_of(stage):
    """(verdict, why) of what a person should look at, or the machine must do again."""
    found, gpu = [], stage.get("gpu") or {}
    for judged, where in ((stage, ""), (gpu, "on the GPU: ")):
        if judged.get("verdict") in DOUBTS:
            found.append((judged["verdict"], where + judged.get("headline", "")))
    if gpu.get("state") == "infra" and gpu.get("verdict") != "INFRA_ERROR":
        found.append(("INFRA_ERROR", "on the GPU: " + gpu.get("headline", "")))
    if gpu.get("state") in ("passed", "failed") and stage["state"] in ("passed", "failed") \
            and gpu["state"] != stage["state"] and not any(speed.verdict(goal) == "fail" for goal in speed.goals(stage)):
        found.append(("DIFFERENT", f"{stage['state']} on the simulated GPU, {gpu['state']} on the real one: {gpu.get('headline', '')}"))
    for goal in speed.goals(stage):
        where = f"speed, {goal['type']} {shape(goal['at'])}: "
        if goal["suspect"]:
            found.append(("SUSPECT", where + "; ".join(goal["suspect"])))
        elif goal["verdict"] == "inconclusive":
            found.append(("INCONCLUSIVE", where + goal["reason"]))
    if gpu.get("inconclusive") and not any(verdict == "INCONCLUSIVE" for verdict, _ in found):
        found.append(("INCONCLUSIVE", "on the GPU: " + gpu.get("headline", "")))
    return found


class Student:
    """An entry of grades.json with its result and files."""

    def __init__(self, folder, entry):
        self.entry = entry
        self.id, self.name, self.status = entry["student"], entry.get("name", ""), entry["status"]
        path = os.path.join(folder, entry["result"])
        self.result = load(path) if os.path.exists(path) else {"labs": []}
        for lab in self.result["labs"]:
            mark_missing(lab)
        self.key = os.path.splitext(os.path.basename(entry["result"]))[0]
        self.page = f"students/{self.key}.html"
        self.sources = os.path.join(folder, "sources", self.key)
        # In which stages a diagnosis was met, and what a person should see.
        self.diagnoses = {}
        self.doubts = [("", self.status, self.result.get("cause", ""))] if self.status == "INFRA_ERROR" else []
        if entry.get("late_open"):
            self.doubts.append(("", "LATE", "handed in late, and nothing says by how much: the roster's column \"late days\" does"))
        for _, stage in stages_of(self.result):
            if stage["state"] == "failed":  # what has no name of its own, such as a file that does not compile, has its verdict's
                self.diagnoses.setdefault(stage["diagnosis"] or stage["verdict"], []).append(stage["id"])
            self.doubts += [(stage["id"], *doubt) for doubt in doubts_of(stage) if not (doubt[0] == "INFRA_ERROR" and self.status == "INFRA_ERROR")]
        told = {stage for stage, _, _ in self.doubts}
        self.doubts += [(stage, "INCONCLUSIVE", "not measured on the GPU") for stage in entry.get("undecided", []) if stage not in told]

    def stopped_at(self, lab):
        """The first core stage of a lab that is not passed; None: all are, or the lab was not handed in."""
        if not handed_in(lab):
            return None
        return next((s["id"] for s in lab["stages"] if s["kind"] == "core" and s["state"] not in ("passed", "skipped")), None)

    def called(self):
        return f"{self.name} ({self.id})" if self.name else self.id

    def score(self):
        return self.entry.get("score")


# ---- the class
class Class:
    def __init__(self, folder):
        self.grades = load(os.path.join(folder, "grades.json"))
        self.students = [Student(folder, entry) for entry in self.grades["students"]]
        self.stages, self.titles = collections.OrderedDict(), {}
        for student in self.students:
            for lab, stage in stages_of(student.result):
                self.titles.setdefault(lab["id"], lab["title"])
                self.stages.setdefault(stage["id"], (stage["title"], stage["kind"] == "bonus", lab["id"]))
        # Who handed in something that looks like work and does not count, and what it was: a person should look.
        self.uncounted = {}
        for student in self.students:
            odd = [f"extra: {one['file']} ({one['why']})" for one in student.result.get("uncounted", [])]
            if student.status == "NO_SUBMISSION" and student.id not in self.grades["missing"]:
                self.uncounted[student.id] = student.result.get("remarks", [])
            elif odd:
                self.uncounted[student.id] = odd
        self.in_hand = [s for s in self.students if any(handed_in(lab) for lab in s.result["labs"])]

    def figures(self):
        count = collections.Counter(s.status for s in self.students)
        scores = [s.score() for s in self.in_hand if s.score() is not None]
        nothing_counts = sum(s.status == "NO_SUBMISSION" and s.id in self.uncounted for s in self.students)
        rows = [(len(self.students), "students"), (count["GRADED"], "graded"), (count["NO_SUBMISSION"] - nothing_counts, "handed nothing in")]
        if nothing_counts:
            rows.append((nothing_counts, "without a file that counts"))
        if count["PENDING"]:
            rows.append((count["PENDING"], "not reached yet"))
        if count["INFRA_ERROR"]:
            rows.append((count["INFRA_ERROR"], "to be graded again"))
        if scores:
            rows.append((f"{plain(statistics.median(scores))}/{plain(self.grades['possible'])}", "points, the median"))
        return "".join(f"<li><b>{value}</b>{text(name)}</li>" for value, name in rows)

    def look(self):
        rows = collections.defaultdict(list)
        for student in self.students:
            stages = collections.defaultdict(list)
            for where, verdict, why in student.doubts:
                stages[verdict, why].append(where)
            for (verdict, why), where in stages.items():
                rows[verdict].append(f'<tr><td><a href="{student.page}">{line(student.called())}</a></td><td>{text(", ".join(where))}</td>'
                                     f"<td>{line(why[:600])}</td></tr>")
        head = "<tr><th>student</th><th>stage</th><th>why</th></tr>"
        parts = [f"<details{' open' if len(rows[verdict]) <= OPEN_LISTS else ''}><summary>{text(name)}: {len(rows[verdict])}</summary>"
                 f'<table class="look"><thead>{head}</thead><tbody>{"".join(rows[verdict])}</tbody></table></details>'
                 for verdict, name in DOUBTS.items() if rows[verdict]]
        if self.uncounted:
            those = [f'<tr><td><a href="{s.page}">{line(s.called())}</a></td><td></td><td>{line("; ".join(self.uncounted[s.id])[:600])}</td></tr>'
                     for s in self.students if s.id in self.uncounted]
            parts.append(f"<details{' open' if len(those) <= OPEN_LISTS else ''}><summary>handed in, but not counted, which costs points: {len(those)}</summary>"
                         f'<table class="look"><thead>{head}</thead><tbody>{"".join(those)}</tbody></table></details>')
        lists = [("In the submissions, but not in the roster", self.grades["unknown"]),
                 ("In the roster, but nothing was handed in", self.grades["missing"]), ("Ignored", self.grades["ignored"])]
        extra = "".join(f"<details><summary>{text(name)}: {len(some)}</summary><p>{', '.join(map(line, some))}</p></details>"
                        for name, some in lists if some)
        return ("".join(parts) or "<p>Nothing.</p>") + extra

    def speed(self):
        titles = {stage: title for stage, (title, _, _) in self.stages.items()}
        parts = speed.section(titles, (stage for student in self.in_hand for _, stage in stages_of(student.result)))
        return fill("speed.html", speed=parts) if parts else ""

    def stage_rows(self):
        rows, total = [], max(1, len(self.in_hand))
        states, common = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
        for student in self.in_hand:
            for _, stage in stages_of(student.result):
                states[stage["id"]][stage["state"]] += 1
            for diagnosis, where in student.diagnoses.items():
                for stage in where:
                    common[stage][diagnosis] += 1
        for stage, (title, bonus, _) in self.stages.items():
            count = states[stage]
            most = ", ".join(f'<span class="diagnosis">{text(name)}</span> {times}' for name, times in common[stage].most_common(2))
            rest = sum(count[state] for state in NOT_TRIED)
            rows.append(f"<tr><td>{text(stage)} {text(title)}{' (bonus)' if bonus else ''}</td><td class=\"bars\">"
                        f"{bar([('pass', count['passed']), ('fail', count['failed']), ('rest', rest)], total)}</td>"
                        f'<td class="number">{count["passed"]} ({100 * count["passed"] / total:.0f} %)</td>'
                        f'<td class="number">{count["failed"]}</td><td>{most}</td></tr>\n')
        return "".join(rows)

    def diagnosis_rows(self):
        students, stages = collections.Counter(), collections.defaultdict(collections.Counter)
        for student in self.students:
            for diagnosis, where in student.diagnoses.items():
                students[diagnosis] += 1
                stages[diagnosis].update(where)
        if not students:
            return '<tr><td colspan="4">None.</td></tr>\n'
        most = max(students.values())
        return "".join(f'<tr><td>{button(f"d:{name}", name)}</td>'
                       f'<td class="bars">{bar([("plain", count)], most)}</td><td class="number">{count}</td>'
                       f"<td>{', '.join(text(s) for s, _ in stages[name].most_common(4))}{' ...' if len(stages[name]) > 4 else ''}</td></tr>\n"
                       for name, count in students.most_common())

    def stuck(self):
        parts = []
        for lab_id, title in sorted(self.titles.items()):
            places, done, count = collections.Counter(), 0, 0
            for student in self.in_hand:
                for lab in student.result["labs"]:
                    if lab["id"] == lab_id and handed_in(lab):
                        count += 1
                        place = student.stopped_at(lab)
                        done += place is None
                        places[place] += place is not None
            if not count:
                continue
            rows = [(f"{stage} {self.stages[stage][0]}", places[stage], f"s:{stage}") for stage in self.stages if places[stage]]
            cells = "".join(f'<tr><td>{button(tag, name)}</td>'
                            f'<td class="bars">{bar([("fail", times)], count)}</td><td class="number">{times}</td></tr>' for name, times, tag in rows)
            cells += f'<tr><td>all core stages passed</td><td class="bars">{bar([("pass", done)], count)}</td><td class="number">{done}</td></tr>'
            parts.append(f"<div><h3>Lab {lab_id}: {text(title)}</h3><table><tbody>{cells}</tbody></table></div>")
        return "".join(parts) or "<p>Nobody handed anything in.</p>"

    def scores(self):
        scores = [s.score() for s in self.in_hand if s.score() is not None]
        possible = self.grades["possible"]
        if not scores or not possible:
            return "<p>None yet.</p>"
        bins = [0] * 20
        for score in scores:
            bins[min(19, max(0, int(20 * score / possible)))] += 1
        columns = "".join(f'<div style="height:{100 * n / max(bins):.1f}%">{f"<span>{n}</span>" if n else ""}</div>' for n in bins)
        return (f'<div class="histogram" role="img" aria-label="how many students have which score">{columns}</div>'
                f'<p class="axis"><span>0</span><span>{plain(possible / 2)}</span><span>{plain(possible)} points</span></p>')

    def tags(self, student):
        tags = [student.status] + [f"d:{name}" for name in student.diagnoses] + (["look"] if student.doubts or student.id in self.uncounted else [])
        tags += [tag for _, stage in stages_of(student.result) for tag in speed.tags(stage)]
        tags += ["late"] if student.entry.get("late") else []
        return tags + [f"s:{place}" for place in map(student.stopped_at, student.result["labs"]) if place]

    def student_rows(self):
        rows = []
        for s in self.students:
            stopped = [place for place in map(s.stopped_at, s.result["labs"]) if place]
            score = "" if s.score() is None else plain(s.score())
            bonus = "" if s.entry.get("bonus") is None else plain(s.entry["bonus"])
            rows.append(f'<tr data-tags="{html.escape(json.dumps(self.tags(s)))}"><td><a href="{s.page}">{line(s.called())}</a></td>'
                        f"<td>{line(s.entry.get('section', ''))}</td><td>{text(s.status.replace('_', ' ').lower())}{', late' if s.entry.get('late') else ''}</td>"
                        f'<td class="number">{score}</td><td class="number">{bonus}</td><td>{text(", ".join(stopped))}</td>'
                        f'<td class="diagnosis">{text(", ".join(s.diagnoses))}</td></tr>\n')
        return "".join(rows)

    def only(self):
        groups = [("status", [(status, status) for status in ("GRADED", "NO_SUBMISSION", "INFRA_ERROR", "PENDING")] + [("look", "to look at"), ("late", "late")]),
                  ("diagnosis", [(f"d:{name}", name) for name in sorted({d for s in self.students for d in s.diagnoses})]),
                  ("speed", [(f"v:{stage}:{kind}", f"{stage} {words}") for stage in self.stages for kind, words in (("fail", "too slow"), ("unclear", "unclear"))]),
                  ("stopped at", [(f"s:{stage}", f"{stage} {title}") for stage, (title, _, _) in self.stages.items()])]
        there = {tag for student in self.students for tag in self.tags(student)}
        return "".join(f'<optgroup label="{label}">'
                       + "".join(f'<option value="{text(value)}">{text(name)}</option>' for value, name in some if value in there) + "</optgroup>"
                       for label, some in groups)

    def html(self):
        measured = self.speed()
        device = "the simulated GPU" if self.grades["device"] == "sim" else "the simulated GPU and on a real one"
        body = fill("class.html", title="The class", about=text(f"Graded on {device}, gemm-lab {self.grades['version']}. {self.grades['protection']}."),
                    warning=warning(self.grades["protection"]), figures=self.figures(), look=self.look(), speed=measured, speed_link='<a href="#speed">Speed</a> ' if measured else "", handed_in=len(self.in_hand), stages=self.stage_rows(),
                    diagnoses=self.diagnosis_rows(), stuck=self.stuck(), scores=self.scores(), only=self.only(), students=self.student_rows())
        return page("The class", body, read(os.path.join(HERE, "class.js")))


def warning(protection):
    if protection.startswith("boxed"):
        return ""
    return f'<p class="warning">Graded with less than full protection: {text(protection)}. A submission may have changed what is written here.</p>'


# ---- one student
def goal_rows(stage):
    missed = [goal for goal in stage["goals"] if not goal["met"]]
    if not missed:
        return ""
    rows = "".join(f"<tr><td>{text(g['what'])}</td><td>{text(g['type'])}, {shape(g['at'])}</td>"
                   f'<td class="number">{grouped(g["measured"])}</td><td class="number">{grouped(g["bound"])}</td></tr>' for g in missed)
    return ('<div class="wide"><table><thead><tr><th>missed</th><th>where</th><th class="number">yours</th><th class="number">at most</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>")


def hardware_part(stage):
    """What a real GPU said, where it is another thing than the simulated one did."""
    gpu = stage.get("gpu") or {}
    if gpu.get("state") in (None, "passed") and not gpu.get("inconclusive"):
        return ""
    parts = [f"<p><b>On the GPU:</b> {text(gpu['state'])}{', not decided' if gpu.get('inconclusive') else ''}. {text(gpu.get('headline', ''))}</p>"]
    parts += [f"<pre>{text(chr(10).join(gpu['details']))}</pre>"] if gpu.get("details") else []
    return "".join(parts)


def stage_part(stage, before, points_for_speed, counted, sources):
    state = stage["state"]
    kind = "is-passed" if state == "passed" else "is-failed" if state == "failed" else ""
    place = f"{stage['file']}:{stage['line']}" if stage["line"] else stage["file"]
    if state == "failed" and stage["line"]:
        place_link = sources.link(stage["file"], stage["line"], place)
    else:
        place_link = text(place)
    earned = f"{plain(stage['earned'] or 0)} of {plain(stage['points'])} points"
    parts = [f'<h3>{text(stage["id"])} {text(stage["title"])}{" (bonus)" if stage["kind"] == "bonus" else ""}: '
             f'{text(state.replace("_", " "))}, {earned}</h3>']
    if stage["headline"]:
        name = f'<span class="diagnosis">{text(stage["diagnosis"])}</span> ' if stage["diagnosis"] else ""
        parts.append(f"<p>{name}{sentence(stage['headline'])}{f' <span class=tag>({place_link})</span>' if place else ''}</p>")
    if stage["shape"]:
        parts.append(f'<p class="note">seen at {text(stage["shape"])}{", " + text(stage["type"]) if stage["type"] else ""}</p>')
    parts += [f"<pre>{text(chr(10).join(stage['details']))}</pre>"] if stage["details"] else []
    parts.append(goal_rows(stage))
    parts += [counted, hardware_part(stage), speed.rows(stage, points_for_speed)]
    parts += [f'<p class="note">note: {text(note)}</p>' for note in stage["notes"]]
    if stage["printed"]:
        parts.append(f"<details><summary>what it printed</summary><pre>{text(stage['printed'])}</pre></details>")
    if stage["next_step"]:
        parts.append(f'<p class="do">{text(stage["next_step"])}</p>')
    for old in before:
        if (old["state"], old["earned"], old["headline"]) == (state, stage["earned"], stage["headline"]):
            continue
        parts.append(f'<p class="before">before it was graded again: {text(old["state"].replace("_", " "))}, {plain(old["earned"] or 0)} points'
                     f'{": " + text(old["headline"]) if old["headline"] else ""}</p>')
    return f'<div class="stage {kind}">{"".join(parts)}</div>'


class Sources:
    """The files of one lab that a student handed in, and which of their lines something on the page leads to."""

    def __init__(self, student, lab):
        self.lab, self.files, self.linked = lab, {}, set()
        folder = os.path.join(student.sources, lab["name"])
        if os.path.isdir(folder):
            self.files = {name: read(os.path.join(folder, name)).split("\n") for name in sorted(os.listdir(folder))}

    def anchor(self, name, number):
        return f"{self.lab['name']}-{os.path.splitext(name)[0]}-{number}"

    def link(self, path, number, words):
        """To a line of these files; what is in none of them is no link."""
        name = os.path.basename(path)
        if not 0 < number <= len(self.files.get(name, [])) or not name.replace(".", "").replace("_", "").isalnum():
            return text(words)
        self.linked.add((name, number))
        return f'<a href="#{self.anchor(name, number)}">{text(words)}</a>'

    def counted(self, stage):
        path = stage["counted"]["file"]
        source = self.files.get(os.path.basename(path))
        return lines.table(stage, source, lambda number: self.link(path, number, number)) if source else ""

    def part(self):
        parts = []
        for name, source in self.files.items():
            here = {s["line"] for s in self.lab["stages"] if s["state"] == "failed" and s["line"] and os.path.basename(s["file"]) == name}

            def opening(number):
                named = f" id={self.anchor(name, number)}" if (name, number) in self.linked else ""
                return f"<span{' class=here' if number in here else ''}{named}>"
            shown = "".join(f"{opening(number)}{text(one) or ' '}</span>" for number, one in enumerate(source, 1))
            parts.append(f'<details{" open" if here else ""}><summary>{text(self.lab["name"])}/{text(name)}</summary>'
                         f'<pre class="source">{shown}</pre></details>')
        return "".join(parts)


def lab_part(student, lab, earlier):
    build = lab["build"]
    parts = [f"<h2>Lab {lab['id']}: {text(lab['title'])}</h2>"]
    if build["status"] != "ok":
        parts.append(f"<p>{text(build['headline'])}</p>")
        parts += [f"<pre>{text(chr(10).join(build['details']))}</pre>"] if build["details"] else []
    here = [stage for stage in lab["stages"] if stage["state"] != "missing"]
    tried = [stage for stage in here if stage["state"] not in NOT_TRIED]
    if here and not tried:
        parts.append(f'<p class="note">{len(here)} stages, none tried yet.</p>')
    sources, shown = Sources(student, lab), lines.shown_stages(lab)
    for stage in here if tried else []:
        before = [old[stage["id"]] for old in earlier if stage["id"] in old]
        counted = sources.counted(stage) if stage["id"] in shown else ""
        parts.append(stage_part(stage, before, student.entry.get("speed", {}).get(stage["id"]), counted, sources))
    if any("counted" in stage for stage in lab["stages"]):
        parts.append(f'<p class="note">In your own clone <code>make explain LAB={lab["id"]}</code> draws these accesses, lane by lane.</p>')
    return "".join(parts) + sources.part()


def next_step(student):
    """Of the first core stage that is not passed; of a bonus stage where all are."""
    open_ones = [stage for lab, stage in stages_of(student.result) if stage["state"] in ("failed", "not_started") and handed_in(lab)]
    if student.status == "INFRA_ERROR":
        return '<p class="warning">This was not graded because of the machine, and is graded again. No points are lost.</p>'
    if not open_ones:
        return ""
    stage = min(open_ones, key=lambda one: one["kind"] == "bonus")
    return (f'<p class="do"><b>Next:</b> {text(stage["id"])} {text(stage["title"])}. {text(stage["next_step"])} '
            f"<code>make check LAB={text(stage['id'].split('.')[0])}</code>, <code>make hint STAGE={text(stage['id'])}</code></p>")


def student_page(student, grades):
    entry = student.entry
    if student.score() is None:
        score = text(student.status.replace("_", " ").lower())
    else:
        score = f"{plain(student.score())} of {plain(grades['possible'])} points"
        score += f", {plain(entry['bonus'])} of {plain(grades['bonus_possible'])} bonus" if entry.get("bonus") else ""
        days, cost = entry.get("late_days"), entry.get("late_cost")
        score += ", handed in late" if entry.get("late") and not cost else ""
        score += f", {plain(days)} day{'' if days == 1 else 's'} late: {plain(cost)} points less" if cost else ""
    remarks = "".join(f"<li>{line(remark)}</li>" for remark in student.result.get("remarks", []))
    earlier = [{s["id"]: s for s in old["stages"]} for old in student.result.get("previous", [])]
    labs = "".join(lab_part(student, lab, earlier) for lab in student.result["labs"])
    about = " · ".join(filter(None, [student.id if student.name else "", entry.get("section", ""), f"gemm-lab {grades['version']}"]))
    body = fill("student.html", title=line(student.name or student.id), about=line(about), warning=warning(grades["protection"]), score=score,
                remarks=f"<ul>{remarks}</ul>" if remarks else "", next=next_step(student), labs=labs)
    return page(student.called().replace("\n", " "), body)


def write_pages(folder, whole):
    pages = os.path.join(folder, "report", "students")
    os.makedirs(pages, exist_ok=True)
    wanted = {f"{student.key}.html" for student in whole.students}
    for name in os.listdir(pages):  # of somebody who is no more in the class
        if name not in wanted:
            os.remove(os.path.join(pages, name))
    for student in whole.students:
        write(os.path.join(pages, f"{student.key}.html"), student_page(student, whole.grades))
    index = os.path.join(folder, "report", "index.html")
    write(index, whole.html())
    print(f"report: {index}")


def main():
    parser = argparse.ArgumentParser(description="The report of a class.")
    parser.add_argument("grades")
    folder = parser.parse_args().grades
    try:
        whole = Class(folder)
    except (OSError, ValueError) as error:
        sys.exit(f"error: no grades in {folder}: {error}")
    try:
        write_pages(folder, whole)
    except OSError as error:
        sys.exit(f"error: cannot write the report: {error}")


if __name__ == "__main__":
    main()
