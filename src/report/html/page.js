"use strict";
// Sorts tables by a column, and shows raw numbers of the figure that is chosen. Well-formed XML too: no sign that is markup.
(function () {
  const all = (root, what) => Array.from(root.querySelectorAll(what));
  const key = (row, at) => {
    const value = row.children[at].dataset.value;
    return value === undefined ? null : Number(value);
  };
  // Places without a figure come last, whichever way the others go.
  const order = (one, other, down) => {
    if (one === other) return 0;
    if (one === null) return 1;
    if (other === null) return -1;
    return (down ? -1 : 1) * (one - other);
  };
  const sort = (table, heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    const at = heading.cellIndex;
    const words = all(table, "tbody tr").every((row) => key(row, at) === null);
    const rows = all(table, "tbody tr").map((row) => ({ row, value: key(row, at), text: row.children[at].textContent }));
    rows.sort((one, other) => words ? (down ? -1 : 1) * one.text.localeCompare(other.text, "en") : order(one.value, other.value, down));
    rows.forEach(({ row }) => table.tBodies[0].append(row));
    all(table, "thead th").forEach((other) => other.setAttribute("aria-sort", "none"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  const figures = (table) => all(table, "td[title]");
  const choose = (table, place) => {
    figures(table).forEach((other) => { other.tabIndex = other === place ? 0 : -1; });
  };
  const show = (table, place) => {
    const heads = all(table, "thead th");
    const names = [place.parentNode.children[0].textContent, heads[place.cellIndex].textContent];
    document.getElementById(table.getAttribute("aria-describedby")).textContent = names.join(", ") + ": " + place.title;
  };
  const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  // The next figure in that direction, over places that have none.
  const next = (table, place, [down, right]) => {
    const rows = all(table, "tbody tr");
    let row = rows.indexOf(place.parentNode);
    let at = place.cellIndex;
    do {
      row += down;
      at += right;
    } while (rows[row]?.children[at]?.matches("td:not([title])"));
    const found = rows[row]?.children[at];
    return found?.matches("td[title]") ? found : null;
  };
  all(document, "table[aria-describedby]").forEach((table) => {
    all(table, "thead button").forEach((button) => button.addEventListener("click", () => sort(table, button.parentNode)));
    choose(table, figures(table)[0]);
    figures(table).forEach((place) => {
      place.addEventListener("focus", () => { choose(table, place); show(table, place); });
      place.addEventListener("mouseenter", () => show(table, place));
      place.addEventListener("click", () => place.focus());
      place.addEventListener("keydown", (event) => {
        const found = moves[event.key] ? next(table, place, moves[event.key]) : null;
        if (found) {
          event.preventDefault();
          found.focus();
        }
      });
    });
  });
})();
