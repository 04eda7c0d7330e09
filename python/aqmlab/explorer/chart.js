// Draws one chart as SVG. A chart is plain data: series of lines and points, horizontal levels, vertical shades.

const LEFT = 52, RIGHT = 12, TOP = 8, BOTTOM = 38;

export function escape(text) {
  return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export function short(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) { return "–"; }
  return Number(value.toPrecision(digits)).toString();
}

function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) { found.push(k * step); }
  return found;
}

function ends(range, series, axis) {
  if (range) { return range; }
  let low = Infinity, high = -Infinity;
  for (const one of series) {
    for (const value of one[axis]) {
      if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
    }
  }
  return low < high ? [low, high] : low === high ? [low - 1, high + 1] : [0, 1];
}

export class Chart {
  constructor(parent) {
    this.figure = document.createElement("figure");
    this.figure.className = "card";
    this.figure.innerHTML = '<h2></h2><ul class="legend"></ul><div class="plot" role="img" tabindex="0"></div><figcaption class="note"></figcaption>';
    [this.heading, this.legend, this.plot, this.caption] = this.figure.children;
    parent.append(this.figure);
    this.at = null;
    this.clip = `inside-${parent.children.length}`;
    this.plot.addEventListener("pointermove", (event) => this.point(event.offsetX));
    this.plot.addEventListener("pointerleave", () => this.point(null));
    this.plot.addEventListener("blur", () => this.point(null));
    this.plot.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => { if (this.spec) { this.draw(this.spec); } }).observe(this.plot);
  }

  draw(spec) {
    this.spec = spec;
    this.figure.id = `chart-${spec.key}`;
    this.heading.textContent = spec.title;
    this.caption.textContent = spec.caption;
    this.plot.setAttribute("aria-label", spec.alt);
    this.legend.innerHTML = spec.series.map((s) => `<li>${sample(s)}${escape(s.name)}</li>`).join("");
    const width = Math.max(this.plot.clientWidth, 160), height = Math.max(this.plot.clientHeight, 120);
    const [x0, x1] = ends(spec.x_range, spec.series, "x"), [y0, y1] = ends(spec.y_range, spec.series, "y");
    this.x = (v) => LEFT + (v - x0) / (x1 - x0) * (width - LEFT - RIGHT);
    this.y = (v) => height - BOTTOM - (v - y0) / (y1 - y0) * (height - TOP - BOTTOM);
    this.back = (px) => x0 + (px - LEFT) / (width - LEFT - RIGHT) * (x1 - x0);
    this.size = { width, height, x0, x1 };
    const inside = (y) => y >= y0 && y <= y1;
    const parts = [];
    for (const [from, to] of spec.shades) {
      const left = this.x(Math.max(from, x0)), right = this.x(Math.min(to, x1));
      if (right > left) { parts.push(`<rect class="shade" x="${left}" y="${TOP}" width="${right - left}" height="${height - TOP - BOTTOM}"/>`); }
    }
    for (const t of ticks(y0, y1, 5)) {
      parts.push(`<line class="grid" x1="${LEFT}" x2="${width - RIGHT}" y1="${this.y(t)}" y2="${this.y(t)}"/>`);
      parts.push(`<text x="${LEFT - 6}" y="${this.y(t) + 4}" text-anchor="end">${short(t, 6)}</text>`);
    }
    for (const t of ticks(x0, x1, 6)) {
      parts.push(`<text x="${this.x(t)}" y="${height - BOTTOM + 16}" text-anchor="middle">${short(t, 6)}</text>`);
    }
    parts.push(`<text x="${(LEFT + width - RIGHT) / 2}" y="${height - 4}" text-anchor="middle">${escape(spec.x_label)}</text>`);
    parts.push(`<text transform="translate(12 ${(TOP + height - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escape(spec.y_label)}</text>`);
    parts.push(`<clipPath id="${this.clip}"><rect x="${LEFT}" y="${TOP - 6}" width="${width - LEFT - RIGHT}" height="${height - TOP - BOTTOM + 12}"/></clipPath>`);
    const drawn = spec.series.map((one) => (one.mode === "points" ? this.dots(one) : this.line(one)));
    parts.push(`<g clip-path="url(#${this.clip})">${drawn.join("")}</g>`);
    for (const [at, name] of spec.levels) {
      if (at === null || !inside(at)) { continue; }
      parts.push(`<line class="level" x1="${LEFT}" x2="${width - RIGHT}" y1="${this.y(at)}" y2="${this.y(at)}"/>`);
      parts.push(`<text class="level-name" x="${width - RIGHT - 4}" y="${this.y(at) - 4}" text-anchor="end">${escape(name)}</text>`);
    }
    this.plot.innerHTML = `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${parts.join("")}<g class="pointer"></g></svg>`;
    this.pointer = this.plot.querySelector(".pointer");
    if (this.at !== null) { this.point(this.at); }
  }

  line(one) {
    let path = "", pen = "M";
    for (let i = 0; i < one.x.length; i += 1) {
      if (one.y[i] === null || one.x[i] === null) { pen = "M"; continue; }
      path += `${pen}${this.x(one.x[i]).toFixed(1)} ${this.y(one.y[i]).toFixed(1)}`;
      pen = "L";
    }
    return `<path class="line" stroke="${one.paint}" d="${path}"/>`;
  }

  dots(one) {
    const many = one.x.length > 60, r = many ? 1.8 : 5;
    let path = "";
    for (let i = 0; i < one.x.length; i += 1) {
      if (one.y[i] === null || one.x[i] === null) { continue; }
      path += `M${(this.x(one.x[i]) - r).toFixed(1)} ${this.y(one.y[i]).toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    }
    return `<path class="${many ? "many" : "few"}" fill="${one.paint}" d="${path}"/>`;
  }

  // The values at one place of the x axis, under the pointer or moved by the arrow keys.
  point(px) {
    this.at = px;
    if (!this.pointer) { return; }
    if (px === null || px < LEFT || px > this.size.width - RIGHT) { this.pointer.innerHTML = ""; return; }
    const value = this.back(px), lines = [];
    for (const one of this.spec.series) {
      if (one.mode === "points" || !one.x.length) { continue; }
      let best = 0;
      for (let i = 1; i < one.x.length; i += 1) {
        if (Math.abs(one.x[i] - value) < Math.abs(one.x[best] - value)) { best = i; }
      }
      lines.push(`${one.name} ${short(one.y[best])}`);
    }
    lines.unshift(`${this.spec.x_label.split(",")[0]} ${short(value, 3)}`);
    const wide = 7 * Math.max(...lines.map((l) => l.length)) + 14, left = px + wide + 8 > this.size.width ? px - wide - 8 : px + 8;
    this.pointer.innerHTML =
      `<line class="cross" x1="${px}" x2="${px}" y1="${TOP}" y2="${this.size.height - BOTTOM}"/>` +
      `<rect class="readout" rx="4" x="${left}" y="${TOP + 4}" width="${wide}" height="${16 * lines.length + 8}"/>` +
      lines.map((l, i) => `<text class="readout-text" x="${left + 7}" y="${TOP + 20 + 16 * i}">${escape(l)}</text>`).join("");
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.size) { return; }
    event.preventDefault();
    const width = this.size.width - LEFT - RIGHT, from = this.at ?? LEFT + width / 2;
    this.point(Math.min(Math.max(from + step * width / 100, LEFT), LEFT + width));
  }
}

function sample(one) {
  const mark = one.mode === "points" ? `<circle cx="9" cy="5" r="4" fill="${one.paint}"/>`
    : `<line x1="0" x2="18" y1="5" y2="5" stroke-width="3" stroke="${one.paint}"/>`;
  return `<svg viewBox="0 0 18 10" aria-hidden="true">${mark}</svg>`;
}
