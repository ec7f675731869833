"""A profiler's CSV of one product as lines of docs/results/h200/stalls-lab-6.txt: stalls.py RUNG ours|cublas M,N,K <CSV"""
import csv
import re
import sys

STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active")


def number(text):
    return float(text.replace(",", "")) if text else 0.0


def short(name):
    """A kernel's name without its return type, namespaces and arguments of templates."""
    name = re.sub(r"^void ", "", name)
    return re.sub(r"[<(].*", "", name).split("::")[-1]


def main():
    rung, who, shape = sys.argv[1:]
    lines = [line for line in sys.stdin if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"]]
    if not rows:
        sys.exit("the profiler saw no launch")
    time = "gpu__time_duration.sum"
    whole = sum(number(row[time]) for row in rows)
    for row in rows:
        share = number(row[time]) / whole
        if share < 0.05:
            continue
        stalls = {}
        for column, value in row.items():
            found = STALL.search(column or "")
            if found and found[1] != "selected" and not found[1].endswith("_not_issued"):
                stalls[found[1]] = max(stalls.get(found[1], 0.0), number(value))
        everything = sum(stalls.values())
        told = ", ".join(
            f"{reason.replace('_', ' ')} {value:.2f}"
            for reason, value in sorted(stalls.items(), key=lambda one: -one[1])
            if value >= 0.05 * everything
        )
        busy = [
            number(row[name])
            for name in (
                "smsp__issue_active.avg.pct_of_peak_sustained_active",
                "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
                "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
                "lts__throughput.avg.pct_of_peak_sustained_elapsed",
                "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            )
        ]
        told_busy = "  ".join(
            f"{what} {percent:3.0f} %"
            for what, percent in zip(("issue", "fma", "tensor", "sm", "l2", "memory"), busy)
        )
        print(
            f"{rung:6} {who:7} {shape.replace(',', 'x'):16} {short(row['Kernel Name'])[:34]:35} "
            f"{share:4.0%} of {whole / 1e3:8.1f} us  {told_busy}\n"
            f"       {told}"
        )


if __name__ == "__main__":
    main()
