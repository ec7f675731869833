#!/usr/bin/env python3
"""bundle.py SITE OUT: what a reader needs of a built site, in as few files as browsers allow that open it by file://.

Pages keep their names. Pictures are put into the page that shows them; style sheets become one file, and so do the scripts that
run at once, those that wait for the page, and the search with its index. Fonts stay files, in one folder. What no page asks for
(source maps, translations, the index of terms) is left out. A link to a file that is not there is an error that names it.
"""

import base64
import graphlib
import pathlib
import re
import shutil
import sys
import urllib.parse

STYLE = re.compile(r'[ \t]*<link\b[^>]*\brel="stylesheet"[^>]*>\n?')
SCRIPT = re.compile(r'[ \t]*<script\b[^>]*\bsrc="[^"]*"[^>]*></script>\n?')
UNUSED = re.compile(r'[ \t]*<link\b[^>]*\brel="(?:preload|index)"[^>]*>\n?')
PICTURE = re.compile(r'(?<=[ <])(src|srcset)="([^":]+\.(?:svg|png))"')
ADDRESS = re.compile(r'\b(?:href|src)="([^"]+)"')
FONT = re.compile(r"url\([\"']?([^)\"':]+\.woff2)[\"']?\)")
SEARCH = ("searchtools.js", "language_data.js", "searchindex.js")
KINDS = {".svg": "image/svg+xml", ".png": "image/png"}
THEIRS, OURS = "_static", "assets"  # the folders of what is no page, in SITE and in OUT


class Bundle:
    def __init__(self, site, out):
        self.site, self.out = site, out
        # genindex has the glossary's terms alone, and the glossary is a page.
        self.pages = {page: page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html"))
                      if THEIRS not in page.relative_to(site).parts and page.name != "genindex.html"}
        self.broken = []

    def local(self, page, address):
        """The file that an address on a page means."""
        path = urllib.parse.unquote(urllib.parse.urlparse(address).path)
        file = (page.parent / path).resolve()
        if not file.is_file() or not file.is_relative_to(self.site):
            self.broken.append(f"{page.relative_to(self.site)}: {address}")
            return None
        return file

    def group(self, page, tag):
        """Which of the bundles a script or style sheet goes into."""
        if tag.lstrip().startswith("<link"):
            return "site.css"
        if urllib.parse.urlparse(ADDRESS.search(tag)[1]).path.rsplit("/", 1)[-1] in SEARCH:
            return "search.js"
        return "after.js" if re.search(r"\bdefer\b", tag) else "site.js"

    def collect(self):
        """What each bundle holds, in an order that is every page's."""
        before = {}  # bundle -> file -> the files that a page has before it
        for page, text in self.pages.items():
            last = {}
            for tag in [found[0] for found in re.finditer(f"{STYLE.pattern}|{SCRIPT.pattern}", text)]:
                file, group = self.local(page, ADDRESS.search(tag)[1]), self.group(page, tag)
                if file:
                    before.setdefault(group, {}).setdefault(file, set()).update({last[group]} if group in last else ())
                    last[group] = file
        return {group: list(graphlib.TopologicalSorter(files).static_order()) for group, files in before.items()}

    def inlined(self, page, found):
        file = self.local(page, found[2])
        if not file:
            return found[0]
        return f'{found[1]}="data:{KINDS[file.suffix]};base64,{base64.b64encode(file.read_bytes()).decode()}"'

    def rewritten(self, page, text):
        """A page that asks for the bundles, each where the first of its parts stood."""
        root = "../" * (len(page.relative_to(self.site).parts) - 1)
        seen = set()

        def once(found):
            group = self.group(page, found[0])
            if group in seen:
                return ""
            seen.add(group)
            name = f"{root}{OURS}/{group}"
            return (f'<link rel="stylesheet" href="{name}">\n' if group.endswith(".css")
                    else f'<script{" defer" if group == "after.js" else ""} src="{name}"></script>\n')

        text = SCRIPT.sub(once, STYLE.sub(once, UNUSED.sub("", text)))
        return PICTURE.sub(lambda found: self.inlined(page, found), text)

    def style(self, file):
        def font(found):
            source = (file.parent / found[1]).resolve()
            shutil.copy(source, self.out / OURS / source.name)
            return f"url({source.name})"

        text = FONT.sub(font, file.read_text(encoding="utf-8"))
        return re.sub(r"/\*# sourceMappingURL=.*?\*/", "", text)

    def write(self):
        (self.out / OURS).mkdir(parents=True)
        for group, files in self.collect().items():
            if group.endswith(".css"):
                text = "\n".join(self.style(file) for file in files)
            else:
                text = "\n;\n".join(re.sub(r"^//# sourceMappingURL=.*\n?", "", file.read_text(encoding="utf-8"), flags=re.M) for file in files)
            (self.out / OURS / group).write_text(text, encoding="utf-8")
        licences = sorted(self.site.rglob("*.LICENSE.txt"))
        (self.out / OURS / "LICENSES.txt").write_text("\n".join(file.read_text(encoding="utf-8") for file in licences), encoding="utf-8")
        for page, text in self.pages.items():
            target = self.out / page.relative_to(self.site)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.rewritten(page, text), encoding="utf-8")
        self.check_links()

    def check_links(self):
        for page in sorted(self.out.rglob("*.html")):
            for address in ADDRESS.findall(page.read_text(encoding="utf-8")):
                parts = urllib.parse.urlparse(address)
                if not parts.scheme and parts.path and not (page.parent / urllib.parse.unquote(parts.path)).is_file():
                    self.broken.append(f"{page.relative_to(self.out)}: {address}")


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    site, out = (pathlib.Path(argument).resolve() for argument in arguments)
    bundle = Bundle(site, out)
    bundle.write()
    if bundle.broken:
        sys.exit("error: the tutorial links to what it does not have:\n  " + "\n  ".join(sorted(set(bundle.broken))))


main(sys.argv[1:])
