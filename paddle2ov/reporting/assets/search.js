"use strict";
/* The search of the graphs: operators and primitives, also those that are folded. */

function searched(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const operators = OPERATORS.filter((one) => [one.type, ...one.outputs, one.module.join("/"), ...one.source].some((part) => part.toLowerCase().includes(wanted)))
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
