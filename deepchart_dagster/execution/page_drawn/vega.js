// Vega and Vega-Lite: the scenegraph of every view, read back through the view's own scales.
const vegaScale = (view, name) => {
  try { return view.scale(name); } catch (error) { return undefined; }
};
const vegaPlace = (scale, at) => {
  if (!scale) return number(at);
  if (scale.bandwidth) return list(scale.domain()).find((name) => Math.abs(scale(name) - at) < 0.01) ?? null;
  if (!scale.invert) return list(scale.domain()).find((name) => Math.abs(scale(name) - at) < 0.01) ?? number(at);
  const value = scale.invert(at);
  const span = Math.abs(scale.domain()[0] - scale.domain()[scale.domain().length - 1]);
  if (scale.type === "linear" && Math.abs(value) < 1e-12 * span) return 0;
  return value instanceof Date || scale.type === "time" || scale.type === "utc" ? date(value) : Number(Number(value).toPrecision(10));
};
const vegaNameOf = (view, value) => {
  const scale = vegaScale(view, "color");
  return scale && scale.domain && !scale.invert ? text(list(scale.domain()).find((name) => scale(name) === value)) : "";
};
const vegaItems = (group) => {
  const found = [];
  const visit = (mark, dx, dy) => {
    if (found.length > 1000 || ["axis-grid", "legend-group"].includes(mark.role) || /^(axis|legend|title)/.test(mark.role || "")) return;
    if (mark.marktype !== "group") return void (mark.items.length && found.push({ kind: mark.marktype, items: list(mark.items) }));
    for (const item of mark.items) for (const inner of item.items || []) visit(inner, dx, dy);
  };
  visit(group, 0, 0);
  return found;
};
const vegaBars = (view, items, x, y) => {
  const flat = y && y.bandwidth && !(x && x.bandwidth);
  const place = (item) => (flat ? vegaPlace(y, item.y) : x && x.bandwidth ? vegaPlace(x, item.x) : vegaPlace(x, item.x + item.width / 2));
  const start = (item) => (flat ? vegaPlace(x, item.x) : vegaPlace(y, item.y + item.height));
  const end = (item) => (flat ? vegaPlace(x, item.x + item.width) : vegaPlace(y, item.y));
  const negative = (item) => number(end(item)) <= 0 && number(start(item)) < 0; // drawn from 0 downwards
  const base = (item) => (negative(item) ? end(item) : start(item));
  return byAxes(items.map((item) => [item.fill, item])).map(([fill, ones]) =>
    bars(vegaNameOf(view, fill), fill, flat ? "horizontal" : "vertical", ones.map(place), ones.map((one) => (negative(one) ? start(one) - end(one) : end(one) - start(one))), ones.map(base)));
};
const vegaMarks = (view, { kind, items }) => {
  const [x, y] = [vegaScale(view, "x"), vegaScale(view, "y")];
  const xs = items.map((item) => vegaPlace(x, item.x));
  const ys = items.map((item) => vegaPlace(y, item.y));
  if (kind === "rect" && x && y && x.bandwidth && y.bandwidth && vegaScale(view, "color")) {
    const field = (item) => Object.values(item.datum || {}).filter((value) => typeof value === "number");
    const scale = vegaScale(view, "color");
    const value = (item) => field(item).find((one) => scale(one) === item.fill) ?? null;
    return [heatmapOfCells("", items.map((item, at) => ({ row: ys[at], column: xs[at], value: value(item) })), list(y.domain()), list(x.domain()))];
  }
  if (kind === "rect") return vegaBars(view, items, x, y);
  if (kind === "line") return [line(vegaNameOf(view, items[0].stroke), items[0].stroke, xs, ys, false)];
  if (kind === "area") {
    const label = vegaNameOf(view, items[0].fill);
    const low = items.map((item) => vegaPlace(y, item.y2 ?? item.y + (item.height || 0)));
    return [{ type: "area", label, color: colour(items[0].fill), x: xs.map(coordinate), low: low.map(coordinate), high: ys.map(coordinate) }];
  }
  if (kind === "symbol") {
    return byAxes(items.map((item, at) => [item.fill && item.fill !== "transparent" ? item.fill : item.stroke, at])).map(([fill, ats]) =>
      scatter(vegaNameOf(view, fill), fill, ats.map((at) => xs[at]), ats.map((at) => ys[at]), ats.map((at) => items[at].size)));
  }
  if (kind === "arc") return [pie(items.map((item) => vegaNameOf(view, item.fill)), items.map((item) => item.endAngle - item.startAngle))];
  return kind === "text" ? [] : [other(kind, "")];
};
const vegaAxisTitle = (root, which) => {
  let found = "";
  const visit = (mark) => {
    if (mark.role === "axis-title" && mark.items[0]) {
      const turned = Boolean(mark.items[0].angle);
      if (turned === (which === "y")) found = found || text(mark.items[0].text);
    }
    for (const item of mark.marktype === "group" ? mark.items : []) for (const inner of item.items || []) visit(inner);
  };
  visit(root);
  return found;
};
const fromVega = () =>
  list(window.__deepchartViews).filter((view) => view.container && view.container()).map((view) => {
    const root = view.scenegraph().root;
    const titles = [];
    const visit = (mark) => {
      if (mark.role === "title-text" && mark.items[0]) titles.push(text(mark.items[0].text));
      for (const item of mark.marktype === "group" ? mark.items : []) for (const inner of item.items || []) visit(inner);
    };
    visit(root);
    const marks = vegaItems(root).flatMap((group) => vegaMarks(view, group)).slice(0, 1000);
    const log = (name) => ((vegaScale(view, name) || {}).type === "log" ? "log" : "linear");
    return figure(view.container(), titles[0], [{
      title: titles[0] || "", xlabel: vegaAxisTitle(root, "x"), ylabel: vegaAxisTitle(root, "y"), xscale: log("x"), yscale: log("y"),
      legend: vegaScale(view, "color") ? legendOf(marks) : null, marks,
    }]);
  });
