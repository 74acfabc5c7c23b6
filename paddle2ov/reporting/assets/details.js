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

function showDetails(kind, ref, label) {
  let parts;
  if (kind === "operator" || kind === "block") parts = aboutOperator(OPERATORS[ref]);
  else if (kind === "primitive") parts = aboutPrimitive(PRIMITIVES[ref]);
  else {
    const ports = kind === "input" ? DATA.inputs : DATA.outputs;
    const port = view.which === 0 ? ports[ref] : ports.find((one) => one.name === label);
    parts = port ? aboutPort(port) : aboutPrimitive(PRIMITIVES[ref]);
  }
  byId("details").replaceChildren(...parts);
  byId("details").scrollTop = 0;
}
