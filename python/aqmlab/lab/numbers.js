// The tables of the page: numbers of each discipline, and the tins of CAKE.

export function cell(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) { made.setAttribute(key, value); }
  return made;
}

export function row(...cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

const titled = ({ title, unit }) => (unit ? `${title}, ${unit}` : title);
const written = ({ values, digits }, i) => (values[i] === null || values[i] === undefined ? "–" : values[i].toFixed(digits));

// Shows the numbers of each discipline.
export function showNumbers(table, { names, numbers }) {
  const head = row(cell("th", "discipline", { scope: "col", class: "text" }), ...numbers.map((one) => cell("th", titled(one), { scope: "col", title: one.doc })));
  const body = names.map((name, i) => row(cell("th", name, { scope: "row", class: "text" }), ...numbers.map((one) => cell("td", written(one, i), { "data-key": one.key }))));
  table.replaceChildren(head, ...body);
}

// Shows the numbers of these keys large, in this order.
export function showFew(list, { names, numbers }, keys) {
  const chosen = keys.flatMap((key) => numbers.filter((one) => one.key === key));
  list.replaceChildren(...chosen.map((one) => {
    const group = cell("div", "");
    group.append(cell("dt", titled(one), { title: one.doc }), ...names.map((name, i) => {
      const value = cell("dd", "", { "data-few": one.key });
      value.append(...(names.length > 1 ? [cell("span", `${name} `)] : []), cell("strong", written(one, i)));
      return value;
    }));
    return group;
  }));
  list.hidden = !chosen.length;
}

// Shows the tins of CAKE as tc -s prints them, after the warm-up.
export function showTins(section, title, { tins }) {
  const tables = tins.map(({ name, titles, rows }) => {
    const table = document.createElement("table"), scroll = cell("div", "", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Tins of ${name}` });
    table.append(
      row(cell("th", name, { scope: "col", class: "text" }), ...titles.map((one) => cell("th", one, { scope: "col" }))),
      ...rows.map(([word, ...values]) => row(cell("th", word, { scope: "row", class: "text" }), ...values.map((value) => cell("td", value)))));
    scroll.append(table);
    return scroll;
  });
  section.replaceChildren(title, ...tables);
  section.hidden = !tables.length;
}
