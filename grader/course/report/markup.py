"""How values become text in a page: whatever a student wrote stands in it as text, and nothing else."""
import html
import re


def harmless(value):
    """Control, invisible and reordering characters as they are written in code; line breaks and tabs stay."""
    return "".join(c if c in "\t\n" or (c.isprintable() and c not in "\u200e\u200f") else f"\\u{ord(c):04x}" for c in str(value))


def text(value):
    return html.escape(harmless(value))


def sentence(value):
    """A text in which numbers of several groups of digits stay on one line. Not for code."""
    return re.sub(r"(?<=[0-9]) (?=[0-9]{3}(?![0-9]))", "\u00a0", text(value))


def line(value):
    return text(str(value).replace("\n", " "))


def grouped(value):
    """16 777 216"""
    return f"{value or 0:,.0f}".replace(",", "\u00a0")


def plain(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shape(at):
    """256×256×256, or 256³ in short."""
    return f"{at[0]}³" if len(set(at)) == 1 else "×".join(map(str, at))


def bar(parts, total):
    """parts: (class, count). Widths in per cent of total."""
    cells = "".join(f'<i class="{kind}" style="width:{100 * count / total:.2f}%"></i>' for kind, count in parts if count)
    return f'<div class="bar" aria-hidden="true">{cells}</div>'


def button(tag, words):
    """Lists the students with this tag, on the page of the class."""
    return f'<button class="link" type="button" data-tag="{text(tag)}">{text(words)}</button>'
