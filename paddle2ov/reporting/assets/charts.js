"use strict";
/* Charts, with one look: horizontal bars that grow with their number, stacked bars, points, a line. */

const COLOURS = ["#2f6690", "#5fa8a0", "#d9a441", "#b5657a", "#7a6fa8", "#7d9b4e", "#a9764a", "#6b7b8c", "#9cc1d9", "#c9b8d8"];
const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/* What left nothing behind is nearest to the ground, which is light or dark. */
const FATE_COLOURS = {
  primitive: "#2f6690", fused: "#5fa8a0", merged: "#9cc9c3", folded: "#d9a441", removed: themed("--less"), converted: themed("--least"),
  inner: "#7a6fa8", unused: themed("--useless"), refused: "#b3261e", unknown: themed("--less"),
};
const FATE_WORDS = {
  primitive: "own primitive", fused: "fused", merged: "merged", folded: "folded", removed: "removed", converted: "no node",
  inner: "in a branch or loop", unused: "unused", refused: "refused", unknown: "not compiled",
};

Chart.defaults.font.family = getComputedStyle(document.documentElement).getPropertyValue("--font");
Chart.defaults.font.size = 12;
Chart.defaults.color = themed("--soft");
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.plugins.legend.position = "bottom";
Chart.defaults.plugins.legend.labels.boxWidth = 12;
Chart.defaults.plugins.tooltip.displayColors = false;

/* A long label in lines, none of it cut: after a space, a sign, or wherever a line is full. */
function inLines(label, most = 48) {
  const lines = [""];
  for (const part of label.split(/(?<=[\s/_.,:+-])/).flatMap((one) => one.match(new RegExp(`.{1,${most}}`, "gs")) || [])) {
    if ((lines.at(-1) + part).trimEnd().length > most) lines.push("");
    lines[lines.length - 1] += part;
  }
  return lines.length > 1 ? lines.map((one) => one.trim()) : lines[0];
}
const mostOf = () => Math.max(14, Math.min(48, Math.floor(window.innerWidth / 20)));
const extraLines = (labels) => total(labels, (one) => (Array.isArray(one) ? one.length - 1 : 0));

/* The plot's place, or null where the page has none or there is nothing to show: then its card goes too. */
function place(id, isEmpty, height) {
  const canvas = byId(id);
  if (!canvas) return null;
  if (isEmpty) {
    canvas.closest("figure").remove();
    return null;
  }
  if (height) canvas.parentElement.style.height = `${height}px`;
  return canvas;
}

const axis = (title, more = {}) => ({
  title: { display: Boolean(title), text: title },
  grid: { color: themed("--rule") },
  border: { display: false },
  ...more,
});

/* Horizontal bars of one dataset, or of several that are stacked; `least` is the height without them. */
function horizontal(id, labels, datasets, least, x, options) {
  const lines = labels.map((label) => inLines(label, mostOf()));
  const canvas = place(id, !labels.length || !datasets.length, Math.max(least + 56, least + 23 * labels.length + 15 * extraLines(lines)));
  if (!canvas) return;
  const scales = { x, y: axis("", { stacked: x.stacked, grid: { display: false }, ticks: { autoSkip: false } }) };
  new Chart(canvas, {
    type: "bar",
    data: { labels: lines, datasets: datasets.map((one) => ({ maxBarThickness: 17, ...one })) },
    options: { indexAxis: "y", scales, ...options },
  });
}

/* Horizontal bars. rows: [{label, value, note, colour, click}]. */
function bars(id, rows, { title = "", format = (value) => value.toLocaleString("en") } = {}) {
  const clicked = (items) => items.length && rows[items[0].index].click;
  const dataset = { data: rows.map((row) => row.value || null), backgroundColor: rows.map((row) => row.colour || COLOURS[0]), minBarLength: 2 };
  horizontal(id, rows.map((row) => row.label), [dataset], 62, axis(title, { min: 0, ticks: { maxTicksLimit: 6, precision: 0, callback: (value) => format(value) } }), {
    plugins: {
      legend: { display: false },
      tooltip: {
        callbacks: {
          title: (items) => rows[items[0].dataIndex].label,
          label: (item) => [format(rows[item.dataIndex].value), ...(rows[item.dataIndex].note || [])],
        },
      },
    },
    onClick: (_, items) => clicked(items) && clicked(items)(),
    onHover: (event, items) => {
      event.native.target.style.cursor = clicked(items) ? "pointer" : "";
    },
  });
}

/* Horizontal bars of several parts. parts: [{label, colour, values}] with one value for each label. */
function stacked(id, labels, parts, title = "") {
  const shown = parts.filter((part) => part.values.some((value) => value));
  const datasets = shown.map((part) => ({ label: part.label, data: part.values, backgroundColor: part.colour }));
  horizontal(id, labels, datasets, 96, axis(title, { stacked: true, ticks: { precision: 0 } }), {
    interaction: { mode: "index", axis: "y", intersect: false },
    plugins: {
      tooltip: {
        displayColors: true,
        filter: (item) => item.raw,
        callbacks: { title: (items) => (items.length ? labels[items[0].dataIndex] : "") },
      },
    },
  });
}

/* A line from x to y. */
function curve(id, points, { x, y, note }) {
  const canvas = place(id, points.length < 2, 300);
  if (!canvas) return;
  new Chart(canvas, {
    type: "line",
    data: { datasets: [{ data: points, borderColor: COLOURS[0], backgroundColor: "rgb(47 102 144 / 10%)", fill: true, pointRadius: 0, pointHitRadius: 8, borderWidth: 2 }] },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: axis(x, { type: "linear", min: 0, ticks: { precision: 0 } }), y: axis(y, { min: 0, max: 100 }) },
      plugins: { legend: { display: false }, tooltip: { callbacks: { title: () => "", label: (item) => note(item.raw) } } },
    },
  });
}

/* Points on a logarithmic axis, with the tolerance as a line. points: [{x, y, good, note, click}]. */
function differences(id, points, tolerance, { x = "", labels = null } = {}) {
  const canvas = place(id, !points.length, labels ? Math.max(130, 80 + 24 * labels.length) : 380);
  if (!canvas) return;
  const least = 1e-9; // what is closer is drawn as equal
  const value = (point) => Math.max(point.value, least);
  const sideways = Boolean(labels);
  const at = (point) => (sideways ? { x: value(point), y: point.at } : { x: point.at, y: value(point) });
  const ends = sideways ? [-0.5, labels.length - 0.5] : [-1, Math.max(...points.map((point) => point.at)) + 1];
  const line = ends.map((end) => (sideways ? { x: tolerance, y: end } : { x: end, y: tolerance }));
  const tickName = (tick) => {
    if (Math.abs(tick / least - 1) < 1e-6) return "equal";
    return tick > least && Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-6 ? scientific(tick) : null;
  };
  const largest = Math.max(tolerance * 10, ...points.map(value));
  const logarithmic = axis("largest relative difference", { type: "logarithmic", min: 0.7 * least, max: largest * 3, ticks: { callback: tickName } });
  const plain = sideways
    ? axis("", { type: "linear", min: -0.5, max: labels.length - 0.5, grid: { display: false }, reverse: true, ticks: { stepSize: 0.5, autoSkip: false, callback: (tick) => (Number.isInteger(tick) ? inLines(labels[tick] || "", mostOf()) : null) } })
    : axis(x, { type: "linear", min: ends[0], max: ends[1], ticks: { precision: 0, includeBounds: false } });
  new Chart(canvas, {
    data: {
      datasets: [
        { type: "scatter", label: "operators", data: points.map(at), backgroundColor: points.map((point) => (point.good ? "#2f6690" : "#b3261e")), pointRadius: sideways ? 5 : 3.2, pointHoverRadius: 6 },
        { type: "line", label: "tolerance", data: line, borderColor: "#d9a441", borderDash: [6, 5], borderWidth: 1.5, pointRadius: 0, pointHitRadius: 0 },
      ],
    },
    options: {
      scales: { x: sideways ? logarithmic : plain, y: sideways ? plain : logarithmic },
      plugins: {
        legend: { display: false },
        tooltip: { filter: (item) => item.datasetIndex === 0, callbacks: { label: (item) => points[item.dataIndex].note } },
      },
      onClick: (_, items) => {
        const hit = items.find((item) => item.datasetIndex === 0);
        if (hit && points[hit.index].click) points[hit.index].click();
      },
    },
  });
}
