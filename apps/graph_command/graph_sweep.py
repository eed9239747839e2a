#!/usr/bin/env python3
"""Draws a sweep of a graph: graph_sweep.py TABLE.csv CHART.svg. `holdall graph sweep` runs it.

Time against oversubscription, a line a policy; PNG where the chart's name ends so. Needs matplotlib.
"""
import csv
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
    figure.savefig(chart, metadata={"Date": None} if chart.endswith(".svg") else None)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
