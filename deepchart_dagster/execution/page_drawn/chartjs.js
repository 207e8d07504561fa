// Chart.js 2 to 4 with its common chart types.
const chartJs = window.Chart || (imported["chart.js"] && (imported["chart.js"].Chart || imported["chart.js"].default));
const chartJsScale = (chart, index, way) => {
  const meta = chart.getDatasetMeta ? chart.getDatasetMeta(index) : {};
  const scales = chart.scales || {};
  return scales[meta[`${way}AxisID`]] || scales[way] || { options: {} };
};
const chartJsIsLog = (scale) => scale.type === "logarithmic";
const chartJsIsTime = (scale) => scale.type === "time" || scale.type === "timeseries";
const chartJsPlace = (scale, value) => (chartJsIsTime(scale) && value !== null && value !== undefined ? date(value) : value);
// Where a stacked bar starts: the sum of the visible bars before it in its stack, on its side of zero.
const chartJsBases = (chart, index, scale, values, own) => {
  if (!scale.options.stacked) return null;
  const dataset = chart.data.datasets[index];
  const before = chart.data.datasets.filter((one, at) => at < index && chart.isDatasetVisible(at) && (one.stack || "") === (dataset.stack || "") && (one.type || "bar") === (dataset.type || "bar"));
  return values.map((value, at) => before.reduce((sum, one) => {
    const below = number(own(list(one.data)[at])) || 0;
    return below < 0 === value < 0 ? sum + below : sum;
  }, 0));
};
const chartJsMarks = (chart, dataset, index) => {
  const kind = dataset.type || chart.config.type;
  const fills = [dataset.backgroundColor, dataset.borderColor];
  const color = (["line", "radar"].includes(kind) ? fills.reverse() : fills).find((value) => typeof value === "string");
  const labels = list(chart.data.labels);
  const data = list(dataset.data);
  const isPoint = (item) => item !== null && typeof item === "object" && !Array.isArray(item);
  const x = chartJsScale(chart, index, "x");
  const y = chartJsScale(chart, index, "y");
  const xs = data.map((item, at) => chartJsPlace(x, isPoint(item) ? item.x : labels[at]));
  const ys = data.map((item) => (isPoint(item) ? item.y : item));
  if (kind === "pie" || kind === "doughnut") return [pie(labels, data)];
  if (kind === "polarArea") return [named(kind, dataset.label, labels, data)];
  if (kind === "sankey") return [flows(dataset.label, data.map((d) => d.from), data.map((d) => d.to), data.map((d) => d.flow))];
  if (kind === "matrix") return [heatmapOfCells(dataset.label, data.map((d) => ({ row: d.y, column: d.x, value: d.v })))];
  if (kind === "candlestick" || kind === "ohlc") return [candles(dataset.label, data.map((d) => date(d.x)), data.map((d) => [d.o, d.h, d.l, d.c]))];
  if (kind === "treemap") return [tree(dataset.label, data.map((d) => ({ label: d.g || (d._data && (d._data.label || d._data.name)) || "", parent: "", value: d.v })))];
  if (kind === "funnel") return [named(kind, dataset.label, labels, data)];
  if (kind === "radar") return [line(dataset.label, color, labels, data, dataset.pointRadius !== 0)];
  if (kind === "boxplot" || kind === "violin") {
    const parsed = list(chart.getDatasetMeta(index)._parsed);
    const found = parsed.map((one) => [one.median, one.q1, one.q3, one.whiskerMin ?? one.min, one.whiskerMax ?? one.max]);
    return kind === "boxplot" ? [boxes(labels, found)] : [violins(dataset.label, labels, parsed.map((one) => [one.median, one.min, one.max]))];
  }
  if (kind.startsWith("bar") || kind === "horizontalBar") {
    const flat = kind === "horizontalBar" || (chart.options && chart.options.indexAxis === "y");
    const own = (item) => (isPoint(item) ? (flat ? item.x : item.y) : item);
    const floating = data.some((item) => Array.isArray(own(item)));
    const values = data.map((item) => (Array.isArray(own(item)) ? own(item)[1] - own(item)[0] : own(item)));
    const bases = floating ? data.map((item) => (Array.isArray(own(item)) ? own(item)[0] : 0)) : chartJsBases(chart, index, flat ? x : y, values, own);
    const names = data.map((item, at) => (isPoint(item) ? (flat ? item.y : chartJsPlace(x, item.x)) : labels[at]));
    const marks = [bars(dataset.label, color, flat ? "horizontal" : "vertical", names, values, bases)];
    const [low, high] = flat ? ["xMin", "xMax"] : ["yMin", "yMax"];
    if (data.some((item) => isPoint(item) && item[low] !== undefined)) {
      marks.push(errorbars(dataset.label, flat ? "horizontal" : "vertical", values, data.map((item) => item[low]), data.map((item) => item[high])));
    }
    return marks;
  }
  if (kind === "line") return [line(dataset.label, color, xs, ys, dataset.pointRadius !== 0)];
  if (kind === "scatter" || kind === "bubble") {
    return [scatter(dataset.label, color, xs, ys, kind === "bubble" ? data.map((item) => item.r) : [])];
  }
  return [other(kind, dataset.label)];
};
const chartJsAxes = (chart, index, marks) => {
  const options = (chart.options || {}).scales || {};
  const [x, y] = [chartJsScale(chart, index, "x"), chartJsScale(chart, index, "y")];
  const label = (scale, way) => {
    const own = scale.options && (scale.options.title || scale.options.scaleLabel) ? scale.options : options[way] || {};
    return text((own.title && own.title.text) || (own.scaleLabel && own.scaleLabel.labelString) || "");
  };
  const limits = (scale) => (chartJsIsTime(scale) ? [date(scale.min), date(scale.max)] : ["linear", "logarithmic"].includes(scale.type) ? [number(scale.min), number(scale.max)] : [null, null]);
  return {
    marks, projection: chart.config.type === "radar" || chart.config.type === "polarArea" ? "polar" : "rectilinear",
    xlabel: label(x, "x"), ylabel: label(y, "y"), xscale: chartJsIsLog(x) ? "log" : "linear", yscale: chartJsIsLog(y) ? "log" : "linear",
    xlim: limits(x), ylim: limits(y),
  };
};
const fromChartJs = () => {
  if (!chartJs || !chartJs.instances) return [];
  return Object.values(chartJs.instances).map((chart) => {
    const options = chart.options || {};
    const title = (options.plugins && options.plugins.title) || options.title || {};
    const shown = title.display === false ? "" : text(title.text);
    const pairs = [];
    chart.data.datasets.forEach((dataset, index) => {
      if (chart.isDatasetVisible && !chart.isDatasetVisible(index)) return;
      const scale = chartJsScale(chart, index, "y").id || "y";
      for (const mark of chartJsMarks(chart, dataset, index)) pairs.push([scale, { mark, index }]);
    });
    const legend = legendOf(pairs.map(([, one]) => one.mark));
    const panels = byAxes(pairs).map(([, ones], at) => ({
      ...chartJsAxes(chart, ones[0].index, ones.map((one) => one.mark)), title: at ? "" : shown, legend: at ? null : legend,
    }));
    return figure(chart.canvas, shown, panels.length ? panels : [{ title: shown }]);
  });
};
