// ECharts 4 to 6: what its series hold after its own reading of dataset, encode and stack.
const echartsLibrary = window.echarts || imported.echarts;
const echartsSeries = (series) => {
  const data = series.getData();
  const indices = list({ length: data.count() }).map((_, index) => index);
  const column = (dimension) => indices.map((index) => data.get(dimension, index));
  const names = indices.map((index) => data.getName(index));
  const style = data.getVisual && data.getVisual("style");
  const label = series.name && !series.name.startsWith("series\u0000") ? series.name : "";
  return { series, data, indices, column, names, label, kind: series.subType, color: style ? style.fill || style.stroke : data.getVisual("color") };
};
const echartsTree = (root) => {
  const nodes = [];
  const visit = (node, parent) => {
    if (nodes.length >= MAX_POINTS) return;
    if (node.name) nodes.push({ label: node.name, parent, value: node.getValue() });
    for (const child of node.children || []) visit(child, node.name || parent);
  };
  visit(root, "");
  return nodes;
};
const echartsAlong = ({ column, data }, system, dimension) => {
  const axis = system.getAxis(dimension);
  const categories = axis.type === "category" ? axis.model.getCategories() : null;
  const values = column(data.mapDimension(dimension));
  if (categories) return { categories, values: values.map((value) => text(categories[value])) };
  return { categories: null, values: axis.type === "time" ? values.map(date) : values };
};
const echartsBases = ({ data, column, indices }, dimension) => {
  const info = data.getCalculationInfo && data.getCalculationInfo("stackResultDimension");
  if (!info || !data.getCalculationInfo("stackedOnSeries")) return null;
  const values = column(data.mapDimension(dimension));
  return column(info).map((end, at) => end - values[at]);
};
const echartsOnGrid = (found, system) => {
  const { series, data, kind, label, color, column, indices } = found;
  const polar = system.type === "polar";
  const x = echartsAlong(found, system, polar ? "angle" : "x");
  const y = echartsAlong(found, system, polar ? "radius" : "y");
  const flat = Boolean(y.categories) && !x.categories;
  if (kind === "bar" || kind === "pictorialBar") {
    const bases = echartsBases(found, flat ? (polar ? "angle" : "x") : polar ? "radius" : "y");
    return flat ? bars(label, color, "horizontal", y.values, x.values, bases) : bars(label, color, "vertical", x.values, y.values, bases);
  }
  if (kind === "line") return line(label, color, x.values, y.values, series.get("showSymbol") !== false);
  if (kind === "scatter" || kind === "effectScatter") return scatter(label, color, x.values, y.values, []);
  if (kind === "heatmap") {
    const amounts = column(data.mapDimension("value"));
    const cells = indices.map((index) => ({ row: y.values[index], column: x.values[index], value: amounts[index] }));
    return heatmapOfCells(label, cells, y.categories, x.categories);
  }
  const all = data.mapDimensionsAll ? data.mapDimensionsAll("y") : data.mapDimension("y", true);
  const rows = indices.map((index) => all.map((dimension) => data.get(dimension, index)));
  if (kind === "boxplot") return boxes(x.values, rows.map(([low, q1, median, q3, high]) => [median, q1, q3, low, high]));
  if (kind === "candlestick") return candles(label, x.values, rows.map(([open, close, low, high]) => [open, high, low, close]));
  return other(kind, label);
};
const echartsRadar = ({ series, data, indices, names }) => {
  const places = series.coordinateSystem.getIndicatorAxes().map((axis) => axis.name);
  return indices.map((index) => {
    const style = data.getItemVisual && data.getItemVisual(index, "style");
    const values = places.map((_, at) => data.get(data.dimensions[at], index));
    return line(names[index], style ? style.fill || style.stroke : null, places, values, true);
  });
};
const echartsMarks = (series) => {
  const found = echartsSeries(series);
  const { kind, label, names, column, data } = found;
  const values = () => column(data.mapDimension("value"));
  if (kind === "pie") return [pie(names, values())];
  if (["funnel", "gauge", "map", "wordCloud"].includes(kind)) return [named(kind, label, names, values())];
  if (["treemap", "sunburst", "tree"].includes(kind)) return [tree(label, echartsTree(data.tree.root))];
  if (kind === "sankey" || kind === "graph") {
    const edges = list(series.getGraph().edges);
    const end = (node) => node.getModel().get("name") || node.id;
    return [flows(label, edges.map((e) => end(e.node1)), edges.map((e) => end(e.node2)), edges.map((e) => e.getModel().get("value")))];
  }
  const system = series.coordinateSystem;
  if (kind === "radar") return echartsRadar(found);
  if (!system || !system.getAxis || !["cartesian2d", "polar"].includes(system.type)) return [other(kind, label)];
  return [echartsOnGrid(found, system)];
};
const echartsAxes = (instance, system, marks) => {
  if (!system || system.type !== "cartesian2d") {
    return { marks, projection: system && (system.type === "polar" || system.getIndicatorAxes) ? "polar" : "rectilinear" };
  }
  const [x, y] = [system.getAxis("x"), system.getAxis("y")];
  const rect = system.getArea ? system.getArea() : { x: 0, y: 0, width: instance.getWidth(), height: instance.getHeight() };
  const [width, height] = [instance.getWidth(), instance.getHeight()];
  const limits = (axis) => {
    if (axis.type === "category") return [null, null];
    const extent = list(axis.scale.getExtent());
    return axis.type === "time" ? extent.map(date) : extent.map(number);
  };
  const ticks = (axis) => (axis.type === "category" ? axis.model.getCategories().slice(0, 1000).map((name) => ({ at: text(name).slice(0, 200), label: text(name) })) : []);
  const scale = (axis) => (axis.type === "log" ? "log" : "linear");
  return {
    marks, box: [rect.x / width, 1 - (rect.y + rect.height) / height, rect.width / width, rect.height / height].map(number),
    xlabel: text(x.model.get("name")), ylabel: text(y.model.get("name")), xscale: scale(x), yscale: scale(y),
    xlim: limits(x), ylim: limits(y), xticks: ticks(x), yticks: ticks(y),
  };
};
const fromECharts = () => {
  if (!echartsLibrary) return [];
  return list(document.querySelectorAll("[_echarts_instance_]")).map((element) => {
    const instance = echartsLibrary.getInstanceByDom(element);
    const option = instance.getOption();
    const title = text(list(option.title).map((one) => one.text)[0]);
    const pairs = [];
    instance.getModel().eachSeries((series) => {
      const system = series.coordinateSystem || null;
      for (const mark of echartsMarks(series)) pairs.push([system, mark]);
    });
    const legend = option.legend && option.legend.length ? legendOf(pairs.map(([, mark]) => mark)) : null;
    const panels = byAxes(pairs).map(([system, marks], at) => ({ ...echartsAxes(instance, system, marks), title: at ? "" : title, legend: at ? null : legend }));
    return figure(element, title, panels.length ? panels : [{ title }]);
  });
};
