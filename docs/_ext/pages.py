"""Every page says how long it takes to read, text alone and with its code (tests hold the text to 15 minutes), and has each figure for wide and for narrow
screens."""

import collections
import pathlib
import re
import shutil
import zlib

from docutils import nodes

from common import AUTHOR_TREE, DOCS, ROOT, LabDirective, raw

WORDS_PER_MINUTE = 200
LABS = {folder.name[3:].partition("_")[0] for folder in ROOT.glob("lab[0-9]*_*")}


def words(doctree):
    """Words of the running text: no code, no terminal, no tables, nothing folded."""
    count = folds = 0
    for node in doctree.findall(lambda node: isinstance(node, (nodes.paragraph, nodes.raw))):
        if isinstance(node, nodes.raw):  # fold() opens and closes in a raw node each, and what it folds stands between them
            folds += node.astext().count("<details") - node.astext().count("</details")
        elif not folds and not any(isinstance(parent, (nodes.table, nodes.literal_block)) for parent in ancestors(node)):
            count += len(re.findall(r"\w+", node.astext()))
    return count


def words_with_code(doctree):
    """The same with code, terminal and tables. Nothing folded counts, nor do scripts."""
    count = folds = 0
    for node in doctree.findall(lambda node: isinstance(node, (nodes.paragraph, nodes.literal_block, nodes.raw))):
        text = node.astext()
        if isinstance(node, nodes.raw):
            folds += text.count("<details") - text.count("</details")
            text = re.sub(r"<script.*?</script>|<details.*?</details>|<[^>]*>", " ", text, flags=re.S)
        if not folds:
            count += len(re.findall(r"\w[\w.]*", text))  # a number is one word
    return count


def ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def note_time(app, doctree):
    page = app.env.docname
    if page in ("index",):
        return
    title = next(doctree.findall(nodes.title), None)
    minutes, whole = (max(1, round(count(doctree) / WORDS_PER_MINUTE)) for count in (words, words_with_code))
    more = f", {whole} with its code and tables" if whole > minutes else ""
    if title is not None:
        title.parent.insert(1, raw(f'<p class="reading-time">{minutes} minute{"" if minutes == 1 else "s"} to read{more}</p>'))


BLANKS = re.compile(r'<span class="w">(\s*)</span>')
FIGURE = re.compile(r'<img ([^>]*?)src="([^"]*?_images/)([\w-]+)\.svg"([^>]*?)/?>')


EMPTY_HEAD = re.compile(r'<th(?: class="head")?>(?:<p></p>)?</th>')
REGION = re.compile(r'(role="region" aria-label=")([^"]*)(")')


def told_apart(body):
    """Screen readers list regions by their names: the second "Measurements" of a page is "Measurements 2"."""
    seen = collections.Counter()

    def named(found):
        seen[found[2]] += 1
        return found[1] + found[2] + (f" {seen[found[2]]}" if seen[found[2]] > 1 else "") + found[3]

    return REGION.sub(named, body)


def finish_page(app, page, template, context, doctree):
    """The body as it is written: docs/figures/NAME-narrow.svg, if it is there, in the place of NAME.svg where the window is
    narrow; an empty corner of a table is no head of anything; no two regions have one name."""

    def picture(found):
        before, folder, name, after = found.groups()
        if not (DOCS / "figures" / f"{name}-narrow.svg").is_file():
            return found.group(0)
        return f'<picture><source media="(max-width: 600px)" srcset="{folder}{name}-narrow.svg"><img {before}src="{folder}{name}.svg"{after}></picture>'

    if "body" in context:
        # A blank in code needs no element of its own.
        body = FIGURE.sub(picture, BLANKS.sub(r"\1", context["body"]))
        context["body"] = told_apart(EMPTY_HEAD.sub('<td class="head"></td>', body))


def copy_narrow_figures(app, exception):
    images = pathlib.Path(app.outdir) / "_images"
    if exception is None and app.builder.format == "html" and images.is_dir():
        for figure in (DOCS / "figures").glob("*-narrow.svg"):
            shutil.copy(figure, images)


class Staff(LabDirective):
    """:::{staff} ... :::, what students are not told: their tutorial has neither it nor the pages that it links to."""

    has_content = True

    def run(self):
        return self.parsed("\n".join(self.content)) if AUTHOR_TREE else []


def drop_labs(app, doctree):
    """A section "Lab 4" of a page goes where there is no lab 4 yet."""
    for section in list(doctree.findall(nodes.section)):
        found = re.fullmatch(r"Lab (\d+)", section.next_node(nodes.title).astext())
        if found and found[1] not in LABS:
            section.parent.remove(section)


def text_alone(app, doctree, page):
    """In a student's copy a link to a page that it does not have is its text. In the authors' tree it is an error."""
    if AUTHOR_TREE:
        return
    for link in list(doctree.findall(nodes.reference)):
        if re.match(r"#\S*\.md(#|$)", link.get("refuri", "") or "#" + link.get("refid", "")):
            link.replace_self(link.children)


def setup(app):
    app.add_directive("staff", Staff)
    app.connect("doctree-resolved", text_alone)
    app.connect("doctree-read", drop_labs, priority=100)  # before the table of contents is collected
    app.connect("doctree-read", note_time)
    app.connect("html-page-context", finish_page)
    app.connect("build-finished", copy_narrow_figures)
    # Other directives, or another first page with its list of chapters, make every page another one.
    sources = [*sorted(pathlib.Path(__file__).parent.glob("*.py")), DOCS / "index.md"]
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": zlib.crc32(b"".join(source.read_bytes() for source in sources))}
