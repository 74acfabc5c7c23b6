"use strict";
/* The graphs: placed when the report was written, drawn on one canvas, so that thousands of nodes stay quick. */

const view = { cy: null, which: 0, colour: "fate", wanted: null, found: [], chosen: -1 };

const once = (compute) => {
  let value;
  return () => (value === undefined ? (value = compute()) : value);
};
const OTHER_COLOUR = "#d5dae0";
const slowestTime = once(() => COMPUTING.reduce((most, one) => Math.max(most, one.microseconds || 0), 0));
/* The kinds that take the most time, or are the most, get a colour of their own. */
const weightOf = (items) => (isMeasured ? total(items, (one) => one.microseconds) : items.length);
const commonLayers = once(() => [...grouped(COMPUTING, (one) => one.layer)].sort((a, b) => weightOf(b[1]) - weightOf(a[1])).slice(0, COLOURS.length).map(([layer]) => layer));
const layerColour = (layer) => COLOURS[commonLayers().indexOf(layer)] || OTHER_COLOUR;
const READABLE = 0.75;
const SCALE = ["#eef3f7", "#cfe0ec", "#a3c4da", "#6b9dc0", "#3b76a3", "#1f4e79"];

/* What a node of the page stands for. */
function subject(key) {
  const id = Number(key.slice(1));
  if (key[0] === "o") return OPERATORS[id];
  return key[0] === "p" ? PRIMITIVES[id] : null;
}

function timeColour(time) {
  if (!time) return "#f4f6f8";
  const depth = 1 + Math.log10(time / slowestTime()) / 2.5; // 0 at less than three thousandths of the slowest
  return SCALE[Math.min(SCALE.length - 1, Math.max(0, Math.floor(SCALE.length * depth)))];
}

function differenceColour(one) {
  if (one.agrees === undefined && one.difference === undefined) return "#f4f6f8";
  if (!one.agrees) return "#d9534f";
  const far = Math.log10(Math.max(one.difference || 0, 1e-12) / DATA.verification.tolerance);
  return far > -1 ? "#f0c36d" : "#8cc7a1";
}

/* Ways to colour nodes: name -> [words, colour(subject), legend]. */
const COLOURINGS = {
  fate: ["what became of it", (one) => FATE_COLOURS[one.fate], () => Object.keys(DATA.fates).filter((fate) => OPERATORS.some((one) => one.fate === fate)).map((fate) => [FATE_COLOURS[fate], FATE_WORDS[fate]])],
  layer: ["kind", (one) => layerColour(one.layer), () => [...commonLayers().map((layer) => [layerColour(layer), layer]), ...(COMPUTING.some((one) => layerColour(one.layer) === OTHER_COLOUR) ? [[OTHER_COLOUR, "others"]] : [])]],
  time: ["time", (one) => timeColour(one.microseconds), () => SCALE.map((colour, i) => [colour, { 0: "fast", [SCALE.length - 1]: "slow" }[i] || ""])],
  difference: ["difference to Paddle", differenceColour, () => [["#8cc7a1", "within a tenth of the tolerance"], ["#f0c36d", "within the tolerance"], ["#d9534f", "differs"], ["#f4f6f8", "not compared"]]],
};

const colourings = () => (view.which === 0
  ? ["fate", ...(isMeasured ? ["time"] : []), ...(DATA.verification && DATA.verification.operators ? ["difference"] : [])]
  : ["layer", ...(isMeasured ? ["time"] : [])]);

function isDark(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b < 140;
}

const STYLE = [
  { selector: "node", style: { shape: "round-rectangle", width: 150, height: 34, "background-color": "data(colour)", "border-width": 1, "border-color": "#b9c3cd", label: "data(label)", color: "data(ink)", "font-size": "data(size)", "font-family": "system-ui, sans-serif", "text-valign": "center", "text-halign": "center", "text-wrap": "wrap", "text-overflow-wrap": "anywhere", "text-max-width": 142, "min-zoomed-font-size": 6 } },
  { selector: "node.end", style: { shape: "round-tag", "background-color": "#fff", "border-color": "#8a95a3", "font-style": "italic" } },
  { selector: "node.box", style: { "background-color": "#f3f1f9", "background-opacity": 0.6, "border-color": "#7a6fa8", "border-style": "dashed", "text-wrap": "none", "text-valign": "top", "text-margin-y": -4, color: "#5f558c", padding: 18 } },
  { selector: "edge", style: { width: 1.2, "line-color": "#a7b1bc", "target-arrow-color": "#a7b1bc", "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "straight" } },
  { selector: "edge.bent", style: { "curve-style": "round-segments", "segment-distances": "data(distances)", "segment-weights": "data(weights)", "edge-distances": "node-position", "segment-radii": 18 } },
  { selector: "edge.far", style: { "line-style": "dashed", "line-color": "#ccd4dc", "target-arrow-color": "#ccd4dc", "curve-style": "straight" } },
  { selector: "node:selected", style: { "border-width": 4, "border-color": "#c4622d" } },
  { selector: "edge.near", style: { "line-color": "#c4622d", "target-arrow-color": "#c4622d", width: 2.2, "z-index": 10 } },
];

/* Long names take a second and a third line, none is cut. */
const fontSize = (words) => [[20, 13], [46, 11], [84, 8.5], [Infinity, 6]].find(([most]) => words.length <= most)[1];

/* Bends are kept as points; Cytoscape wants them relative to the line between the ends. */
function segments(from, to, bends) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const weights = [];
  const distances = [];
  for (const [x, y] of bends) {
    const [px, py] = [x - from.x, y - from.y];
    weights.push((px * dx + py * dy) / (length * length));
    distances.push((py * dx - px * dy) / length);
  }
  return { weights, distances };
}

function graphElements(graph) {
  const places = new Map();
  const nodes = graph.nodes.map(([key, kind, label, ref, box, x, y]) => {
    places.set(key, { x, y });
    const fused = kind === "primitive" ? PRIMITIVES[ref].chain.length - 1 : 0;
    const words = (label || "(no name)") + (fused > 0 ? ` +${fused}` : "");
    const one = { group: "nodes", data: { id: key, label: words, name: label, kind, ref, size: kind === "block" ? 13 : fontSize(words), colour: "#ffffff", ink: "#1d2733" }, classes: kind === "block" ? "box" : kind === "operator" || kind === "primitive" ? "" : "end" };
    if (box) one.data.parent = box;
    if (kind !== "block") one.position = { x, y };
    return one;
  });
  const edges = graph.edges.map(([source, target, bends], i) => {
    const data = { id: `e${i}`, source, target };
    if (!bends) return { group: "edges", data, classes: "far" };
    if (!bends.length) return { group: "edges", data };
    return { group: "edges", data: { ...data, ...segments(places.get(source), places.get(target), bends) }, classes: "bent" };
  });
  return [...nodes, ...edges];
}

function drawGraph(which) {
  view.which = which;
  if (view.cy) view.cy.destroy();
  const graph = DATA.graphs[which];
  const many = graph.nodes.length > 1200;
  view.cy = cytoscape({
    container: byId("graph-canvas"), elements: graphElements(graph), style: STYLE, layout: { name: "preset", fit: false },
    minZoom: 0.01, maxZoom: 4, autoungrabify: true, boxSelectionEnabled: false, selectionType: "single",
    hideEdgesOnViewport: many, textureOnViewport: many, pixelRatio: many ? 1 : "auto",
  });
  view.cy.on("select", "node", (event) => selected(event.target));
  view.cy.on("unselect", "node", () => view.cy.edges(".near").removeClass("near"));
  for (const button of byId("graph-choice").children) button.setAttribute("aria-pressed", String(Number(button.dataset.which) === which));
  byId("graph-count").textContent = `${counted(graph.nodes.length, "node")}, ${counted(graph.edges.length, "edge")}`;
  const choice = byId("graph-colour");
  choice.replaceChildren(...colourings().map((name) => element("option", { value: name }, COLOURINGS[name][0])));
  paint(colourings().includes(view.colour) ? view.colour : colourings()[0]);
  start();
}

/* All of it where names can be read then; else its first nodes. */
function start() {
  const { cy } = view;
  cy.fit(undefined, 30);
  if (cy.zoom() > 1.1) {
    cy.zoom(1.1);
    cy.center();
  }
  if (cy.zoom() < READABLE) {
    cy.zoom(READABLE);
    const [x, y] = DATA.graphs[view.which].nodes[0].slice(5);
    const { x1, w } = cy.elements().boundingBox();
    const left = Math.max(30, (cy.width() - w * READABLE) / 2) - x1 * READABLE; // the left edge, or the middle where all fits
    const isSeen = left + x * READABLE < cy.width() - 100;
    cy.pan({ x: isSeen ? left : cy.width() / 2 - x * READABLE, y: 40 - y * READABLE });
  }
}

function paint(name) {
  view.colour = name;
  byId("graph-colour").value = name;
  const [, colour, legend] = COLOURINGS[name];
  view.cy.batch(() => view.cy.nodes().forEach((node) => {
    if (node.data("kind") !== "operator" && node.data("kind") !== "primitive") return;
    const found = colour(subject(node.id())) || "#f4f6f8";
    node.data({ colour: found, ink: isDark(found) ? "#ffffff" : "#1d2733" });
  }));
  byId("graph-legend").replaceChildren(...legend().map(([swatch, words]) => {
    const one = element("span", {}, words);
    one.style.setProperty("--swatch", swatch);
    return one;
  }));
}

function selected(node) {
  view.cy.edges(".near").removeClass("near");
  node.connectedEdges().addClass("near");
  showDetails(node.data("kind"), node.data("ref"), node.data("name"));
}

/* Goes to a node, in whichever graph it stands; an operator that is in neither is described beside it. */
function showInGraph(key) {
  view.wanted = key;
  byId("tab-graph").click();
  if (!view.cy) return;
  view.wanted = null;
  const which = DATA.graphs.findIndex((graph) => graph.nodes.some((node) => node[0] === key));
  if (which >= 0 && which !== view.which) drawGraph(which);
  const { cy } = view;
  cy.elements(":selected").unselect();
  const node = cy.getElementById(key);
  if (node.empty()) {
    showDetails(key[0] === "o" ? "operator" : "primitive", Number(key.slice(1)), "");
    return;
  }
  cy.resize();
  cy.zoom(Math.max(cy.zoom(), 1));
  cy.center(node);
  node.select();
}

function startGraph() {
  byId("graph-choice").replaceChildren(...DATA.graphs.map((graph, i) =>
    element("button", { type: "button", onclick: () => drawGraph(i), "data-which": String(i) }, graph.title)));
  byId("graph-colour").addEventListener("change", (event) => paint(event.target.value));
  const zoom = (factor) => view.cy.zoom({ level: view.cy.zoom() * factor, renderedPosition: { x: view.cy.width() / 2, y: view.cy.height() / 2 } });
  byId("graph-in").addEventListener("click", () => zoom(1.5));
  byId("graph-out").addEventListener("click", () => zoom(1 / 1.5));
  byId("graph-fit").addEventListener("click", () => view.cy.fit(undefined, 30));
  startSearch();
  drawGraph(0);
  if (view.wanted) showInGraph(view.wanted);
}

/* --- search ------------------------------------------------------------------------------------------------------ */

function searched(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const operators = OPERATORS.filter((one) => [one.type, ...one.outputs, ...one.source].some((part) => part.toLowerCase().includes(wanted)))
    .map((one) => ({ key: `o${one.id}`, name: one.type, note: one.outputs[0] || `operator ${one.id}` }));
  const primitives = COMPUTING.filter((one) => [one.name, one.layer, one.kernel].some((part) => part.toLowerCase().includes(wanted)))
    .map((one) => ({ key: `p${one.id}`, name: one.layer, note: `${one.kernel}  ${one.name}` }));
  return view.which === 0 ? [...operators, ...primitives] : [...primitives, ...operators];
}

function startSearch() {
  const [input, list] = [byId("graph-search"), byId("graph-found")];
  const close = () => (list.hidden = true);
  const go = (one) => {
    close();
    showInGraph(one.key);
  };
  const mark = () => [...list.children].forEach((row, i) => row.classList.toggle("chosen", i === view.chosen));
  input.addEventListener("input", () => {
    view.found = searched(input.value);
    view.chosen = view.found.length ? 0 : -1;
    const rows = view.found.slice(0, 60).map((one) => element("li", { onmousedown: () => go(one) }, one.name, element("small", {}, one.note)));
    if (!view.found.length && input.value.trim()) rows.push(element("li", {}, "Nothing found"));
    if (view.found.length > 60) rows.push(element("li", {}, `${view.found.length - 60} more`));
    list.replaceChildren(...rows);
    list.hidden = !rows.length;
    mark();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && view.found.length) {
      view.chosen = (view.chosen + step + Math.min(60, view.found.length)) % Math.min(60, view.found.length);
      mark();
      event.preventDefault();
    }
    if (event.key === "Enter" && view.found[view.chosen]) go(view.found[view.chosen]);
    if (event.key === "Escape") close();
  });
  input.addEventListener("blur", close);
}
