"""Reference pages, generated from the sources that they describe."""

import json
import re
import subprocess
import tomllib

from docutils import nodes
from sphinx import addnodes

from common import AUTHOR_TREE, DOCS, ROOT, LabDirective, escape, raw

STRING = r'"((?:[^"\\]|\\.)*)"'


class Make(LabDirective):
    """```{make-targets}```: what `make help` prints, as a table."""

    def run(self):
        files = [ROOT / "Makefile", *sorted((ROOT / "mk").glob("*.mk"))]
        for file in files:
            self.read(file)
        text = subprocess.run(["sh", "grader/scripts/help.sh", *files], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        students, _, rest = text.partition("Course staff:")
        staff, _, authors = rest.partition("Authors of the labs:")
        result = []
        for title, part in (("For everybody", students), ("For course staff", staff), ("For authors of the labs", authors)):
            rows = re.findall(r"^  make (\S+)\s+(.*)$", part, re.M)
            if rows:
                body = "\n".join(f"- - `make {target}`\n  - {what}" for target, what in rows)
                result += self.parsed(f"**{title}**\n\n```{{list-table}}\n{body}\n```")
        return result


LONG = 40  # words of advice: more is for who has the message, and folded


class Messages(LabDirective):
    """```{diagnoses}```: every diagnosis of the catalogue with what it says and what to look at. Each is a target,
    diag-NAME, for the role {diag}."""

    def run(self):
        entries = tomllib.loads(self.read(ROOT / "grader" / "messages.toml"))
        names = []
        for key in entries:
            name = key.split(".")[0]
            if name.isupper() and name not in names:
                names.append(name)
        holder = []
        for name in names:
            heads = [value for key, value in entries.items() if key.startswith(name + ".") and key.endswith("headline")]
            nexts = [value for key, value in entries.items() if key.startswith(name + ".") and key.endswith("next")]
            if not heads and not nexts:
                heads = [value for key, value in entries.items() if key.startswith(name + ".")]
            goal = "right, but {sentence}"
            said = ["*your result is right; a count is over its goal*" if h == goal else f"`{h}`" for h in dict.fromkeys(heads)]
            # A terminal's words: what looks like bold type is CUDA's, as in __shared__.
            nexts = [re.sub(r"(?<![\w`])__\w+__(\(\))?", r"`\g<0>`", n).replace(" * ", r" \* ") for n in dict.fromkeys(nexts) if n and not re.fullmatch(r"\{\w+\}", n)]
            target = nodes.target("", "", ids=[f"diag-{name.lower()}"], names=[f"diag-{name.lower()}"])
            self.state.document.note_explicit_target(target)
            shown = [n for n in nexts[:1] if len(n.split()) <= LONG]
            holder += [target, *self.parsed("\n".join([f"`{name}`", ": " + "".join(said[:1]), "", *(f"  {one}\n" for one in shown)]))]
            # Most readers have the first form before them; who has another opens these.
            others = said[1:] + nexts[len(shown):]
            if others:
                holder += [raw("<details class='fold'><summary>its other forms, and what to look at</summary>"),
                           *self.parsed("\n".join(f"- {one}" for one in others)), raw("</details>")]
        return holder


def diag_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """{diag}`OOB`: a link to what the reference says of it."""
    node = addnodes.pending_xref("", refdomain="std", reftype="ref", reftarget=f"diag-{text.lower()}", refexplicit=True,
                                 refwarn=True, refdoc=inliner.document.settings.env.docname)
    node += nodes.literal(text, text)
    return [node], []


class Opcodes(LabDirective):
    """```{opcodes}```: the instructions that the simulated GPU's parser accepts, and those it names as missing."""

    def run(self):
        rows = self.read(ROOT / "common" / "simgpu" / "instructions.inc")
        lines = []
        # Sections begin with "// ---- Title"; a row's text stands behind its id. A mode may be part of it.
        for title, section in re.findall(r"^// ---- ([^\n]+)\n(.*?)(?=^// ---- |^// clang-format on)", rows, re.M | re.S):
            names = re.findall(r'^(?:INSTRUCTION|ALIAS|LANEWISE|COLLECTIVE)\(\w+, "([^"]+)"', section, re.M)
            names = dict.fromkeys(re.sub(r"\.(clamp|wrap)$", "", name) for name in names)
            lines += [title, ": " + " ".join(f"`{name}`" for name in names), ""]
        text = self.read(ROOT / "common" / "simgpu" / "ptx" / "opcodes.cpp")
        missing = re.search(r"kHardwareOnly\[\] = \{(.*?)\};", text, re.S).group(1)
        lines += ["Left out, and named if you use them", ": " + " ".join(f"`{one}`" for one in re.findall(STRING, missing)), ""]
        return self.parsed("\n".join(lines))


class Goals(LabDirective):
    """```{goals} 3```: a lab's goals, and what its solution counts, from what capture.py wrote. One row per goal: where
    it is judged first, which is where the solution fills its tiles."""

    required_arguments = 1

    def run(self):
        number = self.arguments[0]
        if not any(ROOT.glob(f"lab{number}_*")):
            return []
        rows, seen = [], set()
        for goal in json.loads(self.read(DOCS / "transcripts" / f"lab{number}-goals.json")):
            if (goal["stage"], goal["key"]) in seen:
                continue
            seen.add((goal["stage"], goal["key"]))
            at = "×".join(str(extent) for extent in goal["at"])
            note = ", a note" if goal.get("advice") else ""
            rows.append(f"<tr><td>{escape(goal['stage'])}</td><th scope='row'>{escape(goal['what'])}<br><code>{escape(goal['key'])}</code> "
                        f"<span class='at'>{at} {escape(goal['type'])}{note}</span></th><td class='number'>{grouped(goal['measured'])}</td><td class='number'>{grouped(goal['bound'])}</td></tr>")
        return [raw(f'<div class="table-box" tabindex="0" role="region" aria-label="Goals of lab {number}"><table class="made"><thead><tr><th>stage</th><th>counted, its key, and where</th>'
                    '<th class="number">solution</th><th class="number">at most</th></tr></thead><tbody>' + "".join(rows) + "</tbody></table></div>")]


def grouped(number):
    return f"{number:,.0f}".replace(",", "\u202f")


class Points(LabDirective):
    """```{points}```: all stages with their points."""

    def run(self):
        rows = []
        for file in sorted(ROOT.glob("lab[0-9]*_*/lab.toml")):
            lab = tomllib.loads(self.read(file))
            core = sum(s["points"] for s in lab["stage"] if not s.get("kind") == "bonus")
            rows.append(f"<tr><th scope='row'>{lab['id']} {escape(lab['title'])}</th><td class='number'>{len(lab['stage'])}</td>"
                        f"<td class='number'>{core}</td><td class='number'>{sum(s['points'] for s in lab['stage']) - core}</td></tr>")
        return [raw('<div class="table-box" tabindex="0" role="region" aria-label="Points"><table class="made"><thead><tr><th>lab</th><th class="number">stages</th>'
                    '<th class="number">points</th><th class="number">bonus</th></tr></thead><tbody>' + "".join(rows) + "</tbody></table></div>")]


def setup(app):
    for name, directive in {"make-targets": Make, "diagnoses": Messages, "opcodes": Opcodes, "goals": Goals, "points": Points}.items():
        app.add_directive(name, directive)
    app.add_role("diag", diag_role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
