#!/usr/bin/env python3
"""Draws the README's chart: PageRank against the share of the edges that fits.

bench/chart.py graph.json docs/pagerank.svg, where graph.json is what
`bench-graph --benchmark_out=graph.json --benchmark_out_format=json` wrote. Needs matplotlib.
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SHARES = {"resident": 1, "three_quarters": 0.75, "half": 0.5, "quarter": 0.25, "eighth": 0.125}


def main(source, target):
    rows = {}
    with open(source, encoding="utf-8") as file:
        for row in json.load(file)["benchmarks"]:
            job, share, graph = row["name"].split("/")[:3]
            if job == "pagerank" and share in SHARES:
                rows.setdefault(graph, []).append((1 / SHARES[share], row["warm_ms"], row.get("floor_ms")))
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    for graph, points in rows.items():
        points.sort()
        x = [point[0] for point in points]
        (line,) = axes.plot(x, [point[1] for point in points], marker="o", label=graph)
        floor = [point[1] if point[2] is None else point[2] for point in points]
        axes.plot(x, floor, linestyle=":", color=line.get_color(), label=f"{graph}: floor")
    axes.set_xscale("log", base=2)
    axes.set_xticks([1, 4 / 3, 2, 4, 8], ["1", "1.33", "2", "4", "8"])
    axes.set_xlabel("edges / room for edges")
    axes.set_ylabel("ms an iteration")
    axes.set_ylim(bottom=0)
    axes.set_title("PageRank, 4 G edges, one H200", fontsize=10)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
