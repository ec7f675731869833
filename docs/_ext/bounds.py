"""Bounds for the reader's own GPU, from arithmetic over docs/data/gpus.json."""

import ast
import json

from common import DOCS, LabDirective, escape, inline, raw
from recorded import shown


def evaluate(expression, names):
    """An arithmetic expression over `names`: numbers, + - * / **, min, max and parentheses."""

    def value(node):
        match node:
            case ast.Expression(body=body):
                return value(body)
            case ast.Constant(value=number) if isinstance(number, (int, float)):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.BinOp(left=left, op=op, right=right):
                a, b = value(left), value(right)
                match op:
                    case ast.Add(): return a + b
                    case ast.Sub(): return a - b
                    case ast.Mult(): return a * b
                    case ast.Div(): return a / b
                    case ast.Pow(): return a**b
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
                return (min if name == "min" else max)(*(value(a) for a in args))
        raise ValueError(f"not arithmetic: {expression}")

    return value(ast.parse(expression, mode="eval"))


class Bounds(LabDirective):
    """```{bounds}
    arithmetic peak, FP32 | sms * lanes * 2 * mhz / 1e6 | TFLOP/s
    ```

    One row per line: label, expression, unit. The page shows the default GPU; in a browser the reader picks another one
    or types in their own, and every box of every page follows. `name = expression` lines define names.
    """

    has_content = True

    def run(self):
        data = json.loads(self.read(DOCS / "data" / "gpus.json"))
        gpu = next(one for one in data["gpus"] if one["name"] == data["default"])
        names = {key: value for key, value in gpu.items() if isinstance(value, (int, float))}
        rows = []
        for line in self.content:
            if "|" not in line:
                name, _, expression = (part.strip() for part in line.partition("="))
                names[name] = evaluate(expression, names)
                rows.append(f'<tr hidden data-name="{escape(name)}" data-formula="{escape(expression)}"></tr>')
                continue
            label, expression, unit = (part.strip() for part in line.split("|"))
            rows.append(f'<tr data-formula="{escape(expression)}"><th scope="row">{inline(label)}</th>'
                        f'<td class="number"><span class="value">{shown(evaluate(expression, names))}</span> {escape(unit)}</td></tr>')
        table = json.dumps(data["gpus"])
        return [raw(f'<div class="bounds" data-default="{escape(data["default"])}"><script type="application/json">{table}</script>'
                    f'<div class="bounds-gpu"><span class="bounds-title">The bound, for <span class="gpu-name">{escape(data["default"])}</span></span></div>'
                    f'<table class="made"><tbody>{"".join(rows)}</tbody></table>'
                    f'<p class="provenance">{escape(data["source"])}</p></div>')]


def setup(app):
    app.add_directive("bounds", Bounds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
