#!/bin/bash
# The Colab notebook is a notebook (version 4.5's required fields), its shell commands exist, and it says its limits.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
notebook=docs/colab.ipynb

same "structure as nbformat 4.5 asks" "" "$(python3 - $notebook <<'CHECK'
import ast, json, re, sys

book = json.load(open(sys.argv[1], encoding="utf-8"))
assert book["nbformat"] == 4 and book["nbformat_minor"] >= 5, "version"
assert set(book) == {"cells", "metadata", "nbformat", "nbformat_minor"}, "keys"
assert book["metadata"]["kernelspec"]["name"] == "python3", "kernel"
ids = [cell["id"] for cell in book["cells"]]
assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", i) for i in ids), "ids"
for cell in book["cells"]:
    assert cell["cell_type"] in ("markdown", "code"), cell["id"]
    assert isinstance(cell["source"], list) and all(isinstance(line, str) for line in cell["source"]), cell["id"]
    assert all(line.endswith("\n") for line in cell["source"][:-1]), cell["id"] + ": lines"
    wanted = {"cell_type", "id", "metadata", "source"}
    if cell["cell_type"] == "code":
        wanted |= {"outputs", "execution_count"}
        assert cell["outputs"] == [] and cell["execution_count"] is None, cell["id"] + ": outputs are committed"
        # What is Python must be Python: shell lines and magics become `pass` at their indentation.
        ast.parse(re.sub(r"(?m)^(\s*)[!%].*$", r"\1pass", "".join(cell["source"])))
    assert set(cell) == wanted, cell["id"]
CHECK
)"

commands() { jq -r '.cells[] | select(.cell_type == "code") | .source | join("")' $notebook | sed -n 's/^ *!//p'; }
# make -n: the target and every setting are known; nothing is built.
while IFS= read -r command; do
    target=$(awk '{ print $2 }' <<<"$command")
    holds "$command: the target exists" bash -c 'make -s -p -q help 2>/dev/null | grep -q "^$1:"' rule "$target"
    # shellcheck disable=SC2086
    holds "$command: so do its settings" make -n help ${command#make "$target"}
done < <(commands | grep '^make ' | sort -u)
for lab in 1 2 3 4; do
    for target in check sweep; do
        same "lab $lab: make $target" 1 "$(commands | grep -c "^make $target LAB=$lab")"
    done
done
prose=$(jq -r '.cells[] | select(.cell_type == "markdown") | .source | join("")' $notebook)
for limit in 'BF16' 'TF32' '[Pp]rofiler' 'Sessions end' 'FP64 is slow' 'T4'; do
    holds "it says its limit: $limit" grep -qE "$limit" <<<"$prose"
done
