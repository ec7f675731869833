#!/bin/bash
# Wrong kernels of the labs are rejected with their diagnosis, other right ones accepted, stages that nobody has begun told as
# such. Prints a table.
#
# All of them under MUTANTS=all (make test-all), and where anything that every verdict depends on differs from the commit
# that grader/scripts/since.sh compares with; all of a lab where only that lab does. Else, or if all passed on these very
# sources in this build folder already, one per diagnosis and lab. MUTANTS=all also judges each mutant in all of its types,
# where else one does that shows what was expected in the first.
set -u
build=${BUILD:-build}
passed=$build/tests/mutants.passed # a hash of what verdicts depend on, as it was when all were right
# shellcheck source=grader/scripts/since.sh
. grader/scripts/since.sh

# What all verdicts depend on, and what those of one lab do; content: one hash over it and the compiler.
grading=(common grader/author/mutants grader/compile grader/diagnose grader/goals.hpp grader/judge grader/labs)
left_out=(':!common/*tests/*' ':!common/simgpu/bench' ':!*.md')
files() { git ls-files -z --cached --others --exclude-standard -- "${grading[@]}" 'lab[0-9]*' "${left_out[@]}"; }
content() {
    { files | sort -zu | xargs -0 sha256sum 2>/dev/null; (. grader/scripts/lib.sh && "$CLANG" --version); } | sha256sum | cut -d' ' -f1
}
why_all() { # prints why all are run, or nothing
    if [ "${MUTANTS:-}" = all ]; then
        echo "asked for"
    elif [ "$(cat "$passed" 2>/dev/null)" = "$(content)" ]; then
        return
    elif [ -z "$since" ]; then
        echo "there is no commit ${SINCE:-} here to compare with"
    elif ! unchanged "$since" "${grading[@]}" "${left_out[@]}"; then
        echo "what verdicts depend on is not as it was at $(git rev-parse --short "$since")"
    fi
}
# The numbers of the labs that are not as they were. None includes from another (grader/tests/includes_test.sh).
changed_labs() {
    local folder number
    [ "$(cat "$passed" 2>/dev/null)" != "$(content)" ] || return
    for folder in lab[0-9]*_*; do
        unchanged "$since" "$folder" ':!*.md' && continue
        number=${folder%%_*}
        echo "${number#lab}"
    done
}
since=$(since_commit)
why=$(why_all)
if [ -z "$why" ]; then
    mapfile -t labs < <(changed_labs)
    echo "a sample${labs[*]:+, and all of what has changed since $(git rev-parse --short "$since"): lab ${labs[*]}}; all of them: make test-all"
    exec "$build/bin/measure" mutants --sample ${labs[0]:+--entire "${labs[@]}"}
fi
echo "all mutants: $why"
before=$(content)
types=()
[ "${MUTANTS:-}" != all ] || types=(--all-types)
"$build/bin/measure" mutants "${types[@]}"
status=$?
mkdir -p "$build/tests"
[ $status -ne 0 ] || [ "$before" != "$(content)" ] || echo "$before" >"$passed"
exit $status
