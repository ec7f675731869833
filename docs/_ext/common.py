"""What the directives share: where things lie, and how to say that something is not there."""

import html
import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

DOCS = pathlib.Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
AUTHOR_TREE = any(ROOT.glob("lab[0-9]*_*/solution/gemm.cu"))
RESULTS = DOCS / "results"
H200 = RESULTS / "h200"


class LabDirective(Directive):
    """A directive whose content comes from a file of the repository."""

    def read(self, path):
        """The text of a file; the page is built again when it changes."""
        self.state.document.settings.env.note_dependency(str(path))
        try:
            return pathlib.Path(path).read_text(encoding="utf-8")
        except OSError:
            raise self.error(f"{pathlib.Path(path).relative_to(ROOT)} is not there")

    def parsed(self, text):
        """Markdown text as nodes."""
        lines = text.splitlines()
        holder = nodes.container()
        source = self.state_machine.get_source_and_line(self.lineno)[0] or "generated"
        self.state.nested_parse(StringList(lines, source=source), self.content_offset, holder)
        return holder.children


def raw(text):
    return nodes.raw("", text, format="html")


def escape(text):
    return html.escape(str(text), quote=True)


def fold(title, body, kind=""):
    """<details> around nodes."""
    return [raw(f'<details class="fold {kind}"><summary>{title}</summary><div class="fold-body">'), *body, raw("</div></details>")]


def lab_folder(number):
    found = sorted(ROOT.glob(f"lab{number}_*"))
    return found[0] if found else None


def inline(text):
    """Escaped, with `code` as <code>, **words** as <strong> and [words](page.md) as a link."""
    def code(found):
        # A long name may break behind its underscores.
        return f'<code>{found.group(1).replace("_", "_<wbr>")}</code>'

    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", re.sub(r"`([^`]+)`", code, escape(text)))

    def link(found):
        words, page = found.groups()
        # A student's copy may lack a chapter.
        return f'<a href="{page}.html">{words}</a>' if (DOCS / f"{page}.md").is_file() else words

    return re.sub(r"\[([^]]+)\]\(([\w/-]+)\.md\)", link, text)
