#!/bin/bash
# What course staff do: skeletons, reset, handout, solution branch. Works in a copy of the last commit; needs BUILD
# (where the program `skeleton` is).
# shellcheck disable=SC2016
# shellcheck disable=SC2086
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
SKELETON=$build/bin/skeleton
export SKELETON
[ -x "$SKELETON" ] || { bad "no $SKELETON: make BUILD='$build' '$SKELETON'"; exit 1; }
numbers=$(for lab in lab[0-9]*_*; do n=${lab%%_*}; echo "${n#lab}"; done | sort -n | tr '\n' ' ')
numbers=${numbers% }

# ---- the skeletons in the tree are what the masters give
holds "every skeleton is what its master gives" env BUILD="$build" bash grader/author/skeleton/skeletons.sh --check
for lab in lab[0-9]*_*; do
    number=${lab%%_*}
    most=15
    [ "${number#lab}" -le 3 ] || most=30
    for master in "$lab"/solution/*.cu; do "$SKELETON" regions "$master"; done >"$scratch/regions"
    doubled=$(cut -d' ' -f1 "$scratch/regions" | sort | uniq -d)
    same "$lab: one TODO for each stage" "" "$(echo $doubled)"
    for skeleton in "$lab"/*.cu; do grep -o 'TODO([^)]*)' "$skeleton"; done | sed 's/TODO(\(.*\))/\1/' | sort >"$scratch/todos"
    same "$lab: and one in the skeletons" "$(sed -n 's/^id = "\(.*\)"$/\1/p' "$lab/lab.toml" | sort | tr '\n' ' ')" "$(tr '\n' ' ' <"$scratch/todos")"
    while read -r stage line size; do
        if [ "$size" -le "$most" ]; then good "$lab: the region of $stage (line $line) has at most $most lines"; else
            bad "$lab: the region of $stage (line $line) has $size lines, at most $most are allowed"
        fi
        if grep -q "^id = \"$stage\"" "$lab/lab.toml"; then good "$lab: stage $stage exists"; else bad "$lab: no stage $stage in lab.toml"; fi
    done <"$scratch/regions"
    holds "$lab has a TODO" test -s "$scratch/regions"
done

# ---- a copy of the last commit to work in
git clone -q --no-hardlinks . "$scratch/author" 2>/dev/null || { bad "cannot clone"; exit 1; }
cd "$scratch/author" || exit 3
export BUILD="$scratch/build"
mkdir "$BUILD"
skeletons() { bash grader/author/skeleton/skeletons.sh "$@"; }
lab=lab1_naive

says "nothing to do in a fresh clone" "$lab/gemm.cu: up to date" skeletons
cp $lab/gemm.cu "$scratch/given"
sed -i 's/You will learn/You shall learn/' $lab/solution/gemm.cu
fails "a changed master is drift" 1 "not what $lab/solution/gemm.cu gives" skeletons --check
says "an untouched skeleton follows its master" "$lab/gemm.cu: written" skeletons
holds "it did" grep -q 'You shall learn' $lab/gemm.cu
sed -i 's/You shall learn/You will see/' $lab/solution/gemm.cu
says "and once more, before any commit" "$lab/gemm.cu: written" skeletons
git commit -qam 'a new master'
git show HEAD~1:./$lab/gemm.cu >$lab/gemm.cu
says "the skeleton of an older master is not an edited one" "$lab/gemm.cu: written" env BUILD="$scratch/otherbuild" bash grader/author/skeleton/skeletons.sh
echo '// my work' >>$lab/gemm.cu
fails "an edited one is not overwritten" 1 "$lab/gemm.cu was edited" skeletons
holds "it is as it was" grep -q 'my work' $lab/gemm.cu
git commit -qam 'work in progress'
fails "committed or not" 1 "$lab/gemm.cu was edited" skeletons
says "FORCE=1 keeps a backup" "backup-1" env FORCE=1 bash grader/author/skeleton/skeletons.sh $lab
holds "which is the edited one" grep -q 'my work' $lab/gemm.cu.backup-1
holds "and writes" bash -c '! grep -q "my work" '$lab/gemm.cu
sed -i '0,/>>> solution/s//>>> solutoin/' $lab/solution/gemm.cu
fails "a broken marker is named with file and line" 1 "$lab/solution/gemm.cu:[0-9]+: looks like a marker" skeletons $lab
git checkout -q $lab/solution/gemm.cu
echo '// second' >>$lab/gemm.cu
says "reset keeps a backup" "$lab/gemm.cu.backup-2" sh grader/scripts/reset.sh $lab
same "and restores" "$("$SKELETON" strip $lab/solution/gemm.cu | cksum)" "$(cksum <$lab/gemm.cu)"
says "a second reset has nothing to do" 'already' sh grader/scripts/reset.sh $lab
git checkout -q . && git reset -q --hard origin/HEAD

# ---- solution text: every line of every region that is not given code somewhere, blanks squeezed
squeeze() { tr -d ' \t\r'; }
for master in lab[0-9]*_*/solution/*.cu; do "$SKELETON" lines "$master"; done | squeeze | sort -u >"$scratch/all_lines"
for master in lab[0-9]*_*/solution/*.cu; do "$SKELETON" strip "$master"; done | squeeze | sort -u >"$scratch/given_lines"
# What any kernel holds gives nothing away: short lines, a barrier, an unroll pragma, a bare loop head over k.
comm -23 "$scratch/all_lines" "$scratch/given_lines" | awk 'length >= 16' |
    grep -vxE '__syncthreads\(\);|#pragmaunroll|//.*|for\(intk=0;k<[A-Za-z_.]*;(\+\+k|k\+\+)\)\{?' >"$scratch/secrets"
holds "there is solution text to look for" test "$(wc -l <"$scratch/secrets")" -ge 10

# leaks REPOSITORY REVISIONS...: lines of solutions in any blob that can be reached, prints them
leaks() {
    local repository=$1
    shift
    git -C "$repository" rev-list --objects "$@" | cut -d' ' -f1 |
        git -C "$repository" cat-file --batch-check='%(objecttype) %(objectname)' | sed -n 's/^blob //p' |
        git -C "$repository" cat-file --batch --buffer | squeeze >"$scratch/blobs"
    grep -nxF -f "$scratch/secrets" "$scratch/blobs" | head -n 5
}
same "the search finds them in the authors' tree" yes "$([ -n "$(leaks . HEAD)" ] && echo yes)"

# ---- handout, here without its tutorial (docs/tests/site_test.sh looks at that)
export DOCS=0
first=${numbers%% *}
handout() { bash grader/course/handout.sh "$@"; }
out="$scratch/hand out"
says "a handout of one lab" "Release lab $first; it holds labs $first$" handout "$out" "$first"
same "is one commit" 1 "$(git -C "$out" rev-list --count HEAD)"
same "with one lab" "lab${first}_" "$(cd "$out" && echo lab*_* | sed 's/_.*/_/')"
holds "on a clean tree" test -z "$(git -C "$out" status --porcelain)"
same "no solution, mutant or alternative in it" "" "$(git -C "$out" ls-files | grep -E '/(solution|mutants|alternatives)/')"
same "no solution text in it" "" "$(leaks "$out" --all)"
# The list names what is there, and what it does not name stays here.
files() { sh grader/course/handout_files.sh "${list:-grader/course/handout.list}" "$@"; }
same "it holds what the list names, its own README and a mark" "$( (files "$first"; echo README.md; echo .handout) | sort)" "$(git -C "$out" ls-files | sort)"
{ cat grader/course/handout.list; echo "docs/no-such-page.md"; echo "grader/no-such-folder/"; } >"$scratch/list"
list=$scratch/list fails "a line of the list that names nothing is an error" 1 'docs/no-such-page.md names no file' files "$first"
list=$scratch/list fails "a folder, too" 1 'grader/no-such-folder/ names no file' files "$first"
files $numbers >"$scratch/listed"
mkdir -p grader/novel
for file in plan.md docs/novel.md grader/novel/tool.cpp grader/scripts/novel.sh mk/novel.mk common/novel.txt "$lab/notes.txt"; do
    echo new >"$file"
    git add "$file"
done
git commit -qm 'new files'
same "a new file is not handed out unless somebody says so" "$(cat "$scratch/listed")" "$(files $numbers)"
git reset -q --hard HEAD~1
same "its skeleton is the skeleton" "$(cksum <"$(echo lab"${first}"_*)/gemm.cu")" "$(cksum <"$(echo "$out/lab${first}"_*)/gemm.cu")"
holds "its README names the lab" grep -q "lab${first}_" "$out/README.md"
holds "and no lab that is not there" bash -c '! grep -oE "lab[0-9]+_[a-z_]+" "$1/README.md" | sort -u | while read -r l; do [ -d "$1/$l" ] || echo "$l"; done | grep .' names "$out"
holds "make help there has no staff targets" bash -c 'cd "$1" && make -s | grep -q "make check" && ! make -s | grep -q handout' help "$out"
fails "SOLUTION=1 there is one clear error" 2 'solutions are not part' make -C "$out" help SOLUTION=1
holds "doctor works there" bash -c 'cd "$1" && make -s doctor' doctor "$out"

echo '// what a student wrote' >>"$(echo "$out/lab${first}"_*)/gemm.cu"
fails "uncommitted changes there are not touched" 3 'uncommitted changes' handout "$out" $numbers
git -C "$out" commit -qam 'a fix by the staff'
before=$(cksum <"$(echo "$out/lab${first}"_*)/gemm.cu")
says "run again with more labs" "it holds labs $numbers$" handout "$out" ${numbers#* }
same "adds one commit" 3 "$(git -C "$out" rev-list --count HEAD)"
same "touches no existing gemm.cu" "$before" "$(cksum <"$(echo "$out/lab${first}"_*)/gemm.cu")"
same "no solution text in any commit" "" "$(leaks "$out" --all)"
says "and again with nothing new" 'up to date' handout "$out" $numbers
same "adds no commit" 3 "$(git -C "$out" rev-list --count HEAD)"
mkdir "$scratch/foreign" && touch "$scratch/foreign/x"
fails "a foreign folder is not touched" 3 'not empty and not a handout' handout "$scratch/foreign" "$first"
fails "OUT is needed" 3 'where to' handout "" "$first"
holds "a handout without the tutorial says so" grep -q 'tutorial is not part of this copy' "$out/README.md"
same "and has no link to it" "" "$(grep -F tutorial/ "$out/README.md")"
# No network and no Sphinx: an index that nobody serves.
fails "where Sphinx cannot be had, the error says what to do" 3 'add DOCS=0' env DOCS=1 VENV="$scratch/no-sphinx" PIP_INDEX_URL=http://127.0.0.1:9 \
    PIP_RETRIES=0 PIP_NO_CACHE_DIR=1 PIP_CONFIG_FILE=/dev/null bash grader/course/handout.sh "$scratch/unbuilt" "$first"
holds "and nothing is written" test ! -e "$scratch/unbuilt"

# ---- a student's reset, from the history
cd "$out" || exit 3
rm -f "$(echo lab"${first}"_*)/gemm.cu"
says "a lost file comes back as it was given out" 'as it was given out' sh grader/scripts/reset.sh "$(echo lab"${first}"_*)"
same "to the letter" "$(cksum <"$scratch/author/$(echo lab"${first}"_*)/gemm.cu")" "$(cksum <"$(echo lab"${first}"_*)/gemm.cu")"
git checkout -q .
cd "$scratch/author" || exit 3

# ---- solution branch
rm -rf "$scratch/course"
handout "$scratch/course" "$first" >/dev/null
solution_branch() { bash grader/course/solution_branch.sh "$@"; }
course=$scratch/course
fails "a solution branch needs a handout" 3 'not a handout' solution_branch "$scratch/foreign"
fails "of labs that are out" 3 "lab 99 is not in" solution_branch "$course" 99
says "the solution of the first lab" "solution/lab$first" solution_branch "$course"
same "one commit on top of the handout" 1 "$(git -C "$course" rev-list --count main..solution)"
same "tagged" "$(git -C "$course" rev-parse solution)" "$(git -C "$course" rev-parse "solution/lab$first")"
same "that changes gemm.cu only" "$(echo lab"${first}"_*)/gemm.cu" "$(git -C "$course" diff --name-only main solution)"
same "the students' branch holds no solution text" "" "$(leaks "$course" main)"
same "and is checked out as before" main "$(git -C "$course" symbolic-ref --short HEAD)"
handout "$course" $numbers >/dev/null
old=$(git -C "$course" rev-parse solution)
holds "after a further release" solution_branch "$course"
holds "nothing published is rewritten" git -C "$course" merge-base --is-ancestor "$old" solution
for number in $numbers; do
    lab=$(echo lab"$number"_*)
    for master in "$lab"/solution/*.cu; do
        same "solution/lab$number holds ${master##*/} of lab $number solved" "$("$SKELETON" solve "$master" | cksum)" \
            "$(git -C "$course" show "solution/lab$number:$lab/${master##*/}" | cksum)"
    done
done
same "one commit per lab" "$(wc -w <<<"$numbers")" "$(git -C "$course" log --format=%s main..solution | grep -c '^Solution of lab')"
same "the branch differs from the handout in the labs' .cu files only" "" "$(git -C "$course" diff --name-only main solution | grep -vE '^lab[0-9]+_[^/]*/[^/]*\.cu$')"
same "no marker is left in it" "" "$(git -C "$course" grep -nE '(>>>|<<<) (solution|skeleton)' solution -- 'lab*')"

# ---- both are what they should be for a student: the solution branch passes, the handout has everything to do. What
# the authors' tree has built already is used again; make sees from the dates that it fits, and builds what does not.
if [ -x "$build/bin/grader" ]; then
    mkdir "$scratch/student-build"
    cp -a "$build"/{obj,lib,bin,flags} "$scratch/student-build/"
    [ ! -d "$build/headers" ] || cp -a "$build/headers" "$scratch/student-build/"
    for branch in solution main; do
        git -C "$course" worktree add -q -f "$scratch/at-$branch" "$branch" 2>/dev/null ||
            git -C "$course" worktree add -q -f --detach "$scratch/at-$branch" "$branch"
        find "$scratch/at-$branch" -type f -exec touch -d 2001-01-01 {} +
    done
    student_make() { make -s -C "$scratch/at-$1" BUILD="$scratch/student-build" DEVICE=sim "${@:2}" </dev/null; }
    says "make check passes on the solution branch" 'next: make submit' student_make solution check
    same "every stage of every lab" "$(grep -ch '^\[\[stage\]\]' lab*/lab.toml | awk '{ n += $1 } END { print n }')" \
        "$(sed -n 's/^\([0-9]*\) of .* stages done.*/\1/p' "$scratch/.out")"
    fails "make check in the handout says what to do first" 2 'not started' student_make main check
    holds "and no stage passes" bash -c '! grep -qE "^[0-9]+\.[0-9]+ .* ok " "$1"' none "$scratch/.out"
    says "make submit packs the labs" 'packed' student_make main submit OUT="$scratch/packed.zip"
    says "make hint works there" '.' student_make main hint STAGE="$first.0"
    fails "the project's own tests are not part of it" 2 "there is no command 'test'" student_make main test
else
    bad "no grader in $build: make check was not tried in the handout"
fi
