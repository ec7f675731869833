# shellcheck shell=bash
# Sourced, in the root of the tree: what need not be tried again, because nothing that it depends on differs from a commit
# whose tests have passed. grader/tests/depends.bash says what that is for each test.

# since_commit: the commit to compare with: SINCE, or where the branch left origin's default branch, or on that itself the
# commit before. Nothing, and with it all is tried, under SINCE=none and where there is no such commit.
since_commit() {
    local base=${SINCE:-}
    [ "$base" != none ] || return 0
    if [ -z "$base" ]; then
        base=$(git merge-base HEAD "$(git rev-parse -q --verify origin/HEAD || echo HEAD)" 2>/dev/null)
        [ "$base" != "$(git rev-parse -q --verify HEAD)" ] || base=HEAD~1
    fi
    git rev-parse -q --verify "$base^{commit}" 2>/dev/null
}

# differing COMMIT PATHSPEC...: the files there that are not as they were, those that are new or gone among them.
differing() {
    local commit=$1
    shift
    git diff --name-only --no-renames "$commit" -- "$@"
    git ls-files --others --exclude-standard -- "$@"
}

# without_comments: C++ from stdin, as far as a program is made of it.
without_comments() {
    # shellcheck disable=SC2086
    ${CXX:-g++} -fpreprocessed -dD -E -P -x c++ - 2>/dev/null
}

# same_code COMMIT FILE: a source of a program in which nothing but comments has changed. Not of a kernel: what is said of
# one has its lines' numbers.
same_code() {
    local before after
    case $2 in
    *.cpp | *.hpp) ;;
    *) return 1 ;;
    esac
    [ -e "$2" ] && before=$(set -o pipefail; git show "$1:$2" 2>/dev/null | without_comments) &&
        after=$(without_comments <"$2") && [ -n "$after" ] && [ "$before" = "$after" ]
}

# unchanged COMMIT PATHSPEC...: whether nothing there differs from COMMIT but comments in C++; behind the word "text", not
# those either.
unchanged() {
    local commit=$1 file comments=1
    shift
    [ "$1" != text ] || { comments=; shift; }
    while IFS= read -r file; do
        [ -n "$comments" ] && same_code "$commit" "$file" || return 1
    done < <(differing "$commit" "$@")
}
