#!/bin/bash
# make grade DEVICE=gpu without a GPU: which verdicts are kept, measured again, and left to a person. Programs on PATH stand for
# the driver and nvcc; the grader judges on the simulated GPU, and what it then says of the real one is written in a plan.
# What the judge really does on a GPU is measured on one (docs/results). Needs BUILD.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
[ -x "$build/bin/grade" ] || { bad "no grade: make BUILD='$build' grade-programs"; exit 1; }
stand_in=$scratch/stand-in
out=$scratch/out
mkdir -p "$stand_in" "$scratch"/plan "$scratch"/bin
cp "$build"/bin/{grade,box_init,unpack} "$scratch/bin"
program() { cat >"$1" && chmod 755 "$1"; }
program "$stand_in/nvidia-smi" <<'END'
#!/bin/sh
case "$*" in
*--query-gpu*) printf '%s\n' '0, NVIDIA H200, GPU-1, 9.0, 580.1, 143771, 512' '1, NVIDIA H200, GPU-2, 9.0, 580.1, 143771, 512' ;;
*) echo 'Driver Version: 580.1  CUDA Version: 13.0' ;;
esac
END
program "$stand_in/nvcc" <<'END'
#!/bin/sh
case "$*" in
--version) echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
*) echo sm_90 ;;
esac
END
# plan/NAME: what stage 1.2 gets on the GPU at each attempt, the last of it for ever; log/NAME: which GPUs were used.
mkdir "$scratch/log"
{ echo "#!/usr/bin/env ${PYTHON:-python3}"; echo "SCRATCH, GRADER = '$scratch', '$build/bin/grader'"; cat <<'END'; } | program "$scratch/bin/grader"
import json, os, pathlib, re, subprocess, sys, time
arguments = [a for a in sys.argv[1:] if a != "--hostile"]
device = arguments[arguments.index("--device") + 1]
arguments[arguments.index("--device") + 1] = "sim"
sources = pathlib.Path(arguments[arguments.index("--sources") + 1])
name = re.search(r"// by (\w+)", (sources / "lab1_naive/gemm.cu").read_text()).group(1)
stage = arguments[arguments.index("--stage") + 1] if "--stage" in arguments else "all"
judged = pathlib.Path(SCRATCH, "judged-" + stage)  # they all hand in the same
if not judged.exists():
    of_lab_1 = ["--lab", "1"] if stage == "all" else []
    subprocess.run([GRADER] + arguments + of_lab_1, stdout=open(f"{judged}.{os.getpid()}", "w"), pass_fds=(3,))
    os.rename(f"{judged}.{os.getpid()}", judged)
if device == "sim":
    sys.stdout.write(judged.read_text())
    sys.exit(0)
log = pathlib.Path(SCRATCH, "log", name)
gpu = os.environ["CUDA_VISIBLE_DEVICES"]
with open(log, "a") as lines:
    lines.write(gpu + "\n")
plan = pathlib.Path(SCRATCH, "plan", name).read_text().split()
what = plan[min(len(log.read_text().split()), len(plan)) - 1]
if what == "dies":
    sys.exit("error: DEVICE=gpu: the GPU is gone")
if what == "hangs":
    time.sleep(600)
result = json.loads(judged.read_text())
result["gpu"] = {"name": "NVIDIA H200", "uuid": gpu}
for stage in (s for lab in result["labs"] for s in lab["stages"] if s["state"] == "passed"):
    measured = stage["id"] == "1.2" and what not in ("infra", "silent")
    speed = {"type": "float", "verdict": what, "reason": "the machine was too noisy", "suspect": [], "ratio": 0.3, "bar": 0.29}
    state = "infra" if what == "infra" else "failed" if what == "fail" and measured else "passed"
    stage["gpu"] = {"state": state, "inconclusive": measured and what == "inconclusive", "verdict": "ACCEPTED", "headline": "the GPU fell off the bus",
                    "details": [], "speed": [speed] if measured else []}
print(json.dumps(result))
END
plan() { # NAME WHAT...: hands a solution in, and says what the GPU makes of it
    mkdir -p "$scratch/in/$1/lab1_naive"
    { echo "// by $1"; cat lab1_naive/solution/gemm.cu; } >"$scratch/in/$1/lab1_naive/gemm.cu"
    echo "${@:2}" >"$scratch/plan/$1"
}
printf 'speed = "bonus"\n[speed_points]\n"1.2" = 3\n' >"$scratch/course.toml"
grade() { PATH=$stand_in:$PATH NVCC=$stand_in/nvcc "$scratch/bin/grade" --root . --build "$build" --unsafe --course "$scratch/course.toml" --out "$out" "$@"; }
bonus() { sed -n '2,$s/^\([^,]*\),\([^,]*\),[^,]*,\([^,]*\),.*/\1 \3/p' "$out/grades.csv" | tr '\n' ' '; }
attempts() { tr '\n' ' ' <"$scratch/log/$1"; }

plan ann pass
plan bob inconclusive pass
plan cleo inconclusive
plan dan infra pass
plan eve dies pass
plan fay fail
plan gus silent inconclusive pass
fails "a machine that failed is the exit status" 3 '^1 not graded because of the machine' grade "$scratch/in" --device gpu --jobs 2
cp "$scratch/.out" "$scratch/first"
same "speed gives points, is failed, or is left open" "ann 3 bob 3 cleo 0 dan 3 eve  fay 0 gus 3 " "$(bonus)"
same "who failed the speed keeps the points of the stage" "fay,GRADED,25,0" "$(grep -o '^fay,GRADED,[0-9]*,[0-9]*' "$out/grades.csv")"
holds "what is measured again is said" grep -q '^measuring 4 again' "$scratch/first"
same "on the other GPU" 2 "$(sort -u "$scratch/log/bob" | wc -l)"
same "as often as one run does it" 3 "$(wc -l <"$scratch/log/cleo")"
same "who is decided is not measured again" 1 "$(wc -l <"$scratch/log/fay")"
holds "what stays open is told to a person" grep -q '^    cleo, stage 1.2: the machine was too noisy' "$scratch/first"
same "and nobody else is" 1 "$(grep -c ', stage 1.2: ' "$scratch/first")"
holds "it stands in the table" "${PYTHON:-python3}" -c '
import json, sys
students = {s["student"]: s for s in json.load(open(sys.argv[1]))["students"]}
assert students["cleo"]["undecided"] == ["1.2"] and students["bob"]["undecided"] == [], students
assert students["cleo"]["speed"] == {"1.2": None} and students["fay"]["speed"] == {"1.2": 0}, students' "$out/grades.json"

says "the same command goes on where it stands" '^measuring 1 again' grade "$scratch/in" --device gpu
same "with whom the machine had failed" "ann 3 bob 3 cleo 0 dan 3 eve 3 fay 0 gus 3 " "$(bonus)"
same "and with what is open, at first on the other GPU" "5 1" "$(wc -l <"$scratch/log/cleo") $(wc -l <"$scratch/log/ann")"
says "a regrade knows the device" '1.2|the same verdicts' grade --regrade cleo
same "and measures" 8 "$(wc -l <"$scratch/log/cleo")"
same "one regrade is one earlier result" 1 "$(grep -ho '"previous": \[' "$out"/results/*.json | wc -l)"

# Killed while it measures again: what stood stays, and the next run comes to the same table.
plan bob inconclusive hangs pass
echo "// handed in again" >>"$scratch/in/bob/lab1_naive/gemm.cu"
rm "$scratch/log/bob"
grade "$scratch/in" --device gpu >"$scratch/.out" 2>&1 &
for _ in $(seq 600); do [ "$(wc -l 2>/dev/null <"$scratch/log/bob")" = 2 ] && break; sleep 0.1; done
pkill -KILL -f "^$scratch/bin/grade .*--out $out" || bad "nothing to kill"
wait
pkill -KILL -f "$scratch/bin/grader "
same "killed in the middle, no record is lost" 7 "$(grep -l '"status": "GRADED"' "$out"/results/*.json | wc -l)"
says "it goes on" 'bob: GRADED \(kept' grade "$scratch/in" --device gpu
same "with nobody graded twice" 7 "$(grep -c 'GRADED (kept' "$scratch/.out")"
same "to the same table" "ann 3 bob 3 cleo 0 dan 3 eve 3 fay 0 gus 3 " "$(bonus)"

holds "without a GPU the class is graded anew, and speed is open for all" grade "$scratch/in"
same "which costs nobody a point" "ann 0 bob 0 cleo 0 dan 0 eve 0 fay 0 gus 0 " "$(bonus)"
if ! nvidia-smi -L >/dev/null 2>&1; then
    fails "no GPU is one clear error" 3 '^error: DEVICE=gpu: ' "$scratch/bin/grade" --root . --build "$build" --unsafe --out "$scratch/none" "$scratch/in" --device gpu
    fails "of make, at once" 2 '^error: DEVICE=gpu: no GPU here' make -s BUILD="$scratch/no-build" grade SUBMISSIONS="$scratch/in" DEVICE=gpu
    holds "before anything is built" [ ! -e "$scratch/no-build/bin" ]
fi
