// Plotly 1 to 4: full traces, and what Plotly calculated of them (stacks, box statistics).
const plotlyMarks = (trace, calculated, layout) => {
  const label = trace.showlegend === false || /^trace \d+$/.test(trace.name || "") ? "" : trace.name;
  const color = (trace.marker && trace.marker.color) || (trace.line && trace.line.color);
  const values = (key) => list(trace[key]);
  const points = list(calculated);
  const flat = trace.orientation === "h";
  const way = flat ? "horizontal" : "vertical";
  const names = values(flat ? "y" : "x");
  const amounts = values(flat ? "x" : "y");
  const ids = values("ids").length ? values("ids") : values("labels");
  const label_of = (id) => (ids.indexOf(id) < 0 ? id : values("labels")[ids.indexOf(id)]);
  const axis = layout[(trace[flat ? "yaxis" : "xaxis"] || (flat ? "y" : "x")).replace(/^([xy])/, "$1axis")] || {};
  const place = (at) => (axis._categories && axis._categories.length ? axis._categories[at] : axis.type === "date" ? date(at) : at);
  switch (trace.type) {
    case "bar":
      return [bars(label, color, way, names.length ? names : amounts.map((_, at) => at), amounts, points.length === amounts.length ? points.map((one) => one.b) : null), ...plotlyErrors(trace, label, points.map((one) => one.b))];
    case "histogram":
      return [{ ...bars(label, color, way, points.map((one) => place(one.p)), points.map((one) => one.s1 - one.s0 || one.s)), positions: points.map((one) => coordinate(place(one.p))) }];
    case "waterfall":
      return [plotlyWaterfall(trace, label, way, names, amounts)];
    case "funnel": case "funnelarea":
      return [named("funnel", label, trace.type === "funnel" ? names : values("labels"), trace.type === "funnel" ? amounts : values("values"))];
    case "pie":
      return [pie(points.length && points[0].label !== undefined ? points.map((one) => one.label) : values("labels"), points.length && points[0].v !== undefined ? points.map((one) => one.v) : values("values"))];
    case "heatmap": case "heatmapgl": {
      const rows = values("z");
      const numbered = (given, count) => (given.length ? given : Array.from({ length: count }, (_, at) => at));
      return [heatmap(label, numbered(values("y"), rows.length), numbered(values("x"), rows.length ? rows[0].length : 0), rows)];
    }
    case "box": case "violin": {
      const stats = points.filter((one) => one && one.med !== undefined);
      const places = stats.map((one) => (axis._categories && axis._categories[one.pos] !== undefined ? axis._categories[one.pos] : label || trace.name));
      if (trace.type === "violin") return [violins(label, places, stats.map((one) => [one.med, one.min, one.max]))];
      return [boxes(places, stats.map((one) => [one.med, one.q1, one.q3, one.lf, one.uf]))];
    }
    case "candlestick": case "ohlc":
      return [candles(label, values("x"), values("open").map((open, at) => [open, values("high")[at], values("low")[at], values("close")[at]]))];
    case "sankey": {
      const node = (at) => list(trace.node.label)[at] ?? String(at);
      return [flows(label, list(trace.link.source).map(node), list(trace.link.target).map(node), trace.link.value)];
    }
    case "treemap": case "sunburst": case "icicle":
      return [tree(label, ids.map((id, at) => ({ label: values("labels")[at], parent: label_of(values("parents")[at]), value: values("values")[at] })))];
    case "indicator":
      return [named("indicator", label, [text(trace.title)], [trace.value])];
    case "choropleth": case "choroplethmapbox": case "choroplethmap":
      return [named("map", label, values("locations"), values("z"))];
    case "scatterpolar": case "scatterpolargl":
      return [line(label, color, values("theta"), values("r"), (trace.mode || "").includes("markers"))];
    case "barpolar":
      return [bars(label, color, "vertical", values("theta"), values("r"))];
    case "scatter": case "scattergl": {
      const mode = trace.mode || "lines";
      const y = values("y");
      const x = values("x").length ? values("x") : y.map((_, at) => at);
      const size = trace.marker && trace.marker.size;
      const mark = mode.includes("lines") ? line(label, color, x, y, mode.includes("markers")) : scatter(label, color, x, y, list(size));
      return [mark, ...plotlyErrors(trace, label)];
    }
    default:
      return [other(trace.type, label)];
  }
};
// Steps begin where the one before ends; a total, and a value that starts anew, stand on the base.
const plotlyWaterfall = (trace, label, way, names, amounts) => {
  const measures = list(trace.measure);
  const foot = number(trace.base) || 0;
  let level = foot;
  const steps = amounts.map((amount, at) => {
    const kind = String(measures[at] || "relative");
    const start = /^[at]/.test(kind) ? foot : level;
    level = /^t/.test(kind) ? level : start + (number(amount) || 0);
    return { value: level - start, base: start };
  });
  return bars(label, null, way, names, steps.map((one) => one.value), steps.map((one) => one.base));
};
// On a stacked bar they stand where it ends.
const plotlyErrors = (trace, label, bases) => ["x", "y"].flatMap((way) => {
  const error = trace[`error_${way}`];
  if (!error || error.visible === false || (!error.array && error.value === undefined)) return [];
  const centers = list(trace[way]).map((value, at) => number(value + ((bases && bases[at]) || 0)));
  const reach = (at, minus) => {
    if (error.type === "percent") return (Math.abs(centers[at]) * (minus ? error.valueminus ?? error.value : error.value)) / 100;
    if (error.type === "constant") return minus ? error.valueminus ?? error.value : error.value;
    return minus && error.arrayminus ? error.arrayminus[at] : list(error.array)[at];
  };
  return [errorbars(label, way === "x" ? "horizontal" : "vertical", centers, centers.map((c, at) => number(c - reach(at, true))), centers.map((c, at) => number(c + reach(at, false))))];
});
const plotlyAxes = (layout, trace, marks) => {
  const axis = (way) => layout[(trace[`${way}axis`] || way).replace(/^([xy])/, "$1axis")] || {};
  const [x, y] = [axis("x"), axis("y")];
  const limits = (one) => {
    const range = list(one.range);
    if (range.length !== 2 || one.type === "category") return [null, null];
    return one.type === "date" ? range.map((end) => text(end)) : one.type === "log" ? range.map((end) => number(10 ** end)) : range.map(number);
  };
  const [dx, dy] = [x.domain || [0, 1], y.domain || [0, 1]];
  return {
    marks, projection: /polar/.test(trace.type) ? "polar" : "rectilinear", box: [dx[0], dy[0], dx[1] - dx[0], dy[1] - dy[0]].map(number),
    xlabel: plotlyTitle(x), ylabel: plotlyTitle(y), xscale: x.type === "log" ? "log" : "linear", yscale: y.type === "log" ? "log" : "linear",
    xlim: limits(x), ylim: limits(y),
  };
};
const plotlyTitle = (holder) => (/^Click to enter /.test(text(holder.title)) ? "" : text(holder.title));
const fromPlotly = () =>
  list(document.querySelectorAll(".js-plotly-plot")).map((element) => {
    const layout = element._fullLayout || element.layout || {};
    const title = plotlyTitle(layout);
    const calculated = list(element.calcdata);
    const pairs = [];
    list(element._fullData || element.data).forEach((trace) => {
      if (trace.visible === false || trace.visible === "legendonly") return;
      const own = calculated.find((one) => one && one[0] && one[0].trace === trace);
      const subplot = trace.xaxis || trace.yaxis ? `${trace.xaxis || "x"}${trace.yaxis || "y"}` : trace.type + list(element._fullData).indexOf(trace);
      for (const mark of plotlyMarks(trace, own, layout)) pairs.push([subplot, { mark, trace }]);
    });
    const legend = layout.showlegend ? legendOf(pairs.map(([, one]) => one.mark)) : null;
    const panels = byAxes(pairs).map(([, ones], at) => ({
      ...plotlyAxes(layout, ones[0].trace, ones.map((one) => one.mark)), title: at ? "" : title, legend: at ? null : legend,
    }));
    return figure(element, title, panels.length ? panels : [{ title }]);
  });
