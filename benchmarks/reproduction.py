"""How fast the paper's experiments run: runs a second on its real data, and what all would take.

The paper's section on real data is 500 runs x 41 values of nu, on three data sets, with three
algorithms. `make reproduce` runs it to the letter and in our order.
"""

import time

import threadpoolctl

from experiments.real import DATA, cell, load, strategies

NUS = range(10, 411, 50)
RUNS = 20
WHOLE = 500 * 41 * 3 * 3  # the runs that must take less than 15 minutes on two cores


def main() -> None:
    """Print a table; seconds are those of the processor, so that a busy machine does not matter."""
    print("| data | algorithm | runs a second of processor time |")
    print("|---|---|---|")
    seconds = {"faithful": 0.0, "our order": 0.0}
    counts = dict.fromkeys(seconds, 0)
    with threadpoolctl.threadpool_limits(1):
        for data in DATA:
            for curve in strategies(100, int(load(data)[1].max()) + 1):
                cell(data=data, curve=curve, nu=10, runs=1, seed=0)  # compiled by then
                began = time.process_time()
                for nu in NUS:
                    cell(data=data, curve=curve, nu=nu, runs=RUNS, seed=0)
                took = time.process_time() - began
                way = curve.partition(", ")[2]
                seconds[way] += took
                counts[way] += RUNS * len(NUS)
                print(f"| {data} | {curve} | {RUNS * len(NUS) / took:.0f} |", flush=True)
    for way, took in seconds.items():
        rate = counts[way] / took
        minutes = WHOLE / rate / 2 / 60
        print(f"{way}: {rate:.0f} runs a second")
        print(f"  {WHOLE:,} runs on two free cores: {minutes:.1f} minutes")


if __name__ == "__main__":
    main()
