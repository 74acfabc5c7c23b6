"use strict";
/* What is known of one node, beside the graph. */

const list = (items) => element("ul", {}, ...items.map((item) => element("li", {}, item)));

function pairs(entries) {
  const rows = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return element("dl", {}, ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function part(title, content) {
  return [element("h4", {}, title), content];
}

const operatorLink = (id) => jump(`${OPERATORS[id].type} ${OPERATORS[id].outputs[0] || `#${id}`}`, `o${id}`);
const primitiveLink = (id) => jump(`${PRIMITIVES[id].layer}, ${PRIMITIVES[id].kernel}`, `p${id}`);

function aboutOperator(one) {
  const parts = [element("h3", {}, one.type), element("p", { class: "count" }, one.block < 0 ? "built in by --preprocess" : `operator ${one.index} of block ${one.block}`)];
  parts.push(...part("Became", element("p", {}, DATA.fates[one.fate])));
  if (one.primitives.length) parts.push(list(one.primitives.slice(0, 30).map(primitiveLink)));
  if (one.microseconds) parts.push(...part("Time", element("p", {}, `${microseconds(one.microseconds)}, ${share(one.microseconds)} of the run`)));
  if (one.agrees !== undefined || one.difference !== undefined) {
    const words = one.difference === undefined && !one.agrees ? "type or shape differ" : `${scientific(one.difference || 0)} relative`;
    parts.push(...part("Difference to Paddle", element("p", { class: one.agrees ? "good" : "bad" }, words)));
  }
  if (one.module.length) parts.push(...part("Module", element("p", { class: "name" }, one.module.join(" / "))));
  parts.push(...part("Results", element("p", { class: "name" }, one.outputs.join(", ") || "none")));
  if (one.inputs.length) parts.push(...part("Reads", element("p", { class: "name" }, one.inputs.join(", "))));
  if (Object.keys(one.attributes).length) parts.push(...part("Attributes", pairs(Object.entries(one.attributes))));
  if (one.source.length) parts.push(...part("Made at", list(one.source.map((frame) => element("span", { class: "name" }, frame)))));
  return parts;
}

function aboutPrimitive(one) {
  const parts = [element("h3", {}, one.layer), element("p", { class: "name" }, one.name)];
  parts.push(...part("Primitive", pairs([
    ["kernel", one.kernel], ["precision", one.precision], ["layout", one.layout], ["order", String(one.id)],
    ["time", one.microseconds === null ? "–" : `${microseconds(one.microseconds)}, ${share(one.microseconds)}`],
  ])));
  if (one.chain.length) parts.push(...part(one.chain.length > 1 ? "Chain" : "Computes", element("p", {}, one.chain.join(" → "))));
  if (one.operators.length) parts.push(...part("Paddle operators", list(one.operators.map(operatorLink))));
  if (one.inferred) parts.push(element("p", { class: "count" }, "OpenVINO does not name all of its nodes; the others follow from their neighbours."));
  if (one.inputs.length) parts.push(...part("Reads", list(one.inputs.map(primitiveLink))));
  return parts;
}

function aboutPort(port) {
  return [element("h3", {}, port.name), ...part("Tensor", pairs([["type", port.dtype], ["shape", port.shape], ["variable", port.variable]]))];
}

function aboutGroup(key) {
  const { folding } = view;
  const item = folding.items.get(key);
  const isOpen = folding.open.has(key);
  const inside = [...folding.nodesOf(key)].map((one) => subject(one.key)).filter(Boolean);
  const time = total(inside, (one) => one.microseconds);
  const path = [...folding.around(item)].filter((one) => one.parent !== null && one.kind === "module").map((one) => one.label).reverse();
  const kinds = [...grouped(inside, (one) => one.type || one.layer)].sort((a, b) => b[1].length - a[1].length);
  const parts = [element("h3", {}, item.label), element("p", { class: "count" }, { module: "module of the source", section: "part of what is too long to show at once", block: "block of a branch or loop" }[item.kind])];
  parts.push(element("p", {}, element("button", { class: "more", type: "button", onclick: () => toggleGroup(key) }, isOpen ? "Fold it" : "Unfold it")));
  if (path.length) parts.push(...part("Inside of", element("p", { class: "name" }, path.join(" / "))));
  if (item.kind === "block") parts.push(...part("Belongs to", operatorLink(item.ref)));
  if (time) parts.push(...part("Time", element("p", {}, `${microseconds(time)}, ${share(time)} of the run`)));
  parts.push(...part("Holds", list(kinds.map(([kind, items]) => `${items.length} ${kind}`))));
  return parts;
}

function about(kind, ref, label) {
  if (kind === "operator") return aboutOperator(OPERATORS[ref]);
  const ports = { input: DATA.inputs, output: DATA.outputs }[kind] || [];
  const port = view.which === 0 ? ports[ref] : ports.find((one) => one.name === label);
  return port ? aboutPort(port) : aboutPrimitive(PRIMITIVES[ref]);
}

function showDetails(parts) {
  byId("details").replaceChildren(...parts);
  byId("details").scrollTop = 0;
}
