# shellcheck shell=bash
# Sourced: what each long test depends on, as pathspecs of git. In a run of all tests one is left out, if nothing there, nor
# the test, nor anything in $every has changed (grader/scripts/since.sh); tests that are not in this table always run.
# TEST/PART is a part that the test itself leaves out when LEFT_OUT names it. Rather too much is named here than too little:
# what is missing here is not tried when it changes.
#
# "text" in front: a comment counts, too, as pages show it.

# How everything is built and run.
every="Makefile mk grader/scripts grader/tests/shell.bash grader/tests/browser.bash grader/tests/browser.py grader/tests/depends.bash VERSION"

# What `make check` says of a kernel, and `make run` and `make hint`.
check="common lab[0-9]* :(glob)grader/* grader/commands grader/compile grader/diagnose grader/gpu grader/judge grader/labs grader/os
    grader/report :!common/*tests/* :!common/simgpu/bench"
# All that is handed out, or makes what is: everything but the tutorial, tests, and what authors alone have.
handed_out=". :!docs :!*/tests/* :!grader/author :!lab*/mutants/* :!lab*/alternatives/* :!.ci :!.github :!CHANGELOG.md :!CONTRIBUTING.md"
# What stands between any attack and a grade, and what tries that.
attacked="grader/main.cpp grader/goals.hpp grader/operation.hpp grader/standard.hpp grader/verdict.hpp grader/judge grader/os
    grader/tests/hostile grader/tests/hostile_corpus_test.cpp grader/tests/bench.cpp grader/tests/bench.hpp grader/tests/fixtures"

declare -A depends=(
    [simgpu_tests]="common :!*.md"
    [examples_test.sh]="common examples"
    [simcc_test.sh]="common"
    # Attacks on `make grade`, by what they are aimed at: the simulated GPU; what is printed of them; boxes, compilers and
    # runners. No lab takes part in that but one of the tests' own.
    [grader_tests/corpus-engine]="$attacked common grader/diagnose grader/labs :!common/*tests/* :!common/simgpu/bench :!*.md"
    [grader_tests/corpus-pages]="$attacked common/wire grader/messages.* grader/commands grader/course grader/diagnose
        grader/report :!*.md"
    [grader_tests/corpus-boxes]="$attacked common grader/errors.hpp grader/commands grader/compile grader/course grader/gpu
        grader/labs :!common/*tests/* :!common/simgpu/bench :!common/simgpu/count :!common/simgpu/check :!common/simgpu/exec :!*.md"
    [weakenings_test.sh]="$check grader/author :!*.md"
    [kill_test.sh]="$check grader/course grader/tests/kill_class.py :!*.md"
    [slurm_test.sh]="$check grader/course grader/tests/slurm.bash :!*.md"
    [course_test.sh]="$check grader/course :!*.md"
    [similar_test.sh]="lab[0-9]* grader/course/similar grader/author/similar"
    [bench_report_test.sh]="$check grader/bench grader/plots docs/results grader/tests/bench_report.py :!*.md"
    [speed_proof_test.sh]="$check grader/bench grader/plots grader/author docs/results :!*.md"
    [explain_browser_test.sh]="$check grader/explain grader/tests/explain_browser.py :!*.md"
    [staff_test.sh]="$handed_out grader/author"
    [handout_test.sh]="$handed_out"
    [readme_test.sh]="$handed_out docs/results"
    # What chapters show of the terminal. That each is on a page is always looked at.
    [transcripts_test.sh/captures]="$check grader/explain docs/transcripts examples"
    [commands_test.sh]="text . :!*/tests/* :!lab*/mutants/* :!lab*/alternatives/* :!.ci :!.github :!CHANGELOG.md :!CONTRIBUTING.md"
    [widgets_test.sh]="text docs common lab[0-9]* grader :!grader/tests :!grader/course :!common/simgpu/tests"
    # .ci/run builds the site in any case: a marker or a number that is gone is noticed there.
    [site_test.sh]="text docs lab[0-9]* examples common README.md grader/course grader/plots grader/explain :(glob)grader/*"
)

# left_out COMMIT TEST: whether the test, or TEST/PART, need not run.
left_out() {
    [ -n "${depends[$2]:-}" ] || return 1
    local name=${2%/*} file paths
    # A program is made of files that the table names, a script is one.
    file=$(git ls-files -- "*/tests/$name")
    read -r -d '' -a paths <<<"${depends[$2]}"
    # shellcheck disable=SC2086
    unchanged "$1" $every ${file:+"$file"} && unchanged "$1" "${paths[@]}"
}
