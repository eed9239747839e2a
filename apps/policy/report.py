#!/usr/bin/env python3
"""Draws a sweep: report.py TABLE.csv REPORT.html [HEAT.json]. `holdall policy report` runs it.

One page with everything in it, and beside it each chart as SVG and PNG. Needs matplotlib.
"""
import base64
import csv
import errno
import html
import io
import json
import os
import signal
import sys
from collections import defaultdict

try:
    import matplotlib
except ImportError:
    sys.exit("holdall: reports need matplotlib, which is not installed: apt-get install python3-matplotlib, "
             "or pip install matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt


def read(path):
    """trace -> policy -> [(size, row)], sizes ascending"""
    traces = defaultdict(lambda: defaultdict(list))
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            traces[row["trace"]][row["policy"]].append((int(row["size"]), row))
    for policies in traces.values():
        for rows in policies.values():
            rows.sort(key=lambda pair: pair[0])
    return traces


def ratio(row):
    return int(row["misses"]) / max(1, int(row["requests"]))


def by_cell(traces):
    """(trace, size) -> policy -> row"""
    cells = defaultdict(dict)
    for trace, policies in traces.items():
        for policy, rows in policies.items():
            for size, row in rows:
                cells[trace, size][policy] = row
    return cells


def lines(policies, value, title, label):
    figure, axes = plt.subplots(figsize=(7, 4))
    for policy, rows in sorted(policies.items()):
        axes.plot([size for size, _ in rows], [value(row) for _, row in rows], marker="o", markersize=3, label=policy)
    unit = next(iter(policies.values()))[0][1]["unit"]
    axes.set_xscale("log")
    axes.set_xlabel("size of the memory, " + unit)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=7)
    figure.tight_layout()
    return figure


def heat(path):
    with open(path, encoding="utf-8") as file:
        grid = json.load(file)
    figure, axes = plt.subplots(figsize=(7, 4))
    picture = axes.imshow(grid["counts"], aspect="auto", origin="lower", cmap="inferno",
                          norm=matplotlib.colors.PowerNorm(0.5), extent=(0, 100, 0, 100), interpolation="nearest")
    axes.set_xlabel("requests, % of the trace")
    axes.set_ylabel("chunks by number, %")
    axes.set_title(grid["trace"] + ": when chunks are used", fontsize=10)
    figure.colorbar(picture, label="requests")
    figure.tight_layout()
    return figure


def ranking(cells):
    """policy -> wins, cells, mean miss ratio, mean regret against opt (None without opt)"""
    rows = defaultdict(lambda: {"wins": 0, "cells": 0, "ratios": [], "regrets": []})
    for policies in cells.values():
        contest = {p: int(r["misses"]) for p, r in policies.items() if p.split(":")[0] != "opt"}
        best = min(contest.values(), default=None)
        optimum = min((int(r["misses"]) for p, r in policies.items() if p.split(":")[0] == "opt"), default=None)
        for policy, row in policies.items():
            entry = rows[policy]
            entry["cells"] += 1
            entry["wins"] += policy in contest and contest[policy] == best
            entry["ratios"].append(ratio(row))
            if optimum is not None:
                entry["regrets"].append((int(row["misses"]) - optimum) / max(1, int(row["requests"])))
    return rows


def table(rows):
    regret = any(entry["regrets"] for entry in rows.values())
    head = "<tr><th>policy<th>wins<th>cells<th>mean miss ratio" + ("<th>mean regret against opt" if regret else "")
    text = [head]
    order = sorted(rows.items(), key=lambda item: sum(item[1]["ratios"]) / len(item[1]["ratios"]))
    for policy, entry in order:
        mean = sum(entry["ratios"]) / len(entry["ratios"])
        text.append(f"<tr><td>{html.escape(policy)}<td>{entry['wins']}<td>{entry['cells']}<td>{100 * mean:.2f} %")
        if regret:
            values = entry["regrets"]
            text.append(f"<td>{100 * sum(values) / len(values):.2f} points" if values else "<td>")
    return "<table>" + "\n".join(text) + "</table>"


def main(source, target, heat_file=None):
    traces = read(source)
    if not traces:
        sys.exit(f"holdall: {source}: there is no result in it")
    figures = []
    for trace, policies in sorted(traces.items()):
        figures.append((trace + "-misses", lines(policies, ratio, trace + ": miss ratio", "miss ratio")))
        figures.append((trace + "-bytes", lines(
            policies, lambda row: (int(row["bytes_in"]) + int(row["bytes_out"])) / 1e9, trace + ": bytes moved", "GB")))
        figures.append((trace + "-seconds", lines(
            policies, lambda row: float(row["modelled_seconds"]), trace + ": modelled paging time", "s")))
    if heat_file:
        figures.append(("heat", heat(heat_file)))

    base = os.path.splitext(target)[0]
    files = {}
    body = [f"<h1>Eviction policies: {html.escape(os.path.basename(source))}</h1>", table(ranking(by_cell(traces)))]
    for name, figure in figures:
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=110)
        drawing = io.BytesIO()
        figure.savefig(drawing, format="svg", metadata={"Date": None})
        plt.close(figure)
        files[f"{base}-{safe}.png"] = image.getvalue()
        files[f"{base}-{safe}.svg"] = drawing.getvalue()
        data = base64.b64encode(image.getvalue()).decode()
        body.append(f'<img alt="{html.escape(name)}" src="data:image/png;base64,{data}">')
    head = ("<!doctype html><meta charset=utf-8><title>Eviction policies</title><style>body{font:15px sans-serif;"
            "max-width:60em;margin:2em auto}td,th{padding:.2em .8em;text-align:left}img{max-width:100%}</style>\n")
    files[target] = (head + "\n".join(body) + "\n").encode()
    put(files)


def put(files):
    """Writes all of them, or none: {name: bytes}"""
    try:
        for name, data in files.items():
            with open(name + ".unfinished", "wb") as file:
                file.write(data)
        for name in files:
            os.replace(name + ".unfinished", name)
    except BaseException:
        for name in files:
            try:
                os.remove(name + ".unfinished")
            except OSError:
                pass
        raise


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        remedy = "check the path" if error.errno == errno.ENOENT else "write elsewhere"
        sys.exit(f"holdall: {sys.argv[2]}: the report cannot be written: {error.strerror}; {remedy}")
