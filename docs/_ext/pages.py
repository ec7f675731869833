"""Every page says how long it takes to read; a test holds it to 15 minutes."""

import re

from docutils import nodes
from common import raw

WORDS_PER_MINUTE = 200


def words(doctree):
    """Words of the running text: no code, no terminal, no tables, nothing folded."""
    count = 0
    for node in doctree.findall(nodes.paragraph):
        if not any(isinstance(parent, (nodes.table, nodes.literal_block)) for parent in ancestors(node)):
            count += len(re.findall(r"\w+", node.astext()))
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
    minutes = max(1, round(words(doctree) / WORDS_PER_MINUTE))
    if title is not None:
        title.parent.insert(1, raw(f'<p class="reading-time">{minutes} minute{"" if minutes == 1 else "s"} to read</p>'))


def setup(app):
    app.connect("doctree-read", note_time)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
