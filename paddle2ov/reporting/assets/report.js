"use strict";
/* What each tab shows. */

const OPERATORS = DATA.operators.map((one) => ({ id: 0, block: 0, index: 0, inputs: [], outputs: [], attributes: {}, source: [], module: [], primitives: [], ...one }));
const COMPILED = DATA.compiled;
const PRIMITIVES = COMPILED ? COMPILED.primitives : [];
const COMPUTING = PRIMITIVES.filter((one) => one.layer !== "Input" && one.layer !== "Output");
const ALL_TIME = total(COMPUTING, (one) => one.microseconds);
const REORDER = "(layout change)";

const typeOf = (primitive) => (primitive.operator === null ? REORDER : OPERATORS[primitive.operator].type);
const share = (time) => (ALL_TIME ? `${((100 * time) / ALL_TIME).toFixed(1)} %` : "–");
const isMeasured = ALL_TIME > 0;

function described(primitive) {
  const types = [...new Set(primitive.operators.map((id) => OPERATORS[id].type))];
  return types.length ? types.join(" + ") : REORDER;
}

/* Bars of time by a key of the primitives; of their number where nothing was measured. */
function timeBars(id, key, most) {
  const rows = [...grouped(COMPUTING, key)].map(([label, items]) => {
    const time = total(items, (one) => one.microseconds);
    return { label: `${label}  ×${items.length}`, value: isMeasured ? time : items.length, note: [share(time), counted(items.length, "primitive")] };
  }).sort((a, b) => b.value - a.value);
  bars(id, rows.slice(0, most), isMeasured ? { title: "time in one run", format: microseconds } : { title: "primitives" });
}

drawers.summary = () => {
  const fates = grouped(OPERATORS, (one) => one.fate);
  const order = Object.keys(DATA.fates).filter((fate) => fates.has(fate));
  bars("chart-fates", order.map((fate) => ({ label: FATE_WORDS[fate], value: fates.get(fate).length, colour: FATE_COLOURS[fate], note: [DATA.fates[fate]] })), { title: "operators" });
  timeBars("chart-layers", (one) => one.layer, 12);
  const slowest = COMPUTING.filter((one) => one.microseconds).sort((a, b) => b.microseconds - a.microseconds).slice(0, 12);
  bars("chart-slowest", slowest.map((one) => ({
    label: `${described(one)}  (${one.name})`, value: one.microseconds, note: [share(one.microseconds), `${one.layer}, ${one.kernel}`], click: () => showInGraph(`p${one.id}`),
  })), { title: "time in one run", format: microseconds });
};

drawers.operators = () => {
  const types = [...grouped(OPERATORS, (one) => one.type)].sort((a, b) => b[1].length - a[1].length).slice(0, 30);
  stacked("chart-types", types.map(([type]) => type), Object.keys(DATA.fates).map((fate) => ({
    label: FATE_WORDS[fate], colour: FATE_COLOURS[fate], values: types.map(([, items]) => items.filter((one) => one.fate === fate).length),
  })), "operators");
  const kernels = (one) => one.primitives.map((id) => `${PRIMITIVES[id].layer} ${PRIMITIVES[id].kernel}`);
  fillTable("operators", OPERATORS, [
    { title: "#", value: (one) => one.id, number: true },
    { title: "type", value: (one) => one.type },
    { title: "result", value: (one) => one.outputs[0] || "", name: true },
    { title: "became", value: (one) => FATE_WORDS[one.fate] },
    { title: "primitive", value: (one) => kernels(one)[0] || "", show: (one) => (kernels(one)[0] || "–") + (one.primitives.length > 1 ? ` and ${one.primitives.length - 1} more` : ""), name: true },
    { title: "time", value: (one) => one.microseconds, show: (one) => microseconds(one.microseconds), number: true },
    { title: "difference", value: (one) => one.difference, show: (one) => (one.difference === undefined ? "–" : scientific(one.difference)), number: true },
  ], {
    text: (one) => [one.type, ...one.outputs, ...kernels(one), FATE_WORDS[one.fate], ...one.source].join("\n"),
    click: (one) => showInGraph(`o${one.id}`),
  });
};

drawers.rewrites = () => {
  const { rewrites, match_failures: failures, transposes, seconds, operators, nodes, nodes_after: after } = DATA.conversion;
  const rows = Object.entries(rewrites).flatMap(([name, counts], i) =>
    Object.entries(counts).filter(([kind, count]) => count && kind !== "total").map(([kind, count]) => ({ label: `${name}: ${kind}`, value: count, colour: COLOURS[i % COLOURS.length] })));
  bars("chart-rewrites", rows, { title: "changes" });
  const reasons = Object.entries(failures).flatMap(([name, counts], i) =>
    Object.entries(counts).map(([reason, count]) => ({ label: `${name}: ${reason}`, value: count, colour: COLOURS[i % COLOURS.length] })));
  bars("chart-match-failures", reasons, { title: "left alone" });
  const kinds = { total: "total", identity: "identity", reshape: "reduced to reshape", "2-D": "reduced to 2-D", higher: "of a higher rank", removed: "removed" };
  bars("chart-transposes", Object.entries(kinds).filter(([kind]) => transposes[kind]).map(([kind, words]) => ({ label: words, value: transposes[kind] })), { title: "transposes" });
  const sizes = [["operators of the program", operators], ["nodes after translation", nodes], ["nodes after the rewrites", after]];
  if (COMPILED) sizes.push(["primitives", COMPUTING.length]);
  bars("chart-nodes", sizes.map(([label, value]) => ({ label, value })));
  bars("chart-stages", Object.entries(seconds).map(([label, value]) => ({ label, value: 1e6 * value })), { format: microseconds });
};

drawers.fusions = () => {
  const chains = grouped(COMPUTING.filter((one) => one.chain.length > 1), (one) => `${one.layer}: ${one.chain.join(" + ")}`);
  const rows = [...chains].sort((a, b) => b[1].length - a[1].length).slice(0, 30);
  bars("chart-fusions", rows.map(([label, items]) => ({
    label, value: items.length, colour: layerColour(items[0].layer),
    note: [microseconds(total(items, (one) => one.microseconds)) + " in one run", described(items[0])],
  })), { title: "primitives" });
  const kinds = [...grouped(COMPUTING, (one) => one.layer)].sort((a, b) => b[1].length - a[1].length).slice(0, 14);
  stacked("chart-fused", kinds.map(([layer]) => layer), [
    { label: "main operator", colour: FATE_COLOURS.primitive, values: kinds.map(([, items]) => items.filter((one) => one.operator !== null).length) },
    { label: "fused into it", colour: FATE_COLOURS.fused, values: kinds.map(([, items]) => total(items, (one) => Math.max(0, one.operators.length - 1))) },
  ], "operators");
  const kernels = [...grouped(COMPUTING, (one) => one.kernel)].sort((a, b) => b[1].length - a[1].length).slice(0, 14);
  bars("chart-kernels", kernels.map(([label, items]) => ({ label, value: items.length })), { title: "primitives" });
};

drawers.time = () => {
  timeBars("chart-time-operators", typeOf, 24);
  timeBars("chart-time-kernels", (one) => one.kernel, 14);
  const sorted = COMPUTING.map((one) => one.microseconds || 0).sort((a, b) => b - a);
  let sum = 0;
  const points = isMeasured ? [{ x: 0, y: 0 }, ...sorted.map((time, i) => ({ x: i + 1, y: (100 * (sum += time)) / ALL_TIME }))] : [];
  curve("chart-cumulative", points, { x: "primitives, the slowest first", y: "% of the time", note: (point) => `${counted(point.x, "primitive")}: ${point.y.toFixed(1)} % of the time` });
  fillTable("primitives", COMPUTING, [
    { title: "#", value: (one) => one.id, number: true },
    { title: "name", value: (one) => one.name, name: true },
    { title: "primitive", value: (one) => one.layer },
    { title: "kernel", value: (one) => one.kernel, name: true },
    { title: "precision", value: (one) => one.precision },
    { title: "operators", value: described },
    { title: "chain", value: (one) => one.chain.join(" + ") },
    { title: "time", value: (one) => one.microseconds, show: (one) => microseconds(one.microseconds), number: true },
    { title: "share", value: (one) => one.microseconds, show: (one) => (one.microseconds ? share(one.microseconds) : "–"), number: true },
  ], { text: (one) => [one.name, one.layer, one.kernel, described(one), one.chain.join(" + ")].join("\n"), click: (one) => showInGraph(`p${one.id}`) });
};

drawers.accuracy = () => {
  const verification = DATA.verification;
  if (!verification) return;
  const results = verification.runs.flatMap((run, i) => run.outputs.map((one) => ({ ...one, run: i })));
  const name = (one) => (verification.runs.length > 1 ? `${one.name} (run ${one.run + 1})` : one.name);
  const note = (one) => `${name(one)}: ${one.relative === null ? "type or shape differ" : scientific(one.relative)}${one.reason ? `, ${one.reason}` : ""}`;
  differences("chart-outputs", results.map((one, i) => ({ at: i, value: one.relative ?? Infinity, good: !one.reason, note: note(one) })).map(finite), verification.tolerance, { labels: results.map(name) });
  const compared = OPERATORS.filter((one) => one.difference !== undefined || one.agrees === false || one.agrees === true);
  differences("chart-differences", compared.map((one) => ({
    at: one.id, value: one.difference ?? (one.agrees ? 0 : Infinity), good: Boolean(one.agrees),
    note: `${one.type} ${one.outputs[0] || one.id}: ${one.agrees || one.difference !== undefined ? scientific(one.difference ?? 0) : "type or shape differ"}`, click: () => showInGraph(`o${one.id}`),
  })).map(finite), verification.tolerance, { x: "operator" });
};

/* Infinite differences are drawn above all others. */
const finite = (point) => (Number.isFinite(point.value) ? point : { ...point, value: 1e3 });

drawers.graph = () => startGraph();
startTabs();
