"""make similar: which submissions are alike, as pages with both sides marked.

    similar.py COLLECTED OUT [--previous COLLECTED] [--skeletons ROOT]

COLLECTED is what `grade --collect` wrote. Prints the list; OUT/index.html and OUT/pair-N.html show it."""
import argparse
import html
import json
import os
import sys
from string import Template

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_PAGES = 100


def read(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        return text.read()


def fill(name, **gaps):
    return Template(read(os.path.join(HERE, name))).substitute(gaps)


def page(title, body):
    return fill("page.html", title=html.escape(title), style=read(os.path.join(HERE, "page.css")), body=body)


def submissions_in(folder):
    """id -> {file: text}, id -> name."""
    with open(os.path.join(folder, "intake.json"), encoding="utf-8") as text:
        students = json.load(text)["students"]
    files, names = {}, {}
    for one in students:
        files[one["id"]] = {file: read(os.path.join(folder, one["folder"], file)) for file in one["origins"]}
        names[one["id"]] = one["name"]
    return files, names


def harmless(text):
    """Control, invisible and reordering characters as they are written in code."""
    return "".join(c if c == "\t" or (c.isprintable() and c not in "\u200e\u200f") else f"\\u{ord(c):04x}" for c in text)


def passages(places, hashes, weight):
    """line -> strength 1 to 3, and line -> hash that begins there, of one side."""
    heaviest = max(weight[value] for value in hashes)
    marks, begins = {}, {}
    for value in hashes:
        strength = 1 + min(2, int(3 * weight[value] / heaviest)) if heaviest else 1
        for first, last in places[value]:
            begins.setdefault(first, value)
            for line in range(first, last + 1):
                marks[line] = max(marks.get(line, 0), strength)
    # A link where a marked block begins; the block before it has ended.
    return marks, {line: value for line, value in begins.items() if line - 1 not in marks}


def numbered(one, other):
    """Hash -> number, of the passages that begin a block on either side."""
    wanted = [*dict.fromkeys([*one.values(), *other.values()])]
    return {value: number for number, value in enumerate(wanted, 1)}


def side(title, text, marks, anchors, here, there):
    """anchors: line -> numbers of passages."""
    lines = []
    for at, line in enumerate(text.split("\n"), 1):
        links = "".join(f'<a id="{here}{number}" href="#{there}{number}">{number}</a>' for number in anchors.get(at, [])[:1])
        links += "".join(f'<i id="{here}{number}"></i>' for number in anchors.get(at, [])[1:])
        mark = f' class="m{marks[at]}"' if at in marks else ""
        lines.append(f"<span{mark}>{links}{html.escape(harmless(line)) or ' '}</span>")
    return f'<div class="side"><h3>{html.escape(harmless(title))}</h3><pre>{"".join(lines)}</pre></div>'


def pair_page(pair, submissions, prints, weights, called):
    parts = []
    for index, file in enumerate(sorted(pair.files, key=lambda name: -sum(weights[name][v] for v in pair.files[name]))):
        found = {who: passages(prints[file][who], pair.files[file], weights[file]) for who in (pair.one, pair.other)}
        number = numbered(found[pair.one][1], found[pair.other][1])
        sides = []
        for who, here, there in ((pair.one, "a", "b"), (pair.other, "b", "a")):
            anchors = {}
            for value, count in number.items():
                anchors.setdefault(prints[file][who][value][0][0], []).append(count)
            sides.append(side(called(who), submissions[who][file], found[who][0], anchors, f"{here}{index}-", f"{there}{index}-"))
        parts.append(f'<h2>{html.escape(file)}</h2><div class="sides">{"".join(sides)}</div>')
    title = f"{called(pair.one)} and {called(pair.other)}"
    body = fill("pair.html", one=html.escape(called(pair.one)), other=html.escape(called(pair.other)),
                score=f"{100 * pair.score:.0f} %", files="".join(parts))
    return page(title, body)


def write(out, pairs, same, submissions, prints, weights, names, count, previous_count):
    def called(who):
        return harmless(f"{names[who]} ({who})" if names.get(who) else who)

    os.makedirs(out, exist_ok=True)
    for name in os.listdir(out):  # of an earlier run
        if name.startswith("pair-"):
            os.remove(os.path.join(out, name))
    rows = []
    for number, pair in enumerate(pairs[:MOST_PAGES], 1):
        with open(os.path.join(out, f"pair-{number}.html"), "w", encoding="utf-8") as text:
            text.write(pair_page(pair, submissions, prints, weights, called))
        where = ", ".join(sorted(pair.files))
        rows.append(f'<tr><td><a href="pair-{number}.html">{100 * pair.score:.0f} %</a></td><td>{html.escape(called(pair.one))}</td>'
                    f"<td>{html.escape(called(pair.other))}</td><td>{sum(len(v) for v in pair.files.values())}</td><td>{html.escape(where)}</td></tr>")
    rest = f"<p>{len(pairs) - MOST_PAGES} more pairs are less alike.</p>" if len(pairs) > MOST_PAGES else ""
    previous = f" and {previous_count} of earlier terms" if previous_count else ""
    copies = [f"<tr><td>{html.escape(file)}</td><td>{html.escape(', '.join(map(called, who)))}</td></tr>" for file, who in same]
    body = fill("list.html", count=count, copies="\n".join(copies) or '<tr><td colspan="2">None.</td></tr>', previous=previous, pairs=len(pairs), rest=rest,
                rows="\n".join(rows) or '<tr><td colspan="5">Nobody.</td></tr>')
    with open(os.path.join(out, "index.html"), "w", encoding="utf-8") as text:
        text.write(page("Alike submissions", body))
    print("Pairs that share what the class does not. A list for a person: it accuses nobody.")
    for file, who in same:
        print(f"the same text: {harmless(file)}: {', '.join(map(called, who))}")
    listed = [pair for pair in pairs if pair.score >= compare.LISTED_SCORE]
    for pair in listed:
        print(f"{100 * pair.score:4.0f} %  {called(pair.one)}  {called(pair.other)}")
    if not listed:
        print(f"none is alike by {100 * compare.LISTED_SCORE:.0f} % or more")
    print(f"written: {os.path.join(out, 'index.html')} ({len(pairs)} pairs)")


def main():
    parser = argparse.ArgumentParser(description="Which submissions are alike.")
    parser.add_argument("collected")
    parser.add_argument("out")
    parser.add_argument("--previous")
    parser.add_argument("--skeletons", default=".")
    options = parser.parse_args()
    try:
        run(options)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}. The folders must be what make collect wrote, and OUT one that can be written to")


def run(options):
    submissions, names = submissions_in(options.collected)
    count = len(submissions)
    earlier = {}
    if options.previous:
        before, before_names = submissions_in(options.previous)
        # Those of an earlier term are called so: the same id may be in both.
        earlier = {f"earlier: {who}": files for who, files in before.items()}
        names.update({f"earlier: {who}": name for who, name in before_names.items()})
        submissions.update(earlier)
    skeletons = {}
    for files in submissions.values():
        for file in files:
            path = os.path.join(options.skeletons, file)
            if file not in skeletons and os.path.exists(path):
                skeletons[file] = [read(path)]
    pairs, prints, weights = compare.compare(submissions, skeletons, frozenset(earlier))
    same = compare.identical(submissions, skeletons, frozenset(earlier))
    write(options.out, pairs, same, submissions, prints, weights, names, count, len(earlier))


if __name__ == "__main__":
    main()
