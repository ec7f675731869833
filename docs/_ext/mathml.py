"""Formulas as MathML, written when the site is built: every browser of today draws it, and nothing is loaded."""

import latex2mathml.converter
from docutils import nodes


def visit_math(self, node):
    self.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def visit_math_block(self, node):
    formula = latex2mathml.converter.convert(node.astext(), display="block")
    self.body.append(f'<div class="formula" tabindex="0" role="region" aria-label="Formula">{formula}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
