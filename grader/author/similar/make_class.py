"""A class of which it is known who copied from whom, made from the labs' alternatives and mutants.

    make_class.py FOLDER [--students 60] [--copies 20] [--seed 1]

Each original writes every lab with other changes to the master, as many of its alternatives and mutants as go together (2
to 5). What brings more than a few lines goes to one original only: two who wrote it alike, word for word, would rightly be
called alike, and the truth of this class would be wrong. Each copy takes an original of its own and disguises it: other names for variables, functions in another order,
other or no comments, another layout, or all of that; some copy three labs of five and write the others themselves.
FOLDER/truth.json holds the pairs."""
import argparse
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../course/similar"))
import winnow  # noqa: E402

MOST_SHARED_LINES = 4  # new ones of an edit that several originals may have made

EDIT = re.compile(r"^<<<<<<<\n(.*?)^=======\n(.*?)^>>>>>>>$", re.MULTILINE | re.DOTALL)


def edits_of(lab):
    """(file, [(from, to), ...]) of each alternative and mutant: the format is in grader/author/mutants/mutant.hpp."""
    found = []
    first = sorted(os.listdir(os.path.join(lab, "solution")))[0]
    for kind in ("alternatives", "mutants"):
        folder = os.path.join(lab, kind)
        for name in sorted(os.listdir(folder)):
            if not name.endswith((".alternative", ".mutant")):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as text:
                content = text.read()
            file = re.search(r"^# file: (\S+)", content, re.MULTILINE)
            default = "wmma.cu" if os.path.exists(os.path.join(lab, "solution", "wmma.cu")) else first
            found.append((file[1] if file else default, EDIT.findall(content)))
    return found


def apply(master, edits):
    for old, new in edits:
        if not old.strip() or master.count(old) != 1:
            return None
        master = master.replace(old, new)
    return master


def new_lines(changes):
    return sum(len(set(new.split("\n")) - set(old.split("\n"))) for old, new in changes)


def write_original(labs, rng):
    """Takes the large edits that it makes out of `labs`."""
    files = {}
    for lab, (masters, edits) in labs.items():
        texts = dict(masters)
        wanted, done = rng.randint(2, 5), 0
        for edit in rng.sample(edits, len(edits)):
            file, changes = edit
            changed = apply(texts[file], changes)
            if changed and done < wanted:
                texts[file] = changed
                done += 1
                if new_lines(changes) > MOST_SHARED_LINES:
                    edits.remove(edit)
        files.update({f"{lab}/{name}": text for name, text in texts.items()})
    return files


def solved(files):
    """Without the markers: what a student has. (`skeleton solve` refuses a master whose markers a mutant broke.)"""
    out = {}
    for name, text in files.items():
        text = re.sub(r"(?ms)^ *// >>> skeleton.*?// <<< skeleton\n", "", text)
        out[name] = re.sub(r"(?m)^ *// (?:>>>|<<<) \w+.*\n", "", text)
    return out


# ---- disguises
def rename(text, rng):
    """Each name that is declared here gets another one."""
    names = set(re.findall(r"\b(?:int|float|T|In|Out|auto|unsigned|double|bool|size_t)\s*[*&]?\s*(?:const\s+)?([a-z_]\w*)\s*[=;,)\[({]", text))
    names |= set(re.findall(r"\bconstexpr\s+int\s+([A-Za-z_]\w*)", text))
    names -= winnow.KEPT | set(re.findall(r"void (\w+)\(", text))
    new = {name: "".join(rng.choice("aeioubcdfgklmnprst") for _ in range(rng.randint(3, 9))) + "_" for name in sorted(names)}
    return re.sub(r"(?<![.\w])[A-Za-z_]\w*", lambda match: new.get(match[0], match[0]), text)


def without_comments(text, rng):
    text = re.sub(r"(?m)^\s*//.*\n", lambda match: rng.choice(["", "", "  // " + rng.choice(
        ["here we go", "load the next part", "sum it up", "important!"]) + "\n"]), text)
    return re.sub(r"\s*//[^\n]*", "", text) if rng.random() < 0.5 else text


def moved(text, rng):
    """Top-level pieces in another order, the head stays."""
    pieces = re.split(r"(?m)(?<=^}\n)\n*", text)
    head, rest = pieces[0], pieces[1:]
    rng.shuffle(rest)
    return "\n".join([head, *rest])


def relaid(text, rng):
    text = re.sub(r"(?m)^( +)", lambda match: match[1] * 2, text)
    text = text.replace(") {\n", ")\n{\n") if rng.random() < 0.7 else text
    return re.sub(r"\+\+(\w+)\)", r"\1++)", text)


def disguise(files, rng):
    kinds = rng.choice([(rename,), (without_comments,), (moved,), (relaid,), (rename, without_comments, moved, relaid)])
    out = {}
    for name, text in files.items():
        for kind in kinds:
            text = kind(text, rng)
        out[name] = text
    return out, [kind.__name__ for kind in kinds]


def make(folder, students, copies, seed):
    rng = random.Random(seed)
    labs = {}
    for lab in sorted(name for name in os.listdir(".") if re.fullmatch(r"lab\d+_\w+", name)):
        masters = {}
        for name in sorted(os.listdir(os.path.join(lab, "solution"))):
            with open(os.path.join(lab, "solution", name), encoding="utf-8") as text:
                masters[name] = text.read()
        labs[lab] = (masters, edits_of(lab))
    os.makedirs(folder, exist_ok=True)
    originals = [write_original(labs, rng) for _ in range(students - copies)]
    truth = []
    everybody = [(f"s{i:02d}", solved(files)) for i, files in enumerate(originals)]
    for i, source in enumerate(rng.sample(range(len(originals)), copies)):
        copied, kinds = disguise(everybody[source][1], rng)
        partly = i % 4 == 3
        if partly:
            own = solved(write_original(labs, rng))
            kept = set(rng.sample(sorted(labs), len(labs) - 2))
            copied = {name: text if name.split("/")[0] in kept else own[name] for name, text in copied.items()}
        who = f"c{i:02d}"
        everybody.append((who, copied))
        truth.append({"copy": who, "of": everybody[source][0], "how": kinds + (["three labs of five"] if partly else [])})
    for who, files in everybody:
        for name, text in files.items():
            path = os.path.join(folder, "class", who, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
    with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as out:
        json.dump(truth, out, indent=1)


def main():
    parser = argparse.ArgumentParser(description="A class with known copies.")
    parser.add_argument("folder")
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    make(options.folder, options.students, options.copies, options.seed)


if __name__ == "__main__":
    main()
