// The controls: one slider with a field for the exact value, list or switch for each.

const POSITIONS = 200, FIRST = 3;

function significant(value, digits) {
  return Number(value.toPrecision(digits));
}

// The values that a slider goes through: evenly spaced or in equal ratios, each once.
export function stops(control) {
  const whole = control.step === 1 || control.unit === "packets";
  const found = [];
  for (let i = 0; i <= POSITIONS; i += 1) {
    const share = i / POSITIONS;
    const value = control.log ? control.low * (control.high / control.low) ** share : control.low + (control.high - control.low) * share;
    const kept = whole ? Math.round(value) : significant(value, 3);
    if (kept >= control.least && kept <= control.most && (!found.length || kept > found[found.length - 1])) { found.push(kept); }
  }
  return found;
}

function nearest(values, value) {
  let best = 0;
  values.forEach((v, i) => { if (Math.abs(v - value) < Math.abs(values[best] - value)) { best = i; } });
  return best;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) { made.setAttribute(key, value); }
  made.append(...children);
  return made;
}

export class Panel {
  // `changed(key, value, movement)` is called when the user changes something; `movement` is the key of the control that was moved.
  constructor(home, changed) {
    this.home = home;
    this.changed = changed;
    this.rows = new Map();
  }

  // With `unfolded` the group of further parameters is open: the controls are few and chosen.
  show(controls, values, unfolded = false) {
    const open = new Set([...this.home.querySelectorAll("details[open]")].map((d) => d.dataset.group.split(" ")[0]));
    const focused = document.activeElement?.id;
    this.home.replaceChildren();
    this.rows.clear();
    const groups = new Map();
    controls.forEach((control, index) => {
      if (!groups.has(control.group)) { groups.set(control.group, this.group(control.group, unfolded || open.has("More"))); }
      const row = this.row(control, `control-${index}`);
      this.rows.set(control.key, row);
      groups.get(control.group).append(row.element);
      this.set(control.key, values[control.key] ?? control.value);
    });
    this.pickFirst();
    if (focused) { document.getElementById(focused)?.focus(); }
  }

  group(name, isOpen) {
    const folded = name.startsWith("More of ");
    const made = folded ? element("details", { "data-group": name }, element("summary", {}, name)) : element("fieldset", {}, element("legend", {}, name));
    if (folded && isOpen) { made.open = true; }
    this.home.append(made);
    return made;
  }

  row(control, id) {
    const label = element("label", { for: id }, control.label);
    const box = element("div", { class: "control", "data-key": control.key }, label);
    if (control.doc) { label.title = control.doc; }
    const row = { control, element: box };
    if (control.kind === "number") { this.number(row, id); }
    if (control.kind === "choice") {
      row.input = element("select", { id }, ...control.choices.map((word) => element("option", { value: word }, word)));
      row.input.addEventListener("change", () => this.user(control.key, row.input.value));
      box.append(row.input);
    }
    if (control.kind === "switch") {
      row.input = element("input", { id, type: "checkbox" });
      row.input.addEventListener("change", () => this.user(control.key, row.input.checked));
      box.append(row.input);
    }
    return row;
  }

  number(row, id) {
    const { control } = row;
    row.stops = stops(control);
    row.input = element("input", { id, type: "range", min: 0, max: row.stops.length - 1, step: 1 });
    row.exact = element("input", {
      type: "number", step: control.step || "any", min: control.least, max: control.most,
      "aria-label": `${control.label}, exact value${control.unit ? ` in ${control.unit}` : ""}`,
    });
    row.input.addEventListener("input", () => this.user(control.key, row.stops[row.input.valueAsNumber]));
    row.exact.addEventListener("change", () => {
      if (Number.isFinite(row.exact.valueAsNumber)) { this.user(control.key, row.exact.valueAsNumber); }
    });
    row.element.append(element("span", { class: "exact" }, row.exact, control.unit ? ` ${control.unit}` : ""), row.input);
  }

  user(key, value, movement = key) {
    this.set(key, value);
    this.changed(key, value, movement);
    this.keepOrder(key, value, movement);
  }

  // A lower threshold pushes the upper one before it, and the other way round.
  keepOrder(key, value, movement) {
    for (const { control } of this.rows.values()) {
      const other = this.rows.get(control.below);
      if (!other) { continue; }
      const prefix = control.key, upper = control.below;
      if (key === prefix && value >= this.value(upper)) { this.push(upper, value + 1, movement); }
      if (key === upper && value <= this.value(prefix)) { this.push(prefix, Math.max(value - 1, value / 2), movement); }
    }
  }

  push(key, value, movement) {
    this.set(key, value);
    this.changed(key, value, movement);
  }

  // Hides the controls of these keys, which have no effect, and groups without any other control.
  hide(keys) {
    for (const [key, row] of this.rows) { row.element.hidden = keys.has(key); }
    for (const group of this.home.children) { group.hidden = !group.querySelector(".control:not([hidden])"); }
    this.pickFirst();
  }

  // Marks the three controls that stay in view on a narrow page: the first sliders but the one of the question.
  pickFirst() {
    const shown = [...this.rows.values()].filter((row) => !row.element.hidden);
    const sliders = shown.filter((row) => row.stops && row.control.key !== this.asked).slice(0, FIRST);
    for (const row of shown) { row.element.classList.toggle("first", sliders.includes(row)); }
  }

  // Shows a sentence with controls in it: {KEY} in its text stands for one.
  sentence(text, controls, values) {
    this.home.replaceChildren();
    this.rows.clear();
    text.split(/\{([^{}]+)\}/).forEach((part, index) => {
      const control = index % 2 ? controls.find(({ key }) => key === part) : null;
      if (!control) { this.home.append(part); return; }
      const row = this.row(control, `asked-${index}`);
      row.element.className = "asked";
      delete row.element.dataset.key;
      row.element.dataset.asked = control.key;
      row.element.firstChild.className = "unseen";
      this.rows.set(control.key, row);
      this.home.append(row.element);
      this.set(control.key, values[control.key] ?? control.value);
    });
  }

  value(key) {
    return this.rows.get(key).value;
  }

  set(key, value) {
    const row = this.rows.get(key);
    if (!row) { return; }
    const { control } = row;
    row.value = value;
    row.element.classList.toggle("changed", value !== control.value);
    if (control.kind === "switch") { row.input.checked = value; return; }
    if (control.kind === "choice") { row.input.value = value; return; }
    row.input.value = nearest(row.stops, value);
    row.input.setAttribute("aria-valuetext", `${significant(value, 4)} ${control.unit}`.trim());
    row.exact.value = significant(value, 6);
  }
}
