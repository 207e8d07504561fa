// Every library in turn; what one of an unknown version does not tell is not told.
const found = [];
const libraries = [];
for (const [name, read] of [["echarts", fromECharts], ["chart.js", fromChartJs], ["plotly", fromPlotly], ["vega", fromVega], ["svg", fromSvg]]) {
  try {
    const figures = read();
    if (figures.length) libraries.push(name);
    found.push(...figures);
  } catch (error) {
    continue;
  }
}
const answer = JSON.stringify({ format: "deepchart-drawn/1", library: libraries.join("+"), figures: found.slice(0, 20) });
return typeof answer === "string" && answer.length < MAX_CHARACTERS ? answer : "";
