"""What a page of the class report holds, as a browser's parser reads it: "ok ..." and "FAILED ...: why" lines.

    class_report.py REPORT_FOLDER"""
import html.parser
import pathlib
import sys

ALLOWED = set("""html head meta title style body h1 h2 h3 p span b i ul li nav a section table thead tbody tr th td div button details summary
    form label input select optgroup option output pre code script br""".split())


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.problems, self.scripts, self.open, self.words, self.titles = [], 0, [], [], 0
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"left open: {self.open[-3:]}")

    def handle_starttag(self, tag, attributes):
        if tag not in ALLOWED:
            self.problems.append(f"an element <{tag}>")
        self.scripts += tag == "script"
        self.titles += tag == "title"
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


def main():
    folder, worst = pathlib.Path(sys.argv[1]), {}
    pages = [folder / "index.html", *sorted((folder / "students").glob("*.html"))]
    for path in pages:
        text = path.read_text(encoding="utf-8")
        page = Page(text)
        if page.scripts != (path.name == "index.html") or page.titles != 1:
            page.problems.append(f"{page.scripts} scripts, {page.titles} titles")
        raw = [hex(ord(c)) for c in text if c != "\n" and c != "\t" and not c.isprintable()]
        if raw:
            page.problems.append(f"characters {raw[:3]}")
        if page.problems:
            worst[path.name] = page.problems[:3]
    print(f"ok {len(pages)} pages hold their own elements alone" if not worst else f"FAILED pages hold their own elements alone: {worst}")
    index = Page((folder / "index.html").read_text(encoding="utf-8"))
    shown = "".join(index.words)
    for wanted in ('<script>document.title="owned"</script>', "\\u202egnp.exe", "${title} $body"):
        print(f"ok shown as it was written: {wanted}" if wanted in shown else f"FAILED shown as it was written: {wanted}: not there")


if __name__ == "__main__":
    main()
