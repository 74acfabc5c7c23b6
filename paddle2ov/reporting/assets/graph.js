"use strict";
/* The graphs, drawn on one canvas, so that thousands of nodes stay quick; see folding.js and layout.js. */

const view = { cy: null, folding: null, layout: null, which: 0, colour: "fate", wanted: null, found: [], chosen: -1 };

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

/* A folded group has the colour of all its time, or of the worst in it. */
function groupColour(name, key) {
  const inside = [...view.folding.nodesOf(key)].map((item) => subject(item.key)).filter(Boolean);
  if (name === "time") return timeColour(total(inside, (one) => one.microseconds));
  if (name !== "difference") return null;
  const colours = new Set(inside.map(differenceColour));
  return ["#d9534f", "#f0c36d", "#8cc7a1"].find((one) => colours.has(one)) || null;
}

const colourings = () => (view.which === 0
  ? ["fate", ...(isMeasured ? ["time"] : []), ...(DATA.verification && DATA.verification.operators ? ["difference"] : [])]
  : ["layer", ...(isMeasured ? ["time"] : [])]);

function isDark(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b < 140;
}

const STYLE = () => [
  { selector: "node", style: { shape: "round-rectangle", width: "data(width)", height: "data(height)", "background-color": "data(colour)", "border-width": 1, "border-color": "#9aa6b2", label: "data(label)", color: "data(ink)", "font-size": "data(size)", "font-family": "system-ui, sans-serif", "text-valign": "center", "text-halign": "center", "text-wrap": "wrap", "text-overflow-wrap": "anywhere", "text-max-width": "data(line)", "min-zoomed-font-size": 6, "z-index-compare": "manual", "z-index": 3 } },
  { selector: "node.end", style: { shape: "round-tag", "font-style": "italic" } },
  { selector: "node.folded", style: { "border-width": 2, "border-color": "#7a6fa8", "font-weight": 600 } },
  { selector: "node.box", style: { "background-color": "#7a6fa8", "background-opacity": 0.07, "border-color": "#7a6fa8", "text-valign": "top", "text-margin-y": TITLE - 2, color: themed("--soft"), "text-background-color": themed("--card"), "text-background-opacity": 1, "text-background-padding": 2, "text-background-shape": "roundrectangle", "font-weight": 600, "z-index": 1 } },
  { selector: "node.block", style: { "border-style": "dashed" } },
  { selector: "edge", style: { width: 1.2, "line-color": "#98a4b0", "target-arrow-color": "#98a4b0", "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "straight", "z-index-compare": "manual", "z-index": 0 } },
  { selector: "edge.bent", style: { "curve-style": "round-segments", "segment-distances": "data(distances)", "segment-weights": "data(weights)", "edge-distances": "node-position", "segment-radii": 14 } },
  { selector: "edge.owned", style: { "line-style": "dashed" } },
  { selector: "node:selected", style: { "border-width": 4, "border-color": "#c4622d" } },
  { selector: "edge.near", style: { "line-color": "#c4622d", "target-arrow-color": "#c4622d", width: 2.2, "z-index": 2 } },
];

/* Long names take a second and a third line, none is cut. */
const fontSize = (words) => [[20, 13], [46, 11], [84, 8.5], [Infinity, 6]].find(([most]) => words.length <= most)[1];

/* Bends are points; Cytoscape wants them relative to the line between the ends. */
function segments(from, to, bends) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const weights = [];
  const distances = [];
  for (const { x, y } of bends) {
    const [px, py] = [x - from.x, y - from.y];
    weights.push((px * dx + py * dy) / (length * length));
    distances.push((py * dx - px * dy) / length);
  }
  return { weights, distances };
}

function nodeElement(item, { x, y, width, height }) {
  const isGroup = item.members !== null;
  const isOpen = isGroup && view.folding.open.has(item.key);
  const fused = item.kind === "primitive" ? PRIMITIVES[item.ref].chain.length - 1 : 0;
  const name = item.label || "(no name)";
  const words = isGroup ? (isOpen ? `▾ ${name}` : `▸ ${name}\n${counted(item.count, "node")}`) : name + (fused > 0 ? ` +${fused}` : "");
  const classes = isGroup ? `${isOpen ? "box" : "folded"} ${item.kind}` : item.kind === "operator" || item.kind === "primitive" ? "" : "end";
  const data = { id: item.key, label: words, name: item.label, kind: item.kind, ref: item.ref, width, height, line: width - 8, size: isOpen ? fontSize(name) : isGroup ? fontSize(`${name}${name}`) : fontSize(words), colour: themed("--card"), ink: themed("--ink") };
  return { group: "nodes", data, classes, position: { x, y }, pannable: true };
}

function graphElements() {
  const { folding, layout } = view;
  const places = layout.places();
  const nodes = [...places].map(([key, place]) => nodeElement(folding.items.get(key), place));
  const edges = [...folding.shownEdges()].map(([id, { source, target, owned }]) => {
    const data = { id, source, target };
    const bends = layout.bends(source, target, places);
    if (!bends.length) return { group: "edges", data, classes: owned ? "owned" : "" };
    return { group: "edges", data: { ...data, ...segments(places.get(source), places.get(target), bends) }, classes: owned ? "bent owned" : "bent" };
  });
  return [...nodes, ...edges];
}

const foldings = DATA.graphs.map((graph) => once(() => {
  const folding = new Folding(graph);
  return { folding, layout: new Layout(folding) };
}));

function drawGraph(which) {
  view.which = which;
  Object.assign(view, foldings[which]());
  if (view.cy) view.cy.destroy();
  const elements = graphElements();
  const many = elements.length > 3000;
  view.cy = cytoscape({
    container: byId("graph-canvas"), elements, style: STYLE(), layout: { name: "preset", fit: false },
    minZoom: 0.01, maxZoom: 4, autoungrabify: true, boxSelectionEnabled: false, selectionType: "single",
    hideEdgesOnViewport: many, textureOnViewport: many, pixelRatio: many ? 1 : "auto",
  });
  view.cy.on("select", "node", (event) => selected(event.target));
  view.cy.on("unselect", "node", () => view.cy.edges(".near").removeClass("near"));
  view.cy.on("onetap", "node.folded", (event) => toggleGroup(event.target.id()));
  view.cy.on("dbltap", "node.box", (event) => toggleGroup(event.target.id()));
  for (const button of byId("graph-choice").children) button.setAttribute("aria-pressed", String(Number(button.dataset.which) === which));
  const choice = byId("graph-colour");
  choice.replaceChildren(...colourings().map((name) => element("option", { value: name }, COLOURINGS[name][0])));
  const hasGroups = view.folding.items.get("").members.some((key) => view.folding.items.get(key).members);
  for (const id of ["graph-fold", "graph-unfold"]) byId(id).hidden = !hasGroups;
  byId("graph-folded").textContent = hasGroups ? `${DATA.folded} Click a folded group to open it, double-click an open one to fold it.` : "";
  showState();
  start();
}

/* After a change of what is shown: colours, and the count. */
function showState() {
  paint(colourings().includes(view.colour) ? view.colour : colourings()[0]);
  const all = view.folding.items.get("").count;
  const shown = view.cy.nodes().filter((node) => !["module", "section", "block"].includes(node.data("kind"))).length;
  byId("graph-count").textContent = shown < all ? `${shown.toLocaleString("en")} of ${counted(all, "node")} shown` : counted(all, "node");
}

/* Draws what is open now; a node that is shown before and after stays where it is on the screen. */
function redraw(anchor) {
  const { cy } = view;
  const before = anchor && topOf(anchor);
  cy.batch(() => {
    cy.elements().remove();
    cy.add(graphElements());
  });
  showState();
  const after = anchor && topOf(anchor);
  if (before && after) cy.panBy({ x: before.x - after.x, y: before.y - after.y });
}

/* The middle of an item's upper edge, on the screen. */
function topOf(key) {
  const node = view.cy.getElementById(key);
  if (node.empty()) return null;
  const { x, y } = node.position();
  const [{ x: left, y: top }, zoom] = [view.cy.pan(), view.cy.zoom()];
  return { x: left + zoom * x, y: top + zoom * (y - node.data("height") / 2) };
}

function toggleGroup(key) {
  view.folding.toggle(key);
  redraw(key);
  view.cy.getElementById(key).select();
}

/* Groups are laid out from the inside, a few at a time, so that the page answers meanwhile. */
async function unfoldAll() {
  const { folding, layout } = view;
  byId("graph-unfold").disabled = true;
  folding.openAll();
  let since = performance.now();
  for (const item of [...folding.items.values()].reverse()) {
    if (!item.members) continue;
    layout.of(item.key);
    if (performance.now() - since < 40) continue;
    await new Promise((done) => setTimeout(done));
    since = performance.now();
  }
  byId("graph-unfold").disabled = false;
  if (view.folding === folding) drawGraph(view.which);
}

function foldAll() {
  view.folding.foldAll();
  drawGraph(view.which);
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
    const first = cy.nodes().not(".box").min((node) => node.position("y")).ele;
    const { x, y } = first.position();
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
  view.cy.batch(() => view.cy.nodes().not(".end, .box").forEach((node) => {
    const found = node.hasClass("folded") ? groupColour(name, node.id()) : colour(subject(node.id())) || "#f4f6f8";
    if (!found) return;
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
  showDetails(node.is(".box, .folded") ? aboutGroup(node.id()) : about(node.data("kind"), node.data("ref"), node.data("name")));
}

/* Goes to a node, in whichever graph it stands; an operator that is in neither is described beside it. */
function showInGraph(key) {
  view.wanted = key;
  byId("tab-graph").click();
  if (!view.cy) return;
  view.wanted = null;
  const which = DATA.graphs.findIndex((graph) => graph.nodes.some((node) => node[0] === key));
  if (which >= 0 && which !== view.which) drawGraph(which);
  const { cy, folding } = view;
  cy.elements(":selected").unselect();
  if (cy.getElementById(key).empty() && folding.reveal(key)) redraw();
  const node = cy.getElementById(key);
  if (node.empty()) {
    showDetails(about(key[0] === "o" ? "operator" : "primitive", Number(key.slice(1)), ""));
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
  byId("graph-unfold").addEventListener("click", unfoldAll);
  byId("graph-fold").addEventListener("click", foldAll);
  startSearch();
  drawGraph(0);
  if (view.wanted) showInGraph(view.wanted);
}
