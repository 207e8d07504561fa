// The shape deepchart-drawn/1 (docs/architecture.md), and plain values within bounds.
const MAX_POINTS = 5000;
const MAX_CHARACTERS = 4000000;

const number = (value) => {
  if (value === null || value === undefined || value === "" || typeof value === "boolean" || value instanceof Date) return null;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? Number(parsed.toPrecision(12)) : null;
};
const text = (value) => {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return date(value);
  if (Array.isArray(value)) return value.map(text).join(" ").slice(0, 1000);
  if (typeof value === "object") return text(value.text);
  return String(value).replace(/<[^>]*>/g, " ").slice(0, 1000);
};
const date = (value) => {
  const moment = new Date(value);
  if (!Number.isFinite(moment.getTime())) return null;
  return moment.toISOString().replace(/T00:00:00\.000Z$/, "").replace(/\.000Z$/, "").replace(/Z$/, "");
};
const colour = (value) => {
  if (typeof value !== "string") return null;
  const parts = /^rgba?\(\s*(\d+),\s*(\d+),\s*(\d+)/.exec(value);
  if (!parts) return value.slice(0, 40);
  return "#" + parts.slice(1).map((part) => Number(part).toString(16).padStart(2, "0")).join("");
};
const list = (values) => (values && typeof values === "object" ? Array.from(values).slice(0, MAX_POINTS) : []);
const coordinate = (value) => {
  if (value instanceof Date) return date(value);
  return typeof value === "string" ? value.slice(0, 200) : number(value);
};

const axes = (parts) => ({
  title: "", projection: "rectilinear", box: [0, 0, 1, 1], xlabel: "", ylabel: "",
  xscale: "linear", yscale: "linear", xlim: [null, null], ylim: [null, null],
  xticks: [], yticks: [], legend: null, texts: [], marks: [], ...parts,
});
const figure = (element, title, panels, texts) => {
  const box = element.getBoundingClientRect();
  return {
    title: text(title), width_px: number(box.width), height_px: number(box.height),
    texts: list(texts).map(text), legends: [], axes: panels.slice(0, 200).map(axes),
  };
};
// Marks by the axes they stand on, in the order of their first mark.
const byAxes = (pairs) => {
  const groups = new Map();
  for (const [key, mark] of pairs) groups.set(key, [...(groups.get(key) || []), mark]);
  return [...groups];
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
  bases: list(bases).length ? list(bases).map(number) : list(values).map(() => 0),
});
const line = (label, color, x, y, marker) => ({
  type: "line", label: text(label), color: colour(color), x: list(x).map(coordinate), y: list(y).map(coordinate), marker: Boolean(marker),
});
const scatter = (label, color, x, y, sizes) => ({
  type: "scatter", label: text(label), color: colour(color), x: list(x).map(coordinate), y: list(y).map(coordinate),
  sizes: list(sizes).map(number),
});
const pie = (labels, values) => {
  const shares = list(values).map(number);
  const total = shares.reduce((sum, share) => sum + (share || 0), 0);
  return { type: "pie", labels: list(labels).map(text), fractions: shares.map((s) => (total && s !== null ? number(s / total) : null)) };
};
const heatmap = (label, rows, columns, values) => ({
  type: "heatmap", label: text(label), rows: list(rows).map(text), columns: list(columns).map(text),
  values: list(values).map((row) => list(row).map(number)),
});
// Cells that come one by one, as {row, column, value}.
const heatmapOfCells = (label, cells, rows, columns) => {
  const rowNames = rows || [...new Set(cells.map((cell) => text(cell.row)))];
  const columnNames = columns || [...new Set(cells.map((cell) => text(cell.column)))];
  const found = new Map(cells.map((cell) => [JSON.stringify([text(cell.row), text(cell.column)]), cell.value]));
  const value = (row, column) => found.get(JSON.stringify([text(row), text(column)]));
  return heatmap(label, rowNames, columnNames, rowNames.map((row) => columnNames.map((column) => value(row, column))));
};
const errorbars = (label, orientation, centers, low, high) => ({
  type: "errorbars", label: text(label), orientation, centers: list(centers).map(coordinate), low: list(low).map(coordinate), high: list(high).map(coordinate),
});
const boxes = (labels, statistics) => ({
  type: "boxes", labels: list(labels).map(text), ...columns(statistics, ["medians", "q1", "q3", "low", "high"]),
});
const violins = (label, labels, statistics) => ({
  type: "violins", label: text(label), labels: list(labels).map(text), ...columns(statistics, ["medians", "low", "high"]),
});
const candles = (label, x, statistics) => ({
  type: "candles", label: text(label), x: list(x).map(coordinate), ...columns(statistics, ["open", "high", "low", "close"]),
});
const columns = (rows, names) => Object.fromEntries(names.map((name, at) => [name, list(rows).map((row) => number(row[at]))]));
const flows = (label, sources, targets, values) => ({
  type: "flows", label: text(label), sources: list(sources).map(text), targets: list(targets).map(text), values: list(values).map(number),
});
const tree = (label, nodes) => ({
  type: "tree", label: text(label), labels: nodes.map((node) => text(node.label)).slice(0, MAX_POINTS),
  parents: nodes.map((node) => text(node.parent)).slice(0, MAX_POINTS), values: nodes.map((node) => number(node.value)).slice(0, MAX_POINTS),
});
const named = (kind, label, names, values) => ({
  type: "named", class: text(kind), label: text(label), names: list(names).map(text), values: list(values).map(number),
});
const other = (kind, label) => ({ type: "other", class: text(kind), label: text(label) });
// Libraries that were imported as modules stand under no global name.
const imported = window.__deepchartLibraries || {};
