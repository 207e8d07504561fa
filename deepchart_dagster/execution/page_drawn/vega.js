// Vega and Vega-Lite: the scenegraph of every view, read back through the view's own scales.
const vegaScale = (view, name) => {
  try { return view.scale(name); } catch (error) { return undefined; }
};
const vegaPlace = (scale, at) => {
  if (!scale) return number(at);
  if (scale.bandwidth) return list(scale.domain()).find((name) => at > scale(name) - 0.01 && at < scale(name) + scale.bandwidth() - 0.01) ?? null;
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
// The middle of a bin, of its own bounds: what is drawn leaves a gap to the next.
const vegaBinMiddle = (datum) => {
  const end = Object.keys(datum || {}).find((key) => key.startsWith("bin_") && key.endsWith("_end") && number(datum[key.slice(0, -4)]) !== null && number(datum[key]) !== null);
  return end ? (datum[end.slice(0, -4)] + datum[end]) / 2 : null;
};
const vegaBars = (view, items, x, y) => {
  const binned = items.every((item) => vegaBinMiddle(item.datum) !== null);
  const flat = Boolean(y && y.bandwidth && !(x && x.bandwidth)) || (binned && items.every((item) => Math.abs(item.x - items[0].x) < 0.01) && items.length > 1);
  const middle = (item) => (flat ? item.y + item.height / 2 : item.x + item.width / 2);
  const place = (item) => (binned ? number(vegaBinMiddle(item.datum)) : vegaPlace(flat ? y : x, middle(item)));
  const start = (item) => (flat ? vegaPlace(x, item.x) : vegaPlace(y, item.y + item.height));
  const end = (item) => (flat ? vegaPlace(x, item.x + item.width) : vegaPlace(y, item.y));
  const negative = (item) => number(end(item)) <= 0 && number(start(item)) < 0; // drawn from 0 downwards
  const base = (item) => (negative(item) ? end(item) : start(item));
  return byAxes(items.map((item) => [item.fill, item])).map(([fill, ones]) =>
    bars(vegaNameOf(view, fill), fill, flat ? "horizontal" : "vertical", ones.map(place), ones.map((one) => (negative(one) ? start(one) - end(one) : end(one) - start(one))), ones.map(base)));
};
// The parts of a box plot name what they show: lower_box_v, mid_box_v, upper_box_v, lower_whisker_v …
const vegaBoxField = (datum, part) => {
  const key = Object.keys(datum || {}).find((name) => name.startsWith(`${part}_`));
  return key === undefined ? null : number(datum[key]);
};
const vegaIsOfBox = (items) => vegaBoxField(items[0].datum, "lower_box") !== null && vegaBoxField(items[0].datum, "mid_box") !== null;
const vegaBoxes = (view, groups) => {
  const box = groups.find(({ kind, items }) => kind === "rect" && vegaIsOfBox(items));
  if (!box) return [];
  const [x, y] = [vegaScale(view, "x"), vegaScale(view, "y")];
  const flat = y && y.bandwidth && !(x && x.bandwidth);
  const name = (item) => (flat ? vegaPlace(y, item.y + item.height / 2) : x ? vegaPlace(x, item.x + item.width / 2) : "") ?? "";
  const data = box.items.map((item) => item.datum);
  const whisker = (datum, side) => vegaBoxField(datum, `${side}_whisker`) ?? vegaBoxField(datum, side === "lower" ? "min" : "max");
  return [boxes(box.items.map(name), data.map((datum) => [...["mid_box", "lower_box", "upper_box"].map((part) => vegaBoxField(datum, part)), whisker(datum, "lower"), whisker(datum, "upper")]))];
};
const vegaLimits = (scale) => {
  if (!scale || !scale.invert || scale.bandwidth) return [null, null];
  const ends = list(scale.domain());
  const first = (end) => (end instanceof Date || scale.type === "time" || scale.type === "utc" ? date(end) : number(end));
  return [first(ends[0]), first(ends[ends.length - 1])];
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
    const groups = vegaItems(root);
    const whole = vegaBoxes(view, groups);
    const single = whole.length ? groups.filter(({ items }) => !vegaIsOfBox(items)) : groups;
    const marks = [...whole, ...single.flatMap((group) => vegaMarks(view, group))].slice(0, 1000);
    const log = (name) => ((vegaScale(view, name) || {}).type === "log" ? "log" : "linear");
    return figure(view.container(), titles[0], [{
      title: titles[0] || "", xlabel: vegaAxisTitle(root, "x"), ylabel: vegaAxisTitle(root, "y"), xscale: log("x"), yscale: log("y"),
      xlim: vegaLimits(vegaScale(view, "x")), ylim: vegaLimits(vegaScale(view, "y")),
      legend: vegaScale(view, "color") ? legendOf(marks) : null, marks,
    }]);
  });
