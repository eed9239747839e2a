#!/usr/bin/env python3
"""Draws a sweep of a graph: graph_sweep.py TABLE.csv CHART.svg. `holdall graph sweep` runs it.

Time against oversubscription, a line a policy; PNG where the chart's name ends so. Needs matplotlib.
"""
import csv
import os
import signal
import sys
from collections import defaultdict

try:
    import matplotlib
except ImportError:
    sys.exit("holdall: charts need matplotlib, which is not installed: apt-get install python3-matplotlib, "
             "or pip install matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt


def main(table, chart):
    lines = defaultdict(list)
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            title = row["algorithm"] + ", " + row["graph"]
            lines[row["policy"]].append((float(row["oversubscription"]), float(row["seconds"])))
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for policy, points in sorted(lines.items()):
        points.sort()
        axes.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=4, label=policy)
    axes.axvline(1, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel("edges / room for edges")
    axes.set_ylabel("seconds")
    axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8)
    figure.tight_layout()
    kind = os.path.splitext(chart)[1][1:].lower() or "png"
    try:
        with open(chart + ".unfinished", "wb") as file:
            figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
        os.replace(chart + ".unfinished", chart)
    except BaseException:
        if os.path.exists(chart + ".unfinished"):
            os.remove(chart + ".unfinished")
        raise


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        main(sys.argv[1], sys.argv[2])
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, ValueError) as error:
        sys.exit(f"holdall: the chart '{sys.argv[2]}' cannot be written: {error}")
