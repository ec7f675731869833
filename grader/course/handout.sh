#!/bin/bash
# handout.sh OUT LAB_NUMBER...: makes or extends the students' repository OUT from the last commit here. It holds what
# handout.list names, of the released labs only, and no solution in any file or commit. Labs released before stay
# released; a gemm.cu (or other file made from a master) that is already there is never touched; what changed elsewhere
# comes along. One commit a run, none if nothing changed. The tutorial of these labs is built into tutorial/.
# Needs SKELETON (the program) and VENV (a folder for Sphinx, kept between runs); DOCS=0 makes it without the tutorial.
# PROGRAMS: a folder with the grader and what else students run, built for this kind of machine; they go to
# tools/<machine>/, beside those of other machines. Empty: the handout has their sources (SOURCES=1). GPU=0: see
# handout_files.sh. UNCOMMITTED=1 lets programs of changed files in, for tests.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/../scripts/lib.sh"

docs=${DOCS:-1}
show=1
out=${1:-}
[ -n "$out" ] || fail "where to? make handout LABS=\"1 2\" OUT=folder"
shift
case $SKELETON in /*) ;; *) SKELETON=$PWD/$SKELETON ;; esac # it is called from other folders
git rev-parse -q --verify HEAD >/dev/null 2>&1 || fail "a handout is made from a commit, and this folder is no git repository."
programs=${PROGRAMS:-}
[ -z "$programs" ] || [ "${UNCOMMITTED:-}" = 1 ] || git diff-index --quiet HEAD -- common grader VERSION 'lab*/*.toml' 'lab*/goals.cpp' ||
    fail "a handout's programs and labs have to be of one version, and files that they are made from differ from the last commit." "Commit them, or put them back (git status)."
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
    echo "note: made from the last commit; your uncommitted changes are not in it" >&2

fresh=
if [ ! -e "$out" ] || [ -z "$(ls -A "$out")" ]; then
    fresh=1
elif [ ! -f "$out/.handout" ] || [ ! -e "$out/.git" ]; then
    fail "'$out' is not empty and not a handout."
elif [ "$(git -C "$out" symbolic-ref -q --short HEAD)" = solution ]; then
    fail "'$out' has its branch solution checked out; check out the students' branch first."
elif [ -n "$(git -C "$out" status --porcelain --untracked-files=no)" ]; then
    fail "'$out' has uncommitted changes; commit or discard them first."
fi

released=$*
[ -n "$fresh" ] || released="$released $(sed -n 's/^labs = //p' "$out/.handout")"
# shellcheck disable=SC2086
released=$(printf '%s\n' $released | sort -nu | tr '\n' ' ')
released=${released% }

work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
stage=$work/stage
mkdir "$stage" || exit 3
# shellcheck disable=SC2086
sh "$here/handout_files.sh" "$here/handout.list" $released >"$work/files" || fail "the handout could not be put together; nothing written."
git archive HEAD | tar -x -C "$stage" -T "$work/files" || fail "cannot unpack the last commit."

# ---- what students edit follows from the masters
(
    : >"$work/edited"
    for lab in "$stage"/lab[0-9]*_*; do
        lab=${lab##*/}
        masters=$(git ls-tree --name-only HEAD "$lab/solution/" | grep '\.cu$') || exit 4
        for master in $masters; do
            git show "HEAD:./$master" >"$work/master" || exit 3
            "$SKELETON" strip "$work/master" >"$stage/$lab/${master##*/}" || exit 1
            echo "$lab/${master##*/}" >>"$work/edited"
        done
    done
    printf 'labs = %s\n' "$released" >"$stage/.handout"
    [ -z "$programs" ] || {
        tools=$stage/tools/$(uname -m | sed 's/^arm64$/aarch64/')
        mkdir -p "$tools" && cp "$programs"/{grader,bench,simgpu_device} "$tools/" || exit 3
        # What they were made for: gate.sh looks whether the labs are still these.
        (cd "$stage" && sha256sum lab[0-9]*_*/lab.toml lab[0-9]*_*/goals.cpp) >"$tools/labs" || exit 3
    }
) || fail "the handout could not be put together; nothing written."
[ "$docs" = 0 ] || bash "$here/tutorial.sh" "$stage" "$VENV" "$stage/tutorial" || fail "nothing written."

# A lab's files in the order of its stages; lab.toml names only those that are not called gemm.cu.
files_of() { # LAB
    { echo gemm.cu; sed -n 's/^file = "\(.*\)"/\1/p' "$stage/$1/lab.toml"; } | awk '!seen[$0]++' |
        while IFS= read -r file; do grep -x "$1/$file" "$work/edited"; done
}

# The README from handout_README.md: @LABS@ becomes a row for each lab; what stands between "<!-- NAME" and "-->" stays
# if that is the case.
cases="|$([ -d "$stage/tutorial" ] || echo 'no ')tutorial|$([ -n "$programs" ] || echo 'no ')programs|"
while IFS= read -r line; do
    case $line in
    '<!-- '*) case $cases in *"|${line#<!-- }|"*) ;; *) show= ;; esac ;;
    '-->') show=1 ;;
    @LABS@)
        for lab in "$stage"/lab[0-9]*_*; do
            lab=${lab##*/}
            title=$(sed -n 's/^title = "\(.*\)"/\1/p' "$stage/$lab/lab.toml" | head -n 1)
            chapter=tutorial/${lab%%_*}.html
            [ -f "$stage/$chapter" ] && chapter="[chapter]($chapter)" || chapter=
            # shellcheck disable=SC2016
            printf '| `%s` | %s | %s |\n' "$(files_of "$lab" | paste -sd' ' | sed 's/ /`, `/g')" "$title" "$chapter"
        done
        ;;
    *) [ -z "$show" ] || printf '%s\n' "$line" ;;
    esac
done <"$here/handout_README.md" >"$stage/README.md"

# ---- bring it to OUT
mkdir -p "$out" 2>/dev/null || fail "cannot make the folder '$out'."
if [ -n "$fresh" ]; then git -C "$out" init -q -b main || exit 3; fi
new_labs=
for lab in "$stage"/lab[0-9]*_*; do
    lab=$(basename "$lab")
    if [ ! -f "$out/$lab/lab.toml" ]; then
        number=${lab%%_*}
        new_labs="$new_labs${new_labs:+, }${number#lab}"
    fi
done
while IFS= read -r file; do
    [ ! -f "$out/$file" ] || cp "$out/$file" "$stage/$file" || exit 3
done <"$work/edited"
# What a former handout held and this one does not goes, and so does its tutorial; what the staff added by themselves stays.
if [ -z "$fresh" ]; then
    git -C "$out" ls-files -z | while IFS= read -r -d '' file; do
        [ -e "$stage/$file" ] || [ -z "$(git log -n 1 --format=%H -- "$file")" ] ||
            (cd "$out" && rm -f "$file" && rmdir -p "$(dirname "$file")" 2>/dev/null)
    done
    rm -rf "$out/tutorial"
    [ -n "$programs" ] || rm -rf "$out/tools"
fi
cp -R "$stage/." "$out/" || exit 3
git -C "$out" add -A || exit 3
if git -C "$out" diff --cached --quiet; then
    echo "$out: up to date, labs $released"
    exit 0
fi
if [ -n "$new_labs" ]; then message="Release lab $new_labs"; else message="Update the tools"; fi
identity=()
git -C "$out" config user.email >/dev/null ||
    identity=(-c user.name='CUDA GEMM Lab' -c user.email='handout@localhost')
git -C "$out" "${identity[@]}" commit -q -m "$message" || exit 3
echo "$out: $message; it holds labs $released"
if [ "$docs" = 0 ]; then echo "  without the tutorial (DOCS=0)"; else echo "  the tutorial: $out/tutorial/index.html"; fi
