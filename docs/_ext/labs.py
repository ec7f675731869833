"""What a chapter shows of its lab: transcripts, hints, stages, and boxes to fold and to predict in."""

import json
import re
import tomllib

from docutils import nodes
from docutils.parsers.rst import directives

from bounds import evaluate
from common import DOCS, H200, ROOT, LabDirective, escape, fold, inline, lab_folder, raw
from figures import bench_number, bench_words
from recorded import Bench, results


# A word that a verdict consists of, and the class that colours it. The word itself says the same.
VERDICTS = {"ok": "good", "FAIL": "bad", "not started": "open", "locked": "open", "skipped": "open"}


def terminal(text):
    """What a terminal printed, the command and the verdicts marked up."""
    lines = []
    for line in text.rstrip("\n").split("\n"):
        shown = escape(line)
        if line.startswith("$ "):
            shown = f'<span class="prompt" aria-hidden="true">$ </span><span class="typed">{escape(line[2:])}</span>'
        elif line.startswith("next: "):
            shown = f'<span class="next">{shown}</span>'
        else:
            found = re.match(r"^([\w.]+ .*? )(ok|FAIL|not started|locked|skipped)( .*)$", line)
            if found and re.match(r"^\d\.\d", line):
                before, word, after = (escape(part) for part in found.groups())
                shown = f'{before}<span class="{VERDICTS[word]}">{word}</span>{after}'
            elif line.rstrip().endswith(" *"):
                shown = f'<span class="bad">{shown}</span>'
        lines.append(shown)
    return "\n".join(lines)


class Transcript(LabDirective):
    """```{transcript} lab1-skeleton```: docs/transcripts/lab1-skeleton.txt, which capture.py wrote.

    :only: lab 4   shows the part of that chapter (a line "gemm-lab check · lab4...") alone
    :fold: TITLE   folds it under a title
    """

    required_arguments = 1
    option_spec = {"fold": directives.unchanged}

    def run(self):
        text = self.read(DOCS / "transcripts" / f"{self.arguments[0]}.txt")
        name = re.search(r"^\$ (.*)$", text, re.M)
        label = escape(name.group(1) if name else self.arguments[0])
        shown = raw(f'<div class="terminal"><pre tabindex="0" role="region" aria-label="Terminal: {label}">{terminal(text)}</pre></div>')
        if "fold" in self.options:
            return fold(inline(self.options["fold"]), [shown])
        return [shown]


def hints_of(text, stage):
    """The hints of a stage, one string per level, from the text of a hints.md."""
    part = re.search(rf"^## {re.escape(stage)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return [] if not part else [level.strip("\n") for level in re.split(r"^### \d+\n", part.group(1), flags=re.M)[1:]]


class Hints(LabDirective):
    """```{hints} 1.1```: the three levels of `make hint STAGE=1.1`, each folded."""

    required_arguments = 1

    def run(self):
        stage = self.arguments[0]
        folder = lab_folder(stage.split(".")[0])
        levels = hints_of(self.read(folder / "hints.md"), stage)
        if not levels:
            raise self.error(f"{folder.name}/hints.md has no hints for stage {stage}")
        result = [raw(f'<div class="hints" role="group" aria-label="Hints for stage {stage}">')]
        for number, level in enumerate(levels, 1):
            result += fold(f"Hint {number} of {len(levels)} for {stage}", self.parsed(level), "hint")
        return [*result, raw("</div>")]


class Fold(LabDirective):
    """:::{fold} Title ... :::

    :answer:   what a stage asks for stands in it: it is not printed either
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {"answer": directives.flag}

    def run(self):
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return fold(inline(self.arguments[0]), holder.children, "answer" if "answer" in self.options else "")


def coded(text):
    """A line as HTML, with `code` marked up."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


class Predict(LabDirective):
    """:::{predict} Question
    :stage: 1.1
    :unit: sectors
    :answer: 524288
    The answer's explanation.
    :::

    A number is compared with what the reader typed, and kept in the browser. The answer and its explanation appear when a number
    was typed; without scripts they are folded. The answer must be one that a
    transcript or result shows: :from: names it, and the build fails if the number does not stand there. With
    ":from: bench gemm_tiled float 4096 ms" the answer may be left out: it is what bench.json has. ":derived: 128 * 64 * 2 / 1024"
    computes it. {bench} works in the question too, and so does code between backquotes.

    ":choices: the new element | the old one | nobody knows" asks for one of these instead of a number; the answer is one of them.
    :stage: names the stage whose idea is asked for: tests want a prediction for each stage of labs 4 and 5.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {"unit": directives.unchanged, "answer": directives.unchanged_required, "from": directives.unchanged,
                   "derived": directives.unchanged_required, "choices": directives.unchanged_required, "stage": directives.unchanged_required}

    def run(self):
        question = re.sub(r"\{bench\}`([^`]+)`", lambda found: self.measured(found.group(1)), self.arguments[0])
        answer = self.answer()
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        unit = escape(self.options.get("unit", ""))
        stage = f' data-stage="{escape(self.options["stage"])}"' if "stage" in self.options else ""
        key = "p-" + nodes.make_id(question)
        if "choices" in self.options:
            choices = [choice.strip() for choice in self.options["choices"].split("|")]
            if answer not in choices:
                raise self.error(f"'{answer}' is none of the choices")
            right = choices.index(answer)
            asked = (f'<fieldset><legend>{coded(question)}</legend>' +
                     "".join(f'<label><input type="radio" name="{key}" value="{i}"> <span>{coded(choice)}</span></label>' for i, choice in enumerate(choices)) +
                     '</fieldset><span class="predict-row"><button type="submit">Compare</button></span><output></output>')
        else:
            right = escape(answer.replace(" ", ""))
            asked = (f'<label for="{key}">{coded(question)}</label>'
                     f'<span class="predict-row"><input id="{key}" inputmode="decimal" autocomplete="off"> <span>{unit}</span> '
                     f'<button type="submit">Compare</button></span><output for="{key}"></output>')
        return [
            raw(f'<form class="predict" data-answer="{right}" data-unit="{unit}"{stage}><p class="predict-title">Predict</p>{asked}'),
            *fold("Answer", [raw(f"<p><strong>{coded(answer)} {unit}</strong></p>"), *holder.children]), raw("</form>")]

    def answer(self):
        """What :answer: says, after it was found where :from: or :derived: say that it comes from."""
        source, answer = self.options.get("from", ""), self.options.get("answer")
        if "derived" in self.options:
            derived = f"{evaluate(self.options['derived'], {}):g}"
            if answer not in (None, derived):
                raise self.error(f"{self.options['derived']} is {derived}, not {answer}")
            return derived
        if answer is None:
            return self.measured(source.removeprefix("bench ")).split(" ")[0]
        if source.startswith("bench "):
            self.read(H200 / "bench.json")
            digits = len(answer.partition(".")[2])
            value = bench_number(source.removeprefix("bench "))
            if value is None or f"{value:.{digits}f}" != answer:
                raise self.error(f"{source} is {value}, not {answer}")
        elif source:
            shown = self.read(DOCS / "transcripts" / f"{source}.txt")
            if not re.search(rf"(?<!\d){re.escape(answer)}(?!\d)", shown.replace("\u202f", " ")):
                raise self.error(f"{source} does not show {answer}")
        return answer

    def measured(self, words):
        """What {bench} shows."""
        self.read(H200 / "bench.json")
        try:
            return bench_words(words)
        except (ValueError, KeyError, IndexError, TypeError):
            raise self.error(f"bench.json has no '{words}'")


class Stages(LabDirective):
    """```{stages} 1```: the stages of a lab from its lab.toml."""

    required_arguments = 1

    def run(self):
        folder = lab_folder(self.arguments[0])
        lab = tomllib.loads(self.read(folder / "lab.toml"))
        rows = [
            f"<tr><td>{escape(s['id'])}</td><th scope='row'>{escape(s['title'])}{' (bonus)' if s.get('kind') == 'bonus' else ''}"
            f"<br><code>{escape(s['rung'])}</code></th><td>{escape(', '.join(s.get('needs', [])) or '–')}</td>"
            f"<td class='number'>{s['points']}</td></tr>" for s in lab["stage"]]
        return [raw('<div class="table-box" tabindex="0" role="region" aria-label="Stages"><table class="made"><thead><tr><th>stage</th><th>title and rung</th>'
                    '<th>needs</th><th class="number">points</th></tr></thead><tbody>' + "".join(rows) + "</tbody></table></div>")]


class Widget(LabDirective):
    """```{widget} bank-explorer```: a custom element of docs/widgets.

    :attributes: become the element's; the content is what stands there without scripts. :recorded: gives it the speeds of
    docs/results/h200/bench.json, each with the operations per byte that counts.json has for its kernel.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"attributes": directives.unchanged, "label": directives.unchanged, "recorded": directives.flag}

    def run(self):
        tag = self.arguments[0]
        script = DOCS / "widgets" / f"{tag}.js"
        if not script.is_file():
            raise self.error(f"there is no docs/widgets/{tag}.js")
        extra = self.options.get("attributes", "")
        if "label" in self.options:
            extra += f' aria-label="{escape(self.options["label"])}"'
        if "recorded" in self.options:
            bench, counts = (self.read(H200 / name) for name in ("bench.json", "counts.json"))
            extra += " recorded='" + json.dumps(recorded_points(bench, counts), separators=(",", ":")).replace("&", "&amp;").replace("'", "&#39;") + "'"
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return [raw(f'<figure class="widget"><{tag} {extra}>'), *holder.children, raw(f"</{tag}></figure>")]


def recorded_points(bench, counts):
    """What <roofline-chart recorded> reads: squares of a power of two in floating point."""
    bench, counts, records = Bench(bench), results.parse(counts, "counts.json", "counts"), []
    asked = {}
    for (rung, math, n), one in sorted(bench.records.items(), key=lambda item: (item[0][2], item[1].get("lab", 9))):
        if math == "int32" or n & (n - 1):
            continue
        if n not in asked:
            asked[n] = results.intensities(counts, n)
        record = {"rung": rung, "math": math, "type": one.get("type", math), "n": n, "tflops": float(f"{one['tflops']:.4g}")}
        if (rung, one.get("type")) in asked[n]:
            record["intensity"] = float(f"{asked[n][rung, one['type']]:.4g}")
        records.append(record)
    return {"gpu": bench.machine["gpu"], "records": records}


def load_widgets(app, page, template, context, doctree):
    """The scripts of the widgets that a page has, and what they share."""
    folder = DOCS / "widgets"
    tags = [script.stem for script in sorted(folder.glob("*-*.js")) if f"<{script.stem} " in context.get("body", "")]
    if tags:
        app.add_css_file("widgets.css")
        for name in ("common", *tags):
            app.add_js_file(f"{name}.js")


def setup(app):
    app.connect("html-page-context", load_widgets)
    for name, directive in {"transcript": Transcript, "hints": Hints, "fold": Fold, "predict": Predict, "stages": Stages,
                            "widget": Widget}.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
