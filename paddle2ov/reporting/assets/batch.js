"use strict";
/* The models of a batch, those that need a look first. */

const FORMATS = { pir: "PIR", legacy: "Legacy" };
const isGood = (one) => DATA.good.includes(one.state);
const badge = (one) => element("span", { class: `badge ${isGood(one) ? "good" : "bad"}` }, one.state);
const address = (path) => path.split("/").map(encodeURIComponent).join("/");
const named = (one) => (one.report ? element("a", { href: address(one.report) }, one.name) : one.name);
const rounded = (value, show) => (value === undefined || value === null ? "–" : show(value));

fillTable("models", [...DATA.models].sort((a, b) => isGood(a) - isGood(b)), [
  { title: "model", value: (one) => one.name, show: named, name: true },
  { title: "format", value: (one) => FORMATS[one.format] || "" },
  { title: "state", value: (one) => one.state, show: badge },
  { title: "difference", value: (one) => one.largest, show: (one) => rounded(one.largest, scientific), number: true },
  { title: "nodes", value: (one) => one.nodes, number: true },
  { title: "seconds", value: (one) => one.seconds, show: (one) => rounded(one.seconds, (seconds) => seconds.toFixed(2)), number: true },
  { title: "message", value: (one) => one.message, lines: true },
], { text: (one) => [one.name, one.state, one.message].join("\n") });
