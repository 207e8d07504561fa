// What the chart libraries on this page hold, as JSON in the shape deepchart-drawn/1 (docs/architecture.md).
// Runs beside the page's own scripts: its answer is evidence, read as a stranger's file.
() => {
  const MAX_POINTS = 5000;
  const MAX_CHARACTERS = 4000000;

  const number = (value) => {
    if (value === null || value === undefined || value === "" || typeof value === "boolean") return null;
    const parsed = Number(value);
    return Number.isFinite(parsed) ? parsed : null;
  };
  const text = (value) => {
    if (value === null || value === undefined) return "";
    if (Array.isArray(value)) return value.map(text).join(" ").slice(0, 1000);
    if (typeof value === "object") return text(value.text);
    return String(value).replace(/<[^>]*>/g, " ").slice(0, 1000);
  };
  const colour = (value) => (typeof value === "string" ? value.slice(0, 40) : null);
  const list = (values) => Array.from(values || []).slice(0, MAX_POINTS);
  const coordinate = (value) => {
    if (value instanceof Date) return value.toISOString();
    if (typeof value === "string") return value.slice(0, 200);
    return number(value);
  };

  const axes = (parts) => ({
    title: "", projection: "rectilinear", box: [0, 0, 1, 1], xlabel: "", ylabel: "",
    xscale: "linear", yscale: "linear", xlim: [null, null], ylim: [null, null],
    xticks: [], yticks: [], legend: null, texts: [], marks: [], ...parts,
  });
  const figure = (element, title, parts) => {
    const box = element.getBoundingClientRect();
    return { title: text(title), width_px: number(box.width), height_px: number(box.height), texts: [], axes: [axes(parts)] };
  };
  const legendOf = (marks) => {
    const named = marks.filter((mark) => mark.label);
    return named.length ? { title: "", entries: named.map((m) => ({ label: m.label, color: m.color || null })) } : null;
  };
  const bars = (label, color, orientation, categories, values, bases) => ({
    type: "bars", label: text(label), color: colour(color), orientation,
    categories: list(categories).map(text),
    positions: list(values).map((_, index) => index),
    values: list(values).map(number),
    bases: bases || list(values).map(() => 0),
  });
  const line = (label, color, x, y, marker) => ({
    type: "line", label: text(label), color: colour(color), x: list(x).map(coordinate), y: list(y).map(coordinate), marker,
  });
  const scatter = (label, color, x, y, sizes) => ({
    type: "scatter", label: text(label), color: colour(color), x: list(x).map(coordinate), y: list(y).map(coordinate),
    sizes: list(sizes).map(number),
  });
  const pie = (labels, values) => {
    const shares = list(values).map(number);
    const total = shares.reduce((sum, share) => sum + (share || 0), 0);
    return { type: "pie", labels: list(labels).map(text), fractions: shares.map((s) => (total && s !== null ? s / total : null)) };
  };
  const other = (kind, label) => ({ type: "other", class: text(kind), label: text(label) });
  const heatmap = (label, rows, columns, values) => ({
    type: "heatmap", label: text(label), rows: list(rows).map(text), columns: list(columns).map(text),
    values: list(values).map((row) => list(row).map(number)),
  });

  // ECharts -------------------------------------------------------------------------------------------------
  const echartsMark = (series) => {
    const data = series.getData();
    const indices = list({ length: data.count() }).map((_, index) => index);
    const column = (name) => indices.map((index) => data.get(name, index));
    const named = () => indices.map((index) => data.getName(index));
    const color = data.getVisual && data.getVisual("style") ? data.getVisual("style").fill : null;
    if (series.subType === "pie") return pie(named(), column(data.mapDimension("value")));
    const grid = series.coordinateSystem;
    if (!grid || grid.type !== "cartesian2d") return other(series.subType, series.name);
    const along = (dimension) => {
      const axis = grid.getAxis(dimension);
      const categories = axis.type === "category" ? axis.model.getCategories() : null;
      const values = column(data.mapDimension(dimension));
      return { categories, values: categories ? values.map((value) => text(categories[value])) : values };
    };
    const x = along("x");
    const y = along("y");
    const label = series.name && !series.name.startsWith("series\u0000") ? series.name : "";
    if (series.subType === "bar") {
      return y.categories ? bars(label, color, "horizontal", y.values, x.values) : bars(label, color, "vertical", x.values, y.values);
    }
    if (series.subType === "line") return line(label, color, x.values, y.values, series.get("showSymbol") !== false);
    if (series.subType === "scatter" || series.subType === "effectScatter") return scatter(label, color, x.values, y.values, []);
    if (series.subType === "heatmap" && x.categories && y.categories) {
      const cells = y.categories.map(() => x.categories.map(() => null));
      const amounts = column(data.mapDimension("value"));
      indices.forEach((index) => {
        const row = cells[data.get(data.mapDimension("y"), index)];
        if (row) row[data.get(data.mapDimension("x"), index)] = amounts[index];
      });
      return heatmap(label, y.categories, x.categories, cells);
    }
    return other(series.subType, label);
  };
  const fromECharts = () => {
    if (!window.echarts) return [];
    return list(document.querySelectorAll("[_echarts_instance_]")).map((element) => {
      const instance = window.echarts.getInstanceByDom(element);
      const option = instance.getOption();
      const first = (value) => (Array.isArray(value) ? value[0] : value) || {};
      const marks = [];
      instance.getModel().eachSeries((series) => marks.push(echartsMark(series)));
      return figure(element, first(option.title).text, {
        title: text(first(option.title).text), xlabel: text(first(option.xAxis).name), ylabel: text(first(option.yAxis).name),
        xscale: first(option.xAxis).type === "log" ? "log" : "linear", yscale: first(option.yAxis).type === "log" ? "log" : "linear",
        legend: option.legend && option.legend.length ? legendOf(marks) : null, marks,
      });
    });
  };

  // Chart.js ------------------------------------------------------------------------------------------------
  const chartJsMark = (chart, dataset, index) => {
    const kind = dataset.type || chart.config.type;
    const fills = [dataset.backgroundColor, dataset.borderColor];
    const color = (kind === "line" ? fills.reverse() : fills).find((value) => typeof value === "string");
    const labels = list(chart.data.labels);
    const data = list(dataset.data);
    const pick = (key, item, at) => (item !== null && typeof item === "object" ? item[key] : key === "x" ? labels[at] : item);
    const along = (key) => data.map((item, at) => pick(key, item, at));
    if (kind === "pie" || kind === "doughnut" || kind === "polarArea") return pie(labels, data);
    if (kind === "bar" || kind === "horizontalBar") {
      const flat = kind === "horizontalBar" || (chart.options && chart.options.indexAxis === "y");
      const values = data.map((item) => (item !== null && typeof item === "object" ? (flat ? item.x : item.y) : item));
      const names = labels.length ? labels : data.map((item) => (flat ? item.y : item.x));
      return bars(dataset.label, color, flat ? "horizontal" : "vertical", names, values);
    }
    if (kind === "line") return line(dataset.label, color, along("x"), along("y"), dataset.pointRadius !== 0);
    if (kind === "scatter" || kind === "bubble") return scatter(dataset.label, color, along("x"), along("y"), kind === "bubble" ? data.map((item) => item.r) : []);
    return other(kind, dataset.label);
  };
  const fromChartJs = () => {
    if (!window.Chart || !window.Chart.instances) return [];
    return Object.values(window.Chart.instances).map((chart) => {
      const options = chart.options || {};
      const title = (options.plugins && options.plugins.title) || options.title || {};
      const scales = options.scales || {};
      const label = (key) => text((scales[key] && scales[key].title && scales[key].title.text) || "");
      const marks = chart.data.datasets.map((dataset, index) => chartJsMark(chart, dataset, index));
      return figure(chart.canvas, title.text, {
        title: text(title.text), xlabel: label("x"), ylabel: label("y"),
        xscale: scales.x && scales.x.type === "logarithmic" ? "log" : "linear",
        yscale: scales.y && scales.y.type === "logarithmic" ? "log" : "linear",
        legend: legendOf(marks), marks,
      });
    });
  };

  // Plotly --------------------------------------------------------------------------------------------------
  const plotlyMark = (trace) => {
    const label = trace.showlegend === false || /^trace \d+$/.test(trace.name || "") ? "" : trace.name;
    const color = (trace.marker && trace.marker.color) || (trace.line && trace.line.color);
    // Plotly keeps typed arrays, lists, or {bdata}; _fullData holds them decoded.
    const values = (key) => list(trace[key]);
    if (trace.type === "bar") {
      const flat = trace.orientation === "h";
      const bases = trace.base === undefined ? null : values(trace.base).map(number);
      return bars(label, color, flat ? "horizontal" : "vertical", values(flat ? "y" : "x"), values(flat ? "x" : "y"), bases && bases.length ? bases : null);
    }
    if (trace.type === "pie") return pie(values("labels"), values("values"));
    if (trace.type === "heatmap") return heatmap(label, values("y"), values("x"), values("z"));
    if (trace.type === "scatter" || trace.type === "scattergl") {
      const mode = trace.mode || "lines";
      if (mode.includes("lines")) return line(label, color, values("x"), values("y"), mode.includes("markers"));
      const size = trace.marker && trace.marker.size;
      return scatter(label, color, values("x"), values("y"), size && typeof size === "object" ? list(size) : []);
    }
    return other(trace.type, label);
  };
  const fromPlotly = () =>
    list(document.querySelectorAll(".js-plotly-plot")).map((element) => {
      const layout = element._fullLayout || element.layout || {};
      const axis = (name) => layout[name] || {};
      const named = (holder) => (/^Click to enter /.test(text(holder.title)) ? "" : text(holder.title));
      const marks = list(element._fullData || element.data).map(plotlyMark);
      return figure(element, named(layout), {
        title: named(layout), xlabel: named(axis("xaxis")), ylabel: named(axis("yaxis")),
        xscale: axis("xaxis").type === "log" ? "log" : "linear", yscale: axis("yaxis").type === "log" ? "log" : "linear",
        legend: layout.showlegend ? legendOf(marks) : null, marks,
      });
    });

  const found = [];
  const libraries = [];
  for (const [name, read] of [["echarts", fromECharts], ["chart.js", fromChartJs], ["plotly", fromPlotly]]) {
    try {
      const figures = read();
      if (figures.length) libraries.push(name);
      found.push(...figures);
    } catch (error) {
      continue; // a library of another version: what the others hold still counts
    }
  }
  const answer = JSON.stringify({ format: "deepchart-drawn/1", library: libraries.join("+"), figures: found });
  return typeof answer === "string" && answer.length < MAX_CHARACTERS ? answer : "";
}
