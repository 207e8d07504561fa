// SVG that a page draws itself, with D3 or without: marks read back through the axes that stand beside them.
// An exact number of the bound data is preferred where it is what the geometry says.
const svgPoint = (element, x, y) => {
  const matrix = element.getCTM();
  return matrix ? { x: matrix.a * x + matrix.c * y + matrix.e, y: matrix.b * x + matrix.d * y + matrix.f } : { x, y };
};
// An axis of d3-axis: where its ticks stand (pixels) and what they mean.
const svgAxes = (svg) => {
  const found = { x: [], y: [] };
  for (const group of svg.querySelectorAll("g")) {
    const ticks = list(group.children).filter((child) => child.classList.contains("tick"));
    if (ticks.length < 2) continue;
    const places = ticks.map((tick) => ({ ...svgPoint(tick, 0, 0), value: tick.__data__, label: tick.textContent.trim() }));
    const spread = (way) => Math.max(...places.map((one) => one[way])) - Math.min(...places.map((one) => one[way]));
    const way = spread("x") >= spread("y") ? "x" : "y";
    const crisp = group.__axis === undefined || window.devicePixelRatio > 1 ? 0 : 0.5; // d3-axis moves ticks to whole pixels
    found[way].push(places.map((one) => ({ at: one[way] - crisp, value: one.value === undefined ? one.label : one.value, label: one.label })));
  }
  return { x: svgScale(found.x[0]), y: svgScale(found.y[0]), twin: found.y[1] ? svgScale(found.y[1]) : null };
};
const svgScale = (ticks) => {
  if (!ticks) return null;
  const values = ticks.map((tick) => (tick.value instanceof Date ? tick.value.getTime() : number(String(tick.value).replace(/,/g, ""))));
  if (values.some((value) => value === null) || ticks.some((tick) => typeof tick.value === "string" && tick.value === tick.label && values.length < 2)) {
    return { ticks, names: true };
  }
  const [first, last] = [0, ticks.length - 1];
  const fits = (read) => {
    const slope = (read(values[last]) - read(values[first])) / (ticks[last].at - ticks[first].at);
    return values.every((value, at) => Math.abs(read(values[first]) + slope * (ticks[at].at - ticks[first].at) - read(value)) <= 1e-3 * Math.abs(read(values[last]) - read(values[first]))) ? slope : null;
  };
  const isDate = ticks.some((tick) => tick.value instanceof Date);
  const linear = fits((value) => value);
  if (linear !== null) return { ticks, isDate, invert: (at) => values[first] + linear * (at - ticks[first].at) };
  const logarithmic = values.every((value) => value > 0) ? fits(Math.log) : null;
  if (logarithmic !== null) return { ticks, log: true, invert: (at) => Math.exp(Math.log(values[first]) + logarithmic * (at - ticks[first].at)) };
  return { ticks, names: true };
};
const svgNearest = (scale, at) => scale.ticks.reduce((best, tick) => (Math.abs(tick.at - at) < Math.abs(best.at - at) ? tick : best));
const svgPlace = (scale, at, datum) => {
  if (!scale) return number(at);
  if (scale.names) return svgNearest(scale, at).label;
  const value = scale.invert(at);
  if (scale.isDate) {
    const exact = svgFields(datum).find((one) => one instanceof Date && Math.abs(one.getTime() - value) < 1e-3 * Math.abs(scale.ticks[0].value - scale.ticks[scale.ticks.length - 1].value));
    return date(exact || Math.round(value));
  }
  return svgExact(value, datum, scale);
};
const svgFields = (datum) => (datum && typeof datum === "object" ? [...(Array.isArray(datum) ? datum : Object.values(datum)), ...(datum.data && typeof datum.data === "object" ? Object.values(datum.data) : [])] : [datum]);
const svgExact = (value, datum, scale) => {
  const reach = scale.log ? Math.abs(value) * 0.005 : 0.002 * Math.abs(scale.invert(scale.ticks[0].at) - scale.invert(scale.ticks[scale.ticks.length - 1].at));
  const near = svgFields(datum).filter((one) => typeof one === "number" || (typeof one === "string" && one.trim() !== "")).map(Number)
    .filter((one) => Math.abs(one - value) <= reach);
  const best = near.length ? near.reduce((a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a)) : value;
  return Number(best.toPrecision(near.length ? 12 : 6));
};
const svgFill = (element) => {
  const style = getComputedStyle(element);
  return style.fill && style.fill !== "none" ? style.fill : style.stroke;
};
const svgSeriesName = (svg, fill) => {
  // A legend is a small mark of that colour followed by a text.
  const key = list(svg.querySelectorAll("rect, circle, line, path")).find((mark) => svgFill(mark) === fill && mark.nextElementSibling && mark.nextElementSibling.tagName === "text");
  return key ? text(key.nextElementSibling.textContent) : "";
};
const svgBars = (svg, rects, scales) => {
  const shapes = rects.map((rect) => {
    const box = rect.getBBox();
    const [a, b] = [svgPoint(rect, box.x, box.y), svgPoint(rect, box.x + box.width, box.y + box.height)];
    return { datum: rect.__data__, fill: svgFill(rect), left: a.x, right: b.x, top: a.y, bottom: b.y, height: b.y - a.y, width: b.x - a.x };
  });
  const { x, y } = scales;
  if (x && y && x.names && y.names) return [svgCells(shapes, scales)];
  const same = (way) => Math.max(...shapes.map((one) => one[way])) - Math.min(...shapes.map((one) => one[way])) < 0.5;
  const flat = Boolean(y && y.names) || (!(x && x.names) && same("height") && !same("width"));
  const value = flat ? x : y;
  const zero = value && value.invert && !value.log ? value : null;
  const rest = zero ? svgZero(zero) : null;
  return byAxes(shapes.map((one) => [one.fill, one])).map(([fill, ones]) => {
    const ends = ones.map((one) => {
      const [near, far] = flat ? [one.left, one.right] : [one.bottom, one.top];
      if (!value || !value.invert) return { base: 0, value: number(flat ? one.width : one.height) };
      const down = rest !== null && (flat ? far <= rest + 0.5 && near < rest - 0.5 : far >= rest - 0.5 && near > rest + 0.5);
      const [from, to] = down ? [far, near] : [near, far];
      const base = Math.abs(from - (rest ?? Infinity)) < 0.51 ? 0 : svgPlace(value, from, one.datum);
      return { base, value: base === 0 ? svgPlace(value, to, one.datum) : svgExact(value.invert(to) - value.invert(from), one.datum, value) };
    });
    const along = flat ? y : x;
    const names = ones.map((one) => svgPlace(along, flat ? (one.top + one.bottom) / 2 : (one.left + one.right) / 2, along && along.names ? undefined : one.datum));
    return bars(svgSeriesName(svg, fill), fill, flat ? "horizontal" : "vertical", names, ends.map((end) => end.value), ends.map((end) => end.base));
  });
};
const svgZero = (scale) => {
  const [first, last] = [scale.ticks[0].at, scale.ticks[scale.ticks.length - 1].at];
  const [low, high] = [scale.invert(first), scale.invert(last)];
  return high === low ? null : first + ((0 - low) / (high - low)) * (last - first);
};
const svgCells = (shapes, { x, y }) => heatmapOfCells("", shapes.map((one) => {
  const row = svgNearest(y, (one.top + one.bottom) / 2).label;
  const column = svgNearest(x, (one.left + one.right) / 2).label;
  const amounts = svgFields(one.datum).filter((value) => typeof value === "number" && String(value) !== row && String(value) !== column);
  return { row, column, value: amounts[amounts.length - 1] ?? null };
}));
const svgVertices = (path) => {
  const numbers = /[-+]?(?:\d*\.\d+|\d+)(?:e[-+]?\d+)?/gi;
  const steps = (path.getAttribute("d") || "").match(/[MLCQ][^MLCQZHVASThvmlcqszat]*/g) || [];
  return steps.flatMap((step) => {
    const values = (step.slice(1).match(numbers) || []).map(Number);
    const size = { C: 6, Q: 4 }[step[0]] || 2;
    return values.filter((_, at) => at % size === 0 && at + size <= values.length).map((_, at) => values.slice(at * size + size - 2, at * size + size));
  }).slice(0, MAX_POINTS).map(([x, y]) => svgPoint(path, x, y));
};
const svgLine = (svg, path, { x, y }) => {
  const data = Array.isArray(path.__data__) ? path.__data__ : path.__data__ && Array.isArray(path.__data__.values) ? path.__data__.values : [];
  const points = svgVertices(path);
  const datum = (at) => (data.length === points.length ? data[at] : undefined);
  const stroke = getComputedStyle(path).stroke;
  const own = Array.isArray(path.__data__) ? path.__data__[0] : (path.__data__ || {}).name || (path.__data__ || {}).key;
  return line(svgSeriesName(svg, stroke) || (typeof own === "string" ? own : ""), stroke, points.map((p, at) => svgPlace(x, p.x, datum(at))), points.map((p, at) => svgPlace(y, p.y, datum(at))), false);
};
// As d3.area draws it: along the upper edge, and back along the lower one.
const svgArea = (svg, path, { x, y }) => {
  const points = svgVertices(path);
  const half = points.length / 2;
  const there = points.slice(0, half);
  const back = points.slice(half).reverse();
  if (!x || !y || half < 2 || !Number.isInteger(half) || there.some((point, at) => Math.abs(point.x - back[at].x) > 0.5)) return null;
  const data = Array.isArray(path.__data__) ? path.__data__ : [];
  const datum = (at) => (data.length === half ? data[at] : undefined);
  const ends = (edge) => edge.map((point, at) => coordinate(svgPlace(y, point.y, datum(at))));
  const fill = svgFill(path);
  return { type: "area", label: svgSeriesName(svg, fill), color: colour(fill), x: there.map((point, at) => coordinate(svgPlace(x, point.x, datum(at)))), low: ends(back), high: ends(there) };
};
const svgLabelOf = (datum) => {
  if (datum === null || typeof datum !== "object") return text(datum);
  const inner = datum.data !== undefined && datum.data !== datum ? datum.data : datum;
  if (Array.isArray(inner)) return text(inner[0]);
  if (inner === null || typeof inner !== "object") return text(inner);
  return text(inner.name ?? inner.label ?? inner.key ?? inner.id ?? Object.values(inner).find((value) => typeof value === "string"));
};
const svgStructures = (marks) => {
  const data = [...new Set(marks.map((mark) => mark.__data__).filter((one) => one && typeof one === "object"))];
  const found = [];
  const arcs = data.filter((one) => typeof one.startAngle === "number" && typeof one.endAngle === "number" && "value" in one && !one.source);
  if (arcs.length) found.push(pie(arcs.map(svgLabelOf), arcs.map((one) => one.endAngle - one.startAngle)));
  const links = data.filter((one) => one.source && one.target && typeof one.source === "object" && (typeof one.value === "number" || typeof one.width === "number"));
  const node = (one) => text(one.name ?? one.id ?? one.label ?? one.index);
  if (links.length) found.push(flows("", links.map((one) => node(one.source)), links.map((one) => node(one.target)), links.map((one) => one.value ?? one.width)));
  const nodes = data.filter((one) => typeof one.depth === "number" && "parent" in one && one.data && !links.length);
  if (nodes.length) found.push(tree("", nodes.map((one) => ({ label: svgLabelOf(one), parent: one.parent ? svgLabelOf(one.parent) : "", value: one.value }))));
  return found;
};
const svgMarks = (svg, scales) => {
  const shapes = list(svg.querySelectorAll("rect, circle, path, line, polyline, polygon")).filter((mark) => !mark.closest("defs, .tick, clipPath") && !mark.classList.contains("domain"));
  const structures = svgStructures(shapes.concat(list(svg.querySelectorAll("g"))));
  if (structures.length) return structures;
  const drawnIn = (kind) => shapes.filter((mark) => mark.tagName === kind && (mark.__data__ !== undefined || scales.x || scales.y));
  const isKey = (mark) => mark.nextElementSibling && mark.nextElementSibling.tagName === "text" && mark.__data__ === undefined;
  const rects = drawnIn("rect").filter((mark) => !isKey(mark) && mark.getBBox().width > 0 && getComputedStyle(mark).fill !== "none" && mark.getBBox().width < svg.clientWidth * 0.95);
  const legendKeys = rects.filter((mark) => scales.x && scales.y && mark.nextElementSibling && mark.nextElementSibling.tagName === "text");
  const marks = [];
  const columnsOf = rects.filter((mark) => !legendKeys.includes(mark) || legendKeys.length === rects.length);
  if (columnsOf.length) marks.push(...svgBars(svg, columnsOf, scales));
  for (const path of drawnIn("path")) {
    if (getComputedStyle(path).fill === "none" && svgVertices(path).length > 1 && scales.x && scales.y) marks.push(svgLine(svg, path, scales));
    else if (path.__data__ !== undefined) marks.push(svgArea(svg, path, scales) || other("path", ""));
  }
  const circles = drawnIn("circle").filter((mark) => !isKey(mark));
  for (const [fill, ones] of byAxes(circles.map((mark) => [svgFill(mark), mark]))) {
    const centers = ones.map((mark) => ({ ...svgPoint(mark, mark.cx.baseVal.value, mark.cy.baseVal.value), datum: mark.__data__ }));
    marks.push(scatter(svgSeriesName(svg, fill), fill, centers.map((c) => svgPlace(scales.x, c.x, c.datum)), centers.map((c) => svgPlace(scales.y, c.y, c.datum)), ones.map((mark) => mark.r.baseVal.value)));
  }
  return marks.slice(0, 1000);
};
const fromSvg = () =>
  list(document.querySelectorAll("svg")).filter((svg) => !svg.closest(".js-plotly-plot, [_echarts_instance_], .vega-embed, svg svg")).map((svg) => {
    const scales = svgAxes(svg);
    const marks = svgMarks(svg, scales);
    const texts = list(svg.querySelectorAll("text")).filter((one) => !one.closest(".tick")).map((one) => one.textContent.trim()).filter(Boolean);
    const ticks = (scale) => (scale ? scale.ticks.slice(0, 1000).map((tick) => ({ at: scale.names ? text(tick.label).slice(0, 200) : svgPlace(scale, tick.at), label: text(tick.label) })) : []);
    const log = (scale) => (scale && scale.log ? "log" : "linear");
    return marks.length ? figure(svg, document.title, [{ marks, xticks: ticks(scales.x), yticks: ticks(scales.y), xscale: log(scales.x), yscale: log(scales.y) }], texts) : null;
  }).filter(Boolean);
