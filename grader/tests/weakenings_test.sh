#!/bin/bash
# A grader weakened on purpose must be found out: made blind in one respect, it no longer gives the mutant named beside it
# its verdict, which it does otherwise. A copy of the tree gets a grader in which each edit is both there and not, as a
# file decides when it runs: what students use pays nothing for that, and it is built once.
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

# The file that says which weakening is on. Not an environment variable: judges start with a minimal environment.
chosen=$scratch/chosen
: >"$chosen"
cat >weakened.hpp <<HPP
#pragma once
#include <fstream>
#include <string>
inline bool weakened(const std::string& name) {
  static const std::string on = [] {
    std::ifstream file("$chosen");
    std::string line;
    std::getline(file, line);
    return line;
  }();
  return on == name;
}
HPP

names=()
mutants=()
edited=()
# weaken NAME FILE OLD NEW MUTANT: FILE gets NEW in place of OLD (letter for letter, once in FILE) while NAME is chosen.
# WEAKENED in NEW stands for the question whether it is. Without it, OLD and NEW are statements, and one of them is done.
weaken() {
    local name=$1 file=$2
    if ! NAME=$name OLD=$3 NEW=$4 perl -0pi -e '
        my ($name, $old, $new) = @ENV{"NAME", "OLD", "NEW"};
        my $asked = "weakened(\"$name\")";
        $new = "if ($asked) { $new } else { $old }" unless $new =~ s/WEAKENED/$asked/g;
        $c += s/\Q$old\E/$new/; END { $? = $c == 1 ? 0 : 1 }' "$file"; then
        bad "$name" "the edit no longer applies to $file: $3"
        return
    fi
    names+=("$name")
    mutants+=("$5")
    edited+=("$file")
}

judged=common/reference.cpp
cases=grader/judge/cases.cpp
worker=grader/judge/worker.cpp
weaken "the gate inverted" $judged 'if (!(error <= allowed)) ++' 'if (WEAKENED ? error <= allowed : !(error <= allowed)) ++' alternatives/blocks-of-16x16
weaken "a thousand times the tolerance" $judged '? units * unit :' '? (WEAKENED ? 1000 : 1) * units * unit :' L5-05-half-accumulators
weaken "square sizes only" $cases '  return list;
}

namespace {' '  if (WEAKENED) for (Case& c : list) c.extents.n = c.extents.k = c.extents.m;
  return list;
}

namespace {' L1-08-extents-swapped
weaken "output not poisoned, and no second run over old content" $cases 'inputs::poison_all(c);
  if (before == Before::garbage) ' 'const bool blind = WEAKENED;
  if (blind) inputs::integers(c, random_a, 0, 0); else inputs::poison_all(c);
  if (!blind && before == Before::garbage) ' G03-accumulates
weaken "goals always met" grader/judge/stage.cpp 'result.met = result.measured <= result.bound;' 'result.met = true;' L1-01-x-along-rows.mutant
for check in "races race L3-01-first-barrier" "uninitialised-reads init L3-11-half-a-tile" "barriers barrier L3-03-barrier-in-if-rows"; do
    read -r what flag mutant <<<"$check"
    weaken "$what not looked for" $worker 'launch.checks.memory = true;' "launch.checks.memory = true;
    if (WEAKENED) launch.checks.$flag = false;" "$mutant"
done

while IFS= read -r file; do sed -i '1i#include "weakened.hpp"' "$file"; done < <(printf '%s\n' "${edited[@]}" | sort -u)
if ! "$make" -s -j2 BUILD=build build/bin/grader >"$scratch/log" 2>&1; then
    bad "a grader with every weakening in it" "does not compile" "$(tail -n 5 "$scratch/log")"
    exit 1
fi
verdict() { build/bin/measure mutants --only "$1" >"$scratch/log" 2>&1; }
for i in "${!names[@]}"; do
    name=${names[i]} mutant=${mutants[i]}
    : >"$chosen"
    if ! verdict "$mutant"; then
        bad "$name" "$mutant gets another verdict from a grader that is not weakened" "$(tail -n 4 "$scratch/log")"
        continue
    fi
    echo "$name" >"$chosen"
    if verdict "$mutant"; then
        bad "$name" "$mutant still gets its verdict" "$(tail -n 4 "$scratch/log")"
    elif ! grep -q "^FAILED .* expected: " "$scratch/log"; then
        bad "$name" "$mutant was not tried" "$(tail -n 4 "$scratch/log")"
    else
        good "$name: $mutant notices"
    fi
done
