"use strict";
// The page of aligned documents: columns that sort the list of pairs, a search in it, and arrow keys between rows.
const collator = new Intl.Collator(undefined, { numeric: true });
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("n"), before = head.getAttribute("aria-sort");
      const up = before ? before === "descending" : !numeric;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const compare = (a, b) => numeric ? a - b : collator.compare(a, b);
      rows.sort((a, b) => {
        const x = value(a, column), y = value(b, column);
        // Rows without a value come last, in either direction.
        return x === "" || y === "" ? (x === "") - (y === "") : (up ? 1 : -1) * compare(x, y);
      });
      body.append(...rows);
    });
  });
  const search = document.createElement("input"), shown = document.createElement("output"), label = document.createElement("label");
  search.type = "search";
  label.append("Search titles ", search, " ", shown);
  table.parentElement.before(label);
  label.className = "search";
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    let left = 0;
    for (const row of rows) {
      const text = `${row.cells[0].textContent} ${row.cells[1].textContent}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      left += !row.hidden;
    }
    shown.textContent = search.value ? `${left} of ${rows.length} pairs` : "";
  });
}
// A tab stop for the sentences of a pair, and one for its pictures; arrow keys move between all its rows.
document.addEventListener("keydown", (event) => {
  const row = event.target;
  if (!row.matches?.(".bead") || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = [...row.closest("article").querySelectorAll(".bead[tabindex]")].filter((other) => other.checkVisibility?.() ?? other.offsetParent);
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length };
  if (!(event.key in steps)) return;
  event.preventDefault();
  const next = rows[Math.min(rows.length - 1, Math.max(0, rows.indexOf(row) + steps[event.key]))];
  row.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
