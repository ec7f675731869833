"""Lines of docs/results/h200/power-lab-6.txt: power.py RUNG M,N,K LASTING OURS.csv CUBLAS.csv, what power.cu and the profiler wrote"""
import csv
import sys

from stalls import number, short


def widest(path):
    """The launch that took longest."""
    with open(path) as file:
        lines = [line for line in file if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"]]
    if not rows:
        sys.exit("the profiler saw no launch")
    return max(rows, key=lambda row: number(row["gpu__time_duration.sum"]))


def main():
    rung, shape, lasting, *profiles = sys.argv[1:]
    with open(lasting) as file:
        lines = [line.split() for line in file if line.strip()]
    for (who, tflops, mhz, watts, *ratio), path in zip(lines, profiles, strict=True):
        row = widest(path)
        beside = f"{ratio[0]} ({ratio[1]} {ratio[2]})" if ratio else ""
        tensor = number(row["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"])
        issue = number(row["smsp__issue_active.avg.pct_of_peak_sustained_active"])
        l2 = number(row["lts__t_sectors.sum"]) * 32e-9
        memory = number(row["dram__bytes.sum"]) * 1e-9
        shared = number(row["launch__shared_mem_per_block"]) / 1024
        print(
            f"{rung:6} {shape.replace(',', 'x'):15} {who:7} {float(tflops):7.2f} {beside:20} {mhz:>5} {watts:>5} "
            f"{tensor:7.1f} {issue:6.1f} {l2:7.1f} {memory:7.1f}  {number(row['launch__grid_size']):.0f} x {row['launch__block_size']}, "
            f"{row['launch__registers_per_thread']}, {shared:.0f} KB, {short(row['Kernel Name']).split('_execute')[0]}"
        )


main()
