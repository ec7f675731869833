#!/bin/bash
# solution_branch.sh OUT [LAB_NUMBER...]: puts the branch `solution` on top of the handout OUT, one commit and one tag
# (solution/labN) per lab; all released labs if none is named. Run again after a further release it merges the
# students' branch and adds what is new; nothing that was published is rewritten. OUT's checkout is not touched.
# Needs SKELETON (the program).
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../scripts/lib.sh"

out=${1:-}
[ -n "$out" ] || fail "on which handout? make solution-branch OUT=folder"
shift
if ! [ -f "$out/.handout" ] || ! [ -e "$out/.git" ]; then
    fail "'$out' is not a handout; make one: make handout LABS=\"1 2\" OUT='$out'"
fi
base=$(git -C "$out" symbolic-ref -q --short HEAD)
if [ -z "$base" ] || [ "$base" = solution ]; then fail "'$out': check out the students' branch first."; fi
released=$(git -C "$out" show HEAD:.handout | sed -n 's/^labs = //p')
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $released
for number in "$@"; do
    case " $released " in *" $number "*) ;; *) fail "lab $number is not in '$out'; it holds: $released" ;; esac
done

work=$(mktemp -d) || exit 3
tree=$work/tree
cleanup() {
    git -C "$out" worktree remove --force "$tree" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT

identity=()
git -C "$out" config user.email >/dev/null ||
    identity=(-c user.name='CUDA GEMM Lab' -c user.email='handout@localhost')
if git -C "$out" rev-parse -q --verify refs/heads/solution >/dev/null; then
    git -C "$out" worktree add -q "$tree" solution || exit 3
    git -C "$tree" "${identity[@]}" merge -q --no-edit -m "Take over $base" "$base" >/dev/null ||
        fail "the branch solution of '$out' does not merge with $base; resolve that by hand."
else
    git -C "$out" worktree add -q -b solution "$tree" "$base" || exit 3
fi

for number in "$@"; do
    lab=$(echo lab"$number"_*)
    masters=$(git ls-tree --name-only HEAD "$lab/solution/" | grep '\.cu$')
    [ -n "$masters" ] || fail "no solution of lab $number in the last commit."
    for master in $masters; do
        git show "HEAD:./$master" >"$work/master" || fail "no solution of lab $number in the last commit."
        "$SKELETON" solve "$work/master" >"$tree/$lab/${master##*/}" || exit 1
        git -C "$tree" add "$lab/${master##*/}"
    done
    if git -C "$tree" diff --cached --quiet; then
        git -C "$tree" rev-parse -q --verify "refs/tags/solution/lab$number" >/dev/null ||
            git -C "$tree" tag "solution/lab$number"
        continue
    fi
    git -C "$tree" "${identity[@]}" commit -q -m "Solution of lab $number" || exit 3
    git -C "$tree" tag -f "solution/lab$number" >/dev/null
    echo "$out: solution/lab$number"
done
