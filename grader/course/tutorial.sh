#!/bin/bash
# tutorial.sh STAGE VENV OUT: builds the students' tutorial into the folder OUT, which must not be there. STAGE is the
# handout's own tree: what the pages show of labs, commands and messages comes from it, so a page shows the file as it is
# given out, no lab that is not released, and no command that students do not have. Chapters, what draws them, and what
# they list of the grader's sources come from the last commit. Sphinx is installed into VENV (docs/tools/build.sh). Run
# it where the commit is.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../scripts/lib.sh"
stage=$1
venv=$2
out=$3

work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/site" || exit 3
git archive HEAD docs grader/plots grader/messages.toml common/simgpu/instructions.inc common/simgpu/ptx/opcodes.cpp | tar -x -C "$work/tree" && cp -R "$stage/." "$work/tree/" || fail "cannot put the tutorial's sources together in $work."
# For staff and authors. Chapters of labs that are not out: their pages would speak of files that are not there.
rm -f "$work"/tree/docs/{instructors,architecture}.md
for chapter in "$work"/tree/docs/lab[0-9]*.md; do
    number=${chapter##*/lab}
    compgen -G "$stage/lab${number%%[!0-9]*}_*/lab.toml" >/dev/null || rm -f "$chapter"
done

# What a recorded check names next is the lab after it. Where that one is not out, it is the hand-in, as it is there.
missing=
for number in $(git ls-tree -d --name-only HEAD | sed -n 's/^lab\([0-9]*\)_.*/\1/p'); do
    compgen -G "$stage/lab${number}_*/lab.toml" >/dev/null && continue
    missing="$missing${missing:+|}$number"
    sed -i "s/^next: make check LAB=$number\$/next: make submit/" "$work"/tree/docs/transcripts/*.txt
done

mkdir -p "$venv" && venv=$(cd "$venv" && pwd) || fail "cannot make the folder '$venv'."
(cd "$work/tree" && sh docs/tools/build.sh "$venv" "$work/site/pages") >"$work/log" 2>&1
status=$?
if [ $status -ne 0 ]; then
    cat "$work/log" >&2
    [ $status -ne 3 ] || fail "the tutorial needs Sphinx, which cannot be installed here (see above). Put that right, or make the handout without it: add DOCS=0"
    fail "the tutorial of this handout does not build (see above)."
fi
# No page may name a command that cannot be typed there. (Who measured what by which of the authors' commands it may.)
commands=$(sed -n 's/^\([a-z][a-z-]*\):.* ## .*/\1/p' "$stage/Makefile" "$stage"/mk/*.mk | sort -u | paste -sd'|')
[ -z "$missing" ] || ! named=$(bash "$here/named_labs.sh" "$commands" "$missing" "$work/site/pages") || fail "the tutorial names commands of labs that are not released:
$named"
"$venv/bin/python3" "$work/tree/docs/tools/bundle.py" "$work/site/pages" "$out" >&2 || fail "the tutorial could not be put together (see above)."
