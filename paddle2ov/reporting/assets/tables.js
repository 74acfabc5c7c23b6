"use strict";
/* Tables of many rows: filter, sort by a column, and only as many rows in the page as are looked at. */

const PAGE_OF_ROWS = 200;

/* columns: [{title, value(row), show(row), number, name, lines}]; text(row): what the filter looks in. */
function fillTable(name, rows, columns, { text, click }) {
  const table = byId(`table-${name}`);
  if (!table) return;
  const filter = byId(`filter-${name}`);
  const more = byId(`more-${name}`);
  const state = { column: null, descending: false, shown: PAGE_OF_ROWS };
  const texts = new Map(rows.map((row) => [row, text(row).toLowerCase()]));
  const head = columns.map((column, i) =>
    element("th", { class: column.number ? "number" : "", scope: "col" }, element("button", { type: "button", onclick: () => sortBy(i) }, column.title)));
  const body = element("tbody");
  table.append(element("thead", {}, element("tr", {}, ...head)), body);

  function sortBy(i) {
    state.descending = state.column === i ? !state.descending : Boolean(columns[i].number);
    state.column = i;
    head.forEach((cell, k) => (k === i ? cell.setAttribute("aria-sort", state.descending ? "descending" : "ascending") : cell.removeAttribute("aria-sort")));
    update();
  }

  function compare(a, b) {
    const { value } = columns[state.column];
    const [one, other] = [value(a), value(b)];
    const missing = (one === null || one === undefined) - (other === null || other === undefined);
    if (missing) return missing;
    const order = typeof one === "number" ? one - other : String(one).localeCompare(String(other));
    return state.descending ? -order : order;
  }

  function update() {
    const wanted = filter.value.trim().toLowerCase();
    const found = rows.filter((row) => texts.get(row).includes(wanted));
    if (state.column !== null) found.sort(compare);
    body.replaceChildren(...found.slice(0, state.shown).map((row) =>
      element("tr", { class: click ? "link" : "", onclick: () => click && click(row) },
        ...columns.map((column) => element("td", { class: column.number ? "number" : column.name ? "name" : column.lines ? "lines" : "" }, column.show ? column.show(row) : String(column.value(row) ?? "–"))))));
    byId(`count-${name}`).textContent = found.length === rows.length ? counted(rows.length, "row") : `${found.length} of ${counted(rows.length, "row")}`;
    more.hidden = found.length <= state.shown;
  }

  filter.addEventListener("input", () => {
    state.shown = PAGE_OF_ROWS;
    update();
  });
  more.addEventListener("click", () => {
    state.shown += 5 * PAGE_OF_ROWS;
    update();
  });
  update();
}
