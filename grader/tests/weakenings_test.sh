#!/bin/bash
# A grader weakened on purpose must be found out: in a copy of the tree, one edit at a time makes it blind in one respect;
# the mutant named beside it must then no longer get its verdict. Skipped where the mutants are not (handouts).
here=$(dirname "$0")
# shellcheck source=grader/tests/shell.bash
. "$here/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
copy=$scratch/tree
mkdir -p "$copy"
git ls-files -z | xargs -0 cp -p --parents -t "$copy" || exit 3 # with its dates: nothing is to be built but what is edited
mkdir -p "$copy/build"
cp -a "$build"/{bin,flags,lib,obj} "$copy/build/" && { [ ! -d "$build/headers" ] || cp -a "$build/headers" "$copy/build/"; } || exit 3
cd "$copy" || exit 3
unset BUILD
make=${MAKE:-make}

# weakened WHAT FILE OLD NEW MUTANT: with OLD (once in FILE, letter for letter) replaced by NEW, MUTANT's verdict changes.
weakened() {
    local what=$1 file=$2 mutant=$5
    cp -p "$file" "$scratch/kept" || exit 3
    if ! OLD=$3 NEW=$4 perl -0pi -e 'my ($o, $n) = @ENV{"OLD", "NEW"}; $c += s/\Q$o\E/$n/; END { $? = $c ? 0 : 1 }' "$file"; then
        bad "$what" "the edit no longer applies to $file: $3"
        cp -p "$scratch/kept" "$file"
        return
    fi
    touch "$file"
    if ! "$make" -s -j2 BUILD=build build/bin/grader build/bin/measure >"$scratch/log" 2>&1; then
        bad "$what" "does not compile" "$(tail -n 5 "$scratch/log")"
    elif build/bin/measure mutants --only "$mutant" >"$scratch/log" 2>&1; then
        bad "$what" "$mutant still gets its verdict" "$(tail -n 4 "$scratch/log")"
    elif ! grep -q "$mutant" "$scratch/log"; then
        bad "$what" "$mutant was not tried" "$(tail -n 4 "$scratch/log")"
    else
        good "$what: $mutant notices"
    fi
    cp -p "$scratch/kept" "$file"
    touch "$file"
}

judged=common/reference.cpp
cases=grader/judge/cases.cpp
weakened "the gate inverted" $judged 'if (!(error <= allowed)) {' 'if (error <= allowed) {' alternatives/blocks-of-16x16
weakened "a thousand times the tolerance" $judged 'allowed = units * unit;' 'allowed = 1000 * units * unit;' L5-05-half-accumulators
weakened "square sizes only" $cases '  return list;
}

Inputs make_inputs' '  for (Case& c : list) c.extents.n = c.extents.k = c.extents.m;
  return list;
}

Inputs make_inputs' L1-08-extents-swapped
weakened "output not poisoned, and no second run over old content" $cases 'inputs::poison_all(c);
    if (before == Before::garbage) {' 'inputs::integers(c, random_a, 0, 0);
    if (false) {' G03-accumulates
weakened "goals always met" grader/judge/stage.cpp 'result.met = result.measured <= result.bound;' 'result.met = true;' L1-01-x-along-rows.mutant
weakened "races not looked for" grader/judge/worker.cpp 'launch.checks.memory = true;' 'launch.checks.race = false;' L3-01-first-barrier
weakened "uninitialised reads not looked for" grader/judge/worker.cpp 'launch.checks.memory = true;' 'launch.checks.init = false;' L3-11-half-a-tile
weakened "barriers not looked at" grader/judge/worker.cpp 'launch.checks.memory = true;' 'launch.checks.barrier = false;' L3-03-barrier-in-if-rows
