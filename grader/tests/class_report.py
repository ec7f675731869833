"""What a page of the class report holds, as a browser's parser reads it: "ok ..." and "FAILED ...: why" lines.

    class_report.py REPORT_FOLDER"""
import html.parser
import json
import pathlib
import sys

ALLOWED = set("""html head meta title style body h1 h2 h3 p span b i ul li nav a section table thead tbody tr th td div button details summary
    form label input select optgroup option output pre code script br svg path""".split())


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.problems, self.scripts, self.open, self.words, self.titles = [], 0, [], [], 0
        self.bars, self.ids, self.links = {}, set(), set()
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"left open: {self.open[-3:]}")

    def handle_starttag(self, tag, attributes):
        if tag not in ALLOWED:
            self.problems.append(f"an element <{tag}>")
        self.scripts += tag == "script"
        self.titles += tag == "title"
        here = dict(attributes)
        if tag == "path":
            self.bars[here["class"]] = self.bars.get(here["class"], 0) + here["d"].count("z")
        self.ids.add(here.get("id"))
        self.links.update(filter(None, [here.get("href")]))
        for name, value in attributes:
            if name.startswith("on") or name == "src" or (name == "href" and not (value or "").startswith(("#", "students/"))):
                self.problems.append(f"an attribute {name}={value}")
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        self.words.append(data)


def bars_wanted(grades):
    """From the records themselves: pass, fail, and what is neither."""
    count = {"pass": 0, "fail": 0, "unclear": 0}
    for path in (grades / "results").glob("*.json"):
        for lab in json.loads(path.read_text(encoding="utf-8"))["labs"]:
            for stage in lab["stages"]:
                for goal in stage.get("gpu", {}).get("speed", []):
                    if goal["verdict"] != "not_measured":
                        count["unclear" if goal["suspect"] or goal["verdict"] == "inconclusive" else goal["verdict"]] += 1
    return count


def main():
    folder, worst = pathlib.Path(sys.argv[1]), {}
    pages = [folder / "index.html", *sorted((folder / "students").glob("*.html"))]
    for path in pages:
        text = path.read_text(encoding="utf-8")
        page = Page(text)
        if page.scripts != (path.name == "index.html") or page.titles != 1:
            page.problems.append(f"{page.scripts} scripts, {page.titles} titles")
        if nowhere := [link for link in page.links if link[0] == "#" and link[1:] not in page.ids]:
            page.problems.append(f"links to {nowhere[:3]}, which are not there")
        raw = [hex(ord(c)) for c in text if c != "\n" and c != "\t" and not c.isprintable()]
        if raw:
            page.problems.append(f"characters {raw[:3]}")
        if page.problems:
            worst[path.name] = page.problems[:3]
    print(f"ok {len(pages)} pages hold their own elements alone" if not worst else f"FAILED pages hold their own elements alone: {len(worst)} do not: {list(worst.items())[:3]}")
    index = Page((folder / "index.html").read_text(encoding="utf-8"))
    shown = "".join(index.words)
    wanted = bars_wanted(folder.parent)
    print("ok a bar for each submission that was measured" if {kind: index.bars.get(kind, 0) for kind in wanted} == wanted
          else f"FAILED a bar for each submission that was measured: {index.bars}, not {wanted}")
    print("ok speed is shown where there is some" if ("speed" in index.ids) == any(wanted.values()) else "FAILED speed is shown where there is some: it is not so")
    for wanted in ('<script>document.title="owned"</script>', "\\u202egnp.exe", "${title} $body"):
        print(f"ok shown as it was written: {wanted}" if wanted in shown else f"FAILED shown as it was written: {wanted}: not there")


if __name__ == "__main__":
    main()
