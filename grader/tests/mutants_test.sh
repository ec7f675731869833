#!/bin/bash
# Wrong kernels of the labs are rejected with their diagnosis, other right ones accepted. Prints a table.
#
# All of them under MUTANTS=all (make test-all), and where anything that a verdict depends on differs from the commit
# MUTANTS_SINCE, which is the one before unless it is given. Else, or if all passed on these very sources in this build
# folder already, one per diagnosis and lab.
set -u
build=${BUILD:-build}
passed=$build/tests/mutants.passed # a hash of what verdicts depend on, as it was when all were right

# content: one hash over the labs, the grader's side of a verdict, the simulated GPU and the compiler.
what=(common grader/author/mutants grader/compile grader/diagnose grader/goals.hpp grader/judge grader/labs 'lab[0-9]*')
left_out=(':!common/*tests' ':!common/simgpu/bench' ':!*.md')
files() { git ls-files -z --cached --others --exclude-standard -- "${what[@]}" "${left_out[@]}"; }
content() {
    { files | sort -zu | xargs -0 sha256sum 2>/dev/null; (. grader/scripts/lib.sh && "$CLANG" --version); } | sha256sum | cut -d' ' -f1
}
why_all() { # prints why all are run, or nothing
    local since=${MUTANTS_SINCE:-HEAD~1}
    if [ "${MUTANTS:-}" = all ]; then
        echo "asked for"
    elif [ "$(cat "$passed" 2>/dev/null)" = "$(content)" ]; then
        return
    elif ! git rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1; then
        echo "there is no commit $since here to compare with"
    elif ! git diff --quiet "$since" -- "${what[@]}" "${left_out[@]}" || git status --porcelain -- "${what[@]}" "${left_out[@]}" | grep -q '^??'; then
        echo "what verdicts depend on is not as it was at $(git rev-parse --short "$since")"
    fi
}
why=$(why_all)
if [ -z "$why" ]; then
    echo "a sample; all of them: make test-all, or MUTANTS=all make test ONLY=mutants_test.sh"
    exec "$build/bin/measure" mutants --sample
fi
echo "all mutants: $why"
before=$(content)
"$build/bin/measure" mutants
status=$?
mkdir -p "$build/tests"
[ $status -ne 0 ] || [ "$before" != "$(content)" ] || echo "$before" >"$passed"
exit $status
