#!/bin/bash
# The layers of the simulated GPU point one way: which part may include which. The picture of it is in
# common/simgpu/README.md.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../../grader/tests/shell.bash"

# PART: the parts that it may include. A part is a folder, or a file outside of them without its suffix; wire is
# common/wire, the one thing outside of the simulated GPU.
allowed='
report:
options:         report
half:
float8:          half
instructions:
tensor_map:
ptx:             instructions
memory:
check:           report
count:           report options ptx
exec:            report options half float8 instructions tensor_map ptx memory check count processor
processor:
launch_shape:    options
device:          report options ptx memory check count exec launch_shape loaded
loaded:          report options ptx check exec device
include:
runtime:         device include wire tensor_map
runtime/api:     runtime device include half tensor_map
runtime/local:   runtime device include
runtime/remote:  runtime device include wire
runtime/server:  runtime device report include wire tensor_map
runtime/separate: runtime device include wire
runtime/program: runtime runtime/separate processor wire
'

# violations ALLOWED < "FILE INCLUDED": the lines that go another way. Names are paths from common/simgpu; what includes
# something outside of it is named too.
violations() {
    awk -v allowed="$1" '
        function part(path) {
            if (path ~ /^runtime\/[a-z]+\//) { sub(/^runtime\//, "", path); sub(/\/.*/, "", path); return "runtime/" path }
            if (path ~ /\//) sub(/\/.*/, "", path); else sub(/\..*/, "", path)
            return path
        }
        BEGIN {
            lines = split(allowed, line, "\n")
            for (l = 1; l <= lines; ++l) {
                words = split(line[l], word, " "); from = word[1]; sub(/:$/, "", from); known[from] = 1
                for (w = 2; w <= words; ++w) may[from, word[w]] = 1
            }
        }
        {
            from = part($1)
            sub(/^common\/wire\//, "common/simgpu/wire/", $2)
            if (!(from in known)) { print $1 " belongs to no layer"; next }
            if (sub(/^common\/simgpu\//, "", $2) == 0) { print $1 " includes " $2 ", which is not of the simulated GPU"; next }
            to = part($2)
            if (from != to && !((from, to) in may)) print $1 " includes " $2
        }'
}
includes() { # every "..." include of the engine and of the runtime: FILE INCLUDED
    find common/simgpu -name tests -prune -o -name bench -prune -o \( -name '*.hpp' -o -name '*.cpp' \) -exec grep -HE '^#include "' {} + |
        sed -E 's|^common/simgpu/([^:]*):#include "([^"]*)".*|\1 \2|'
}

holds "there are includes to look at" test "$(includes | wc -l)" -gt 150
same "every include goes down" "" "$(includes | violations "$allowed")"
holds "every part that is named has files" bash -c '
    for part in $(sed -n "s/:.*//p" <<<"$1"); do
        [ -d common/simgpu/"$part" ] || ls common/simgpu/"$part".* >/dev/null 2>&1 || { echo "$part"; exit 1; }
    done' parts "$allowed"

# What the library of the wire may include: itself.
beyond_wire() { grep -v '"common/wire/'; }
same "common/wire includes nothing but itself" "" "$(grep -HE '^#include "' common/wire/* | beyond_wire)"

# The test itself.
same "common/wire with an include of the simulated GPU is seen" 'common/wire/x.hpp:#include "common/simgpu/device.hpp"' \
    "$(beyond_wire <<<'common/wire/x.hpp:#include "common/simgpu/device.hpp"')"
same "the runtime may use the wire" "" "$(violations "$allowed" <<<'runtime/server/x.cpp common/wire/channel.hpp')"
same "the engine may not" "exec/op.hpp includes wire/channel.hpp" "$(violations "$allowed" <<<'exec/op.hpp common/wire/channel.hpp')"
same "an include from count to exec is seen" "count/fold.hpp includes exec/op.hpp" "$(violations "$allowed" <<<'count/fold.hpp common/simgpu/exec/op.hpp')"
same "one upwards too" "exec/op.hpp includes device.hpp" "$(violations "$allowed" <<<'exec/op.hpp common/simgpu/device.hpp')"
same "and one of the grader" "device.cpp includes grader/goals.hpp, which is not of the simulated GPU" \
    "$(violations "$allowed" <<<'device.cpp grader/goals.hpp')"
same "and a new folder that has no place" "jit/x.cpp belongs to no layer" "$(violations "$allowed" <<<'jit/x.cpp common/simgpu/report.hpp')"
