"use strict";
/* Small helpers: elements, numbers, tabs. */

const byId = (id) => document.getElementById(id);

/* An element with properties and children; strings become text. */
function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/* A jump to a node of the graph, as a link. */
const jump = (text, key) => element("button", { class: "jump", type: "button", onclick: () => showInGraph(key) }, text);

function microseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  if (value >= 1000) return (value / 1000).toFixed(value >= 100000 ? 0 : 2) + " ms";
  return value.toFixed(value >= 100 ? 0 : 1) + " µs";
}

const scientific = (value) => (value === 0 ? "0" : value.toExponential(1));
const counted = (count, one, more = one + "s") => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

/* Groups of items by a key, in the order of their first member. */
function grouped(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

const total = (items, value) => items.reduce((sum, item) => sum + (value(item) || 0), 0);

/* Tabs: a panel is drawn when it is first shown. */
const drawn = new Set();
const drawers = {};

function showTab(id) {
  for (const button of document.querySelectorAll(".tabs button")) {
    const chosen = button.getAttribute("aria-controls") === id;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    byId(button.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (!drawn.has(id)) {
    drawn.add(id);
    if (drawers[id]) drawers[id]();
  }
}

function startTabs() {
  const buttons = [...document.querySelectorAll(".tabs button")];
  buttons.forEach((button, i) => {
    const id = button.getAttribute("aria-controls");
    button.addEventListener("click", () => {
      showTab(id);
      history.replaceState(null, "", "#" + id);
    });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = buttons[(i + step + buttons.length) % buttons.length];
      next.focus();
      next.click();
    });
  });
  const wanted = location.hash.slice(1);
  const known = buttons.map((button) => button.getAttribute("aria-controls"));
  showTab(known.includes(wanted) ? wanted : known[0]);
}
