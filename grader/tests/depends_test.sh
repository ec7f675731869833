#!/bin/bash
# What a run of all tests may leave out: since.sh sees every change but one of a comment, test.sh obeys it, and the table of
# what tests depend on names nothing that is not there.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
# shellcheck source=grader/scripts/since.sh
. grader/scripts/since.sh
# shellcheck source=grader/tests/depends.bash
. "$(dirname "$0")/depends.bash"
root=$PWD
unset SINCE LEFT_OUT CHANGED

# ---- the table
for name in "${!depends[@]}"; do
    test=${name%/*}
    case $test in
    *_tests) holds "$name is a test" grep -qF "$test" mk/tests.mk ;;
    *) holds "$name is a test" test "$(git ls-files -- "*/tests/$test" | wc -l)" = 1 ;;
    esac
    [ "$test" = "$name" ] || holds "$test can leave it out" grep -qF "LEFT_OUT" "$(git ls-files -- "*/tests/$test" 'grader/tests/hostile_corpus_test.cpp' | head -n 1)"
    read -r -d '' -a paths <<<"$every ${depends[$name]#text }"
    lost=$(for path in "${paths[@]}"; do
        [[ $path = ':!'* ]] || [ -n "$(git ls-files --cached --others --exclude-standard -- "$path" | head -n 1)" ] || echo "$path"
    done)
    same "what it depends on is there" "" "$lost"
done

# ---- what counts as a change
copy=$scratch/copy
mkdir -p "$copy/grader/scripts" "$copy/grader/tests" "$copy/engine" && cd "$copy" || exit 3
cp "$root"/grader/scripts/{since,test}.sh grader/scripts/
printf 'int f() {\n  return 1;  // one\n}\n' >engine/f.cpp
printf '__global__ void f() {}  // nothing\n' >engine/f.cu
for name in engine_test other_test; do
    printf '#!/bin/bash\necho "got:$LEFT_OUT"\necho "1 passed, 0 failed"\n' >"grader/tests/$name.sh"
done
cat >grader/tests/depends.bash <<'TABLE'
every="grader/scripts grader/tests/depends.bash"
declare -A depends=([engine_test.sh]="engine" [other_test.sh/half]="engine")
TABLE
sed -n '/^left_out()/,$p' "$root/grader/tests/depends.bash" >>grader/tests/depends.bash
git init -q . && git add . && git commit -q -m one && git commit -q --allow-empty -m two || exit 3
all() { CHANGED=1 bash grader/scripts/test.sh grader/tests/*_test.sh; }
back() { git checkout -q . && git clean -fdq; }
runs() { fails "$1" 0 '^2 passed, 0 failed' all; back; }
leaves() { fails "$1" 0 '^1 passed, 0 failed' all; back; }

leaves "nothing has changed"
says "what is left out is said" '^same  engine_test.sh  *nothing .* since [0-9a-f]{9}$' all
says "a part, too" '^same  other_test.sh/half ' all
says "and the test is told so" 'got: half$' bash -c 'sed -i "s/1 passed, 0/0 passed, 1/" grader/tests/other_test.sh; git commit -qam three; git commit -q --allow-empty -m four; CHANGED=1 bash grader/scripts/test.sh grader/tests/*_test.sh; true'
git reset -q --hard HEAD~2
says "without CHANGED all is run" '^2 passed' bash grader/scripts/test.sh grader/tests/engine_test.sh grader/tests/other_test.sh
says "with SINCE=none as well" '^2 passed' env SINCE=none CHANGED=1 bash grader/scripts/test.sh grader/tests/engine_test.sh grader/tests/other_test.sh
says "and where there is no such commit" '^2 passed' env SINCE=nonesuch CHANGED=1 bash grader/scripts/test.sh grader/tests/engine_test.sh grader/tests/other_test.sh
sed -i 's/return 1/return 2/' engine/f.cpp
runs "a line of code"
sed -i 's,// one,// the first,' engine/f.cpp
leaves "a comment in C++ makes no other program"
sed -i 's,// nothing,// nothing else,' engine/f.cu
runs "but in a kernel it counts"
sed -i 's,// one,\\,' engine/f.cpp
printf '#error\n' >>engine/f.cpp
runs "code behind a comment that was"
: >engine/new.cpp
runs "a new file"
rm engine/f.cpp
runs "one that is gone"
mkdir -p more && git mv engine/f.cpp more/f.cpp
runs "one that was moved"
git reset -q --hard
echo >>grader/tests/engine_test.sh
runs "the test itself"
echo >>grader/scripts/since.sh
runs "how tests are run"
echo >README.md
leaves "a file that it does not depend on"
sed -i 's,// one,// the first,' engine/f.cpp
CXX=$scratch/no-such-compiler runs "without a compiler every change counts"
sed -i 's/"engine"/"text engine"/' grader/tests/depends.bash && git commit -qam text && git commit -q --allow-empty -m more
sed -i 's,// one,// the first,' engine/f.cpp
runs "where pages show the source a comment counts"
sed -i 's/return 1/return 2/' engine/f.cpp
git commit -qam code
runs "the commit before, on the default branch"
git update-ref refs/remotes/origin/HEAD HEAD~3
git commit -q --allow-empty -m later
runs "on a branch, where it left that"
says "or the one that is named" '^1 passed' env SINCE=HEAD~1 CHANGED=1 bash grader/scripts/test.sh grader/tests/engine_test.sh grader/tests/other_test.sh
cd "$root" || exit 3
