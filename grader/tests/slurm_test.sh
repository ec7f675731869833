#!/bin/bash
# make grade ENGINE=slurm on a Slurm of three nodes on this machine: the table of ENGINE=local, whatever dies. A class of 12; of 60
# with MUTANTS=all, as make test-all says it. Needs BUILD, slurm-wlm, munge and root.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
# shellcheck source=grader/tests/slurm.bash
. "$(dirname "$0")/slurm.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
[ -x "$build/bin/grade" ] || { bad "no grade: make BUILD='$build' grade-programs"; exit 1; }
python=${PYTHON:-python3}
chmod 755 "$scratch" # users of boxes have to get in
students=12
[ "${MUTANTS:-}" != all ] || students=60
"$python" -c 'import pathlib, sys
sys.path.insert(0, "grader/tests")
import kill_class
kill_class.submissions(pathlib.Path("."), pathlib.Path(sys.argv[1]), int(sys.argv[2]))' "$scratch/in" $students
grade() { "$build/bin/grade" --root . --build "$build" "$scratch/in" "$@"; }
local_out=$scratch/local out=$scratch/out
# shellcheck disable=SC2120 # `fails` passes them on
on_slurm() { grade --out "$out" --engine slurm --partition lab "$@"; }

if ! PATH=$PATH:/usr/sbin command -v sbatch >/dev/null; then
    fails "without Slurm it is one line" 3 '^error: ENGINE=slurm: Slurm is not installed here' on_slurm
fi
why=$(no_cluster)
if [ -n "$why" ]; then
    echo "left out: grading on a cluster ($why)"
    exit
fi
at_end() { stop_cluster; }
if ! start_cluster "$scratch/cluster"; then
    bad "no cluster came up" "$(tail -n 3 "$scratch"/cluster/log/*.log)"
    exit
fi
fails "an unknown partition is one line" 4 'PARTITION=nowhere: there is no such partition. There are: lab' grade --out "$out" --engine slurm --partition nowhere
fails "what Slurm refuses it says itself" 3 '^error: Slurm refused \(sbatch\): Invalid generic resource' on_slurm --gres telescope:1

holds "the class on this machine alone" grade --out "$local_out"
rm -rf "$out"
mkdir -p "$out"
cp -p "$local_out/secret" "$out/"

# ---- whoever waits is killed, comes again, and a node dies meanwhile
graded() { grep -ho '^s[0-9a-f]*: [A-Z_]*$' "$out"/slurm/task-*.log 2>/dev/null; }
comes() { # SECONDS COMMAND...: until it holds
    local end=$((SECONDS + $1))
    until "${@:2}"; do [ $SECONDS -lt $end ] || return 1; sleep 0.2; done
}
submitted() { grep -q '^job [0-9]* in partition lab' "$scratch/first"; }
some() { [ "$(graded | wc -l)" -ge 3 ]; }
busy() { [ -n "$(squeue -h -t R -w n2 -o %i 2>/dev/null)" ]; }
on_slurm >"$scratch/first" 2>&1 &
first=$!
holds "the job is submitted" comes 60 submitted
pkill -KILL -P $first # the program; what ran it in the background ends with it
wait $first 2>/dev/null
fails "nobody else grades this class meanwhile" 4 '^error: tasks on the cluster grade the class' grade --out "$out"
on_slurm >"$scratch/second" 2>&1 &
second=$!
attached() { grep -q '^tasks on the cluster are at work' "$scratch/second"; }
holds "the same command finds the tasks" comes 60 attached
on_slurm >"$scratch/beside" 2>&1 &
beside=$!
comes 120 some
holds "tasks run on the node that is about to die" comes 60 busy
kill_node n2
holds "its task begins again elsewhere" comes 60 grep -qs 'Requeue\|requeue' "$scratch/cluster/log/slurmctld.log"
wait $second
same "and ends well" 0 $?
wait $beside
same "so did another one, beside it" "0 1" "$? $(grep -c '^tasks on the cluster are at work' "$scratch/beside")"
holds "the table is that of one machine, to the byte" cmp "$local_out/grades.csv" "$out/grades.csv"
same "nobody was graded twice" "" "$(graded | sort | uniq -d)"
holds "the collector made the tables, and the report" grep -q '^report: ' "$out/slurm/collector.log"
says "a node without a task is no trouble: nothing is left to do" 'kept from before' on_slurm
same "and no job was submitted for it" "" "$(squeue -h)"

# ---- a node that is not like the others; what it could not do is done again
"$python" - "$out/slurm/plan.json" <<'END'
import json, sys
plan = json.load(open(sys.argv[1]))
plan["setting"], plan["compiler"] = "other", "clang version 99"
json.dump(plan, open(sys.argv[1], "w"))
END
fails "a node with another compiler grades nobody" 3 'INFRA_ERROR' env SLURM_ARRAY_TASK_ID=0 "$build/bin/grade" --root . --build "$build" --task --out "$out"
holds "and says why" grep -q 'has another compiler than the machine that planned: .* here, clang version 99 there' -r "$out/results"
start_node n2
comes 30 bash -c '[ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = 3 ]'
says "it costs nobody anything: they alone are graded again" '3 submissions in 1 tasks' on_slurm
holds "and the table is the same" cmp "$local_out/grades.csv" "$out/grades.csv"

# ---- tasks that never come to an end
"$python" -c 'import sys; open(sys.argv[1], "a").write("// more\n")' "$scratch/in/s00/lab1_naive/gemm.cu"
scontrol update PartitionName=lab State=DOWN
on_slurm >"$scratch/third" 2>&1 &
third=$!
holds "why tasks wait is said" comes 60 grep -q '^task .* waits: PartitionDown' "$scratch/third"
scancel -u root
wait $third
same "a job that somebody ended loses nobody" "3 1" "$? $(grep -c '^s00,INFRA_ERROR,,' "$out/grades.csv")"
scontrol update PartitionName=lab State=UP
says "the next run does what is left" '1 submissions in 1 tasks' on_slurm --gres gpu:1
same "all of it" "s00,GRADED,25" "$(grep -o '^s00,[A-Z]*,[0-9]*' "$out/grades.csv")"

says "make check works in an allocation" 'score 25/25 points' env -u BUILD srun -p lab --mem=2G make -s check LAB=1 SOLUTION=1 DEVICE=sim BUILD="$build"
