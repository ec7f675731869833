"""A small pen for the figures: rectangles, words and lines in the colours of palette.py, as an SVG that is light or dark
with the page that shows it. Classes instead of colours: a, b, c, mark and bad are areas with an outline; ta, tb, tc, tmark
and tbad are words; panel, cell and plain are grounds, outline and frame have none."""

import re

import palette

NARROW = 360  # units across a figure for a telephone: 14 units are 12 pixels where the page has 320

AREAS = ("a", "b", "c", "mark", "bad")


def css(colours):
    areas = "".join(f".{x}{{fill:{colours[x + '-fill']};stroke:{colours[x]}}}.t{x}{{fill:{colours[x]}}}.l{x}{{stroke:{colours[x]}}}" for x in AREAS)
    return (
        f".bg{{fill:{colours['bg']}}}.panel{{fill:{colours['panel']};stroke:{colours['muted']}}}"
        f".plain{{fill:{colours['panel']};stroke:{colours['line']}}}.cell{{fill:{colours['cell']};stroke:{colours['line']}}}"
        f"text{{fill:{colours['fg']}}}.tmuted{{fill:{colours['muted']}}}.line{{stroke:{colours['line']}}}"
        f".ink{{stroke:{colours['fg']}}}.muted{{stroke:{colours['muted']}}}"
        f".outline{{fill:none;stroke:{colours['fg']}}}.frame{{fill:none;stroke:{colours['muted']}}}.head{{fill:{colours['fg']}}}" + areas
    )


def escaped(words):
    return str(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Drawing:
    def __init__(self, name, width, height, title, desc):
        self.name, self.width, self.height, self.title, self.desc = name, width, height, title, desc
        self.parts = []
        self.left, self.top = 0, 0

    def at(self, left, top):
        """What is drawn next has its origin there: a panel that stands beside another one or below it."""
        self.left, self.top = left, top

    def moved(self, path):
        """The absolute coordinates of a path, from the panel's origin to the drawing's."""

        def one(found):
            command, numbers = found.groups()
            places = [float(number) for number in numbers.split()]
            offsets = {"M": (self.left, self.top), "L": (self.left, self.top), "H": (self.left,), "V": (self.top,)}[command]
            return command + " ".join(short(place + offset) for place, offset in zip(places, offsets))

        return re.sub(r"([MLHV])([-\d. ]+)", one, path)

    def rect(self, x, y, width, height, kind, stroke=1, radius=0, opacity=1, dash=None):
        extra = f' stroke-width="{short(stroke)}"' if stroke != 1 else ""
        extra += f' rx="{radius}"' if radius else ""
        extra += f' opacity="{short(opacity)}"' if opacity != 1 else ""
        extra += f' stroke-dasharray="{dash}"' if dash else ""
        x, y = x + self.left, y + self.top
        self.parts.append(f'<rect class="{kind}" x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"{extra}/>')

    def grid(self, x, y, columns, rows, size, kind):
        for r in range(rows):
            for c in range(columns):
                self.rect(x + c * size, y + r * size, size, size, kind)

    def text(self, x, y, words, kind="", size=14, anchor="start", bold=False):
        extra = f' class="{kind}"' if kind else ""
        extra += f' font-size="{short(size)}"' if size != 14 else ""
        extra += f' text-anchor="{anchor}"' if anchor != "start" else ""
        extra += ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{short(x + self.left)}" y="{short(y + self.top)}"{extra}>{escaped(words)}</text>')

    def box(self, x, y, width, height, kind, words, size=13, bold=True):
        """A rounded box with words in its middle."""
        self.rect(x, y, width, height, kind, radius=5)
        self.text(x + width / 2, y + height / 2 + size * 0.36, words, size=size, anchor="middle", bold=bold)

    def line(self, path, kind="line", width=1, dash=None, arrow=False):
        extra = f' stroke-width="{short(width)}"' if width != 1 else ""
        extra += f' stroke-dasharray="{dash}"' if dash else ""
        extra += f' marker-end="url(#{self.name}-arrow)"' if arrow else ""
        self.parts.append(f'<path class="{kind}" d="{self.moved(path)}" fill="none"{extra}/>')

    def dot(self, x, y, radius, kind):
        self.parts.append(f'<circle class="{kind}" cx="{short(x + self.left)}" cy="{short(y + self.top)}" r="{short(radius)}"/>')

    def svg(self):
        n = self.name
        arrow = (
            f'<marker id="{n}-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
            '<path class="head" d="M0 0L8 4L0 8z"/></marker>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img" '
            f'aria-labelledby="{n}-t {n}-d" font-family="system-ui, sans-serif" font-size="14">\n'
            f'<title id="{n}-t">{escaped(self.title)}</title>\n<desc id="{n}-d">{escaped(self.desc)}</desc>\n'
            f"<style>{css(palette.LIGHT)}@media (prefers-color-scheme:dark){{{css(palette.DARK)}}}</style>\n<defs>{arrow}</defs>\n"
            f'<rect class="bg" width="{self.width}" height="{self.height}" rx="8"/>\n' + "\n".join(self.parts) + "\n</svg>\n"
        )


def matrices(d, x, y, size, gap=22):
    """A, B and C as panels, A left of C and B above it; returns the corners."""
    corners = {"A": (x, y + size + gap), "B": (x + size + gap, y), "C": (x + size + gap, y + size + gap)}
    for letter, (left, top) in corners.items():
        d.rect(left, top, size, size, "panel")
    return corners


def letters(d, corners):
    """The names of the matrices, in their colours, over whatever was drawn."""
    for letter, (left, top) in corners.items():
        d.text(left + 7, top + 18, letter, "t" + letter.lower(), 15, bold=True)
