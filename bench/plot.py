"""A plot of a simulation: how fresh pages are, day by day. One file that opens from disk."""

from __future__ import annotations

import json
from string import Template
from typing import TYPE_CHECKING

from crawlproject.report.assets import library

if TYPE_CHECKING:
    from pathlib import Path

    # What a chart is called, and the lines in it: a value for each day, by name.
    Chart = tuple[str, dict[str, list[float]]]

_PAGE = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin: 2rem 0 0 }
.chart { height: 22rem }
</style>
<h1>$title</h1>
<p>$lead</p>
<script>$library</script>
<script>
const charts = $charts;
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
for (const [title, lines] of charts) {
  const heading = document.body.appendChild(document.createElement("h2"));
  heading.textContent = title;
  const node = document.body.appendChild(document.createElement("div"));
  node.className = "chart";
  const chart = echarts.init(node, isDark ? "dark" : null, { renderer: "svg" });
  const days = Object.values(lines)[0].map((_, day) => day + 1);
  const percent = (value) => `$${(100 * value).toFixed(1)} %`;
  const whole = (value) => `$${Math.round(100 * value)} %`;
  const line = (name, data) => ({ type: "line", showSymbol: false, name, data });
  chart.setOption({
    animation: false,
    backgroundColor: "transparent",
    legend: { top: 8 },
    grid: { left: 8, right: 16, top: 48, bottom: 24, containLabel: true },
    tooltip: { trigger: "axis", renderMode: "richText", valueFormatter: percent },
    xAxis: { type: "category", data: days, name: "day", nameLocation: "middle", nameGap: 28 },
    yAxis: { type: "value", scale: true, minInterval: 0.05, axisLabel: { formatter: whole } },
    series: Object.entries(lines).map(([name, data]) => line(name, data)),
  });
  addEventListener("resize", () => chart.resize());
}
</script>
</html>
""")


def write_plot(path: Path, title: str, lead: str, charts: list[Chart]) -> None:
    """Raises OSError. What is written is ours: nothing has to be escaped."""
    page = _PAGE.substitute(
        title=title, lead=lead, charts=json.dumps(charts), library=library().decode()
    )
    path.write_text(page, encoding="utf-8")
