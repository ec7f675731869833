"""The tutorial as a site: `make docs` builds it into build/docs, warnings as errors.

What it shows is taken from the repository while it is built: code from the labs, hints from hints.md, what the
terminal prints from docs/transcripts, numbers from docs/results, the reference from the Makefile and the sources.
The directives for that are in docs/_ext.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "CUDA GEMM Lab"
author = "the authors of the CUDA GEMM Lab"
copyright = "the authors of the CUDA GEMM Lab, Apache License 2.0"
language = "en"

extensions = ["myst_parser", "sphinx_copybutton", "labs", "measured", "figures", "sweeps", "bounds", "summit", "reference", "pages", "mathml"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]
nitpicky = True
exclude_patterns = ["results/**", "transcripts/**", "tests/**", "tools/**", "data/**", "widgets/**", "plots/**"]

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
# A summary of each hit would be fetched from its page, which a browser refuses on file://.
html_show_search_summary = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_persistent": [],
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "show_navbar_depth": 2,
    "home_page_in_toc": True,
    "footer_content_items": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

highlight_language = "none"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_exclude = ".linenos, .gp"
copybutton_selector = "div.highlight-console pre"
pygments_style = "a11y-high-contrast-light"

# Scripts of widgets: each defines one custom element.
if any((HERE / "widgets").glob("*.js")):
    html_static_path.append("widgets")
