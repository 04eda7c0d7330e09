// Draws one chart with uPlot (vendor/uplot). A chart is plain data: series of lines and points, horizontal levels,
// vertical shades. Ours are the levels and shades, which uPlot does not have, and the keys, since uPlot has a mouse only.

import { dashOf, outline, sample } from "./shapes.js";

const SPARSE = 8;  // markers on a line
const MANY = 60;  // points from which on they are drawn small
const STEPS = 100;  // of the cursor from edge to edge
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export function short(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) { return "–"; }
  return Number(value.toPrecision(digits)).toString();
}

// Returns the limits of an axis: those of the chart, or those of its values.
function limits(range, series, axis) {
  if (range) { return range; }
  const values = series.flatMap((one) => one[axis].filter((v) => v !== null));
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return low < high ? [low, high] : low === high ? [low - 1, high + 1] : [0, 1];
}

// Returns the data as uPlot takes them: one rising x for all series. Points of the same x are moved apart by less than
// can be seen, or only the last would stay.
function aligned(series) {
  if (!series.length) { return [[]]; }
  return uPlot.join(series.map((one) => {
    const known = new Set(), xs = [], ys = [];
    one.x.forEach((x, i) => {
      if (x === null) { return; }
      while (known.has(x)) { x += 1e-9 * Math.max(Math.abs(x), 1); }
      known.add(x);
      xs.push(x);
      ys.push(one.y[i]);
    });
    return [xs, ys];
  }));
}

// Returns the index of the value of a series that is nearest to the cursor: not every series has one at every x.
function nearest(u, place, index, x) {
  const xs = u.data[0], ys = u.data[place];
  let left = index, right = index;
  while (left >= 0 && (ys[left] ?? null) === null) { left -= 1; }
  while (right < xs.length && (ys[right] ?? null) === null) { right += 1; }
  if (left < 0) { return right < xs.length ? right : index; }
  return right < xs.length && xs[right] - x < x - xs[left] ? right : left;
}

export class Chart {
  constructor(parent) {
    this.figure = document.createElement("figure");
    this.figure.className = "card";
    this.figure.innerHTML = '<h2></h2><div class="legend"></div><div class="plot" role="img" tabindex="0" aria-describedby="keys"></div>' +
      '<p class="readout" aria-live="polite"></p><figcaption class="note"></figcaption>';
    [this.heading, this.legend, this.plot, this.readout, this.caption] = this.figure.children;
    parent.append(this.figure);
    this.zoomed = null;
    this.plot.dataset.drawn = 0;
    this.plot.addEventListener("blur", () => this.point(null));
    this.plot.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.u?.setSize(this.size())).observe(this.plot);
  }

  // Shows a chart. A zoom stays while it is inside of what the chart shows.
  draw(spec) {
    this.spec = spec;
    this.figure.id = `chart-${spec.key}`;
    this.heading.textContent = spec.title;
    this.caption.textContent = spec.caption;
    this.plot.setAttribute("aria-label", spec.alt);
    this.home = { x: limits(spec.x_range, spec.series, "x"), y: limits(spec.y_range, spec.series, "y") };
    if (this.zoomed && this.zoomed.x[0] >= this.home.x[1]) { this.zoomed = null; }
    const form = JSON.stringify([spec.x_label, spec.y_label, ...spec.series.map((s) => [s.name, s.mode, s.paint, s.dash, s.marker, s.x.length > MANY])]);
    if (form === this.form) {
      this.u.setData(aligned(spec.series));
    } else {
      this.form = form;
      this.u?.destroy();
      this.u = new uPlot(this.options(), aligned(spec.series), this.plot);
      this.legend.querySelectorAll(".u-series .u-marker").forEach((marker, i) => { if (i) { marker.replaceChildren(sample(spec.series[i - 1])); } });
    }
  }

  // Draws again, in the colours of the page.
  repaint() {
    this.u.redraw(false);
  }

  size() {
    return { width: Math.max(this.plot.clientWidth, 160), height: Math.max(this.plot.clientHeight, 120) };
  }

  options() {
    const axis = (label, more) => ({
      label, labelSize: 18, labelGap: 0, font: FONT, labelFont: FONT, stroke: () => color("soft"), ticks: { show: false },
      values: (u, splits) => splits.map((v) => short(v, 6)), ...more,
    });
    const range = (u, low, high, key) => (this.zoomed ?? this.home)[key];
    return {
      ...this.size(),
      padding: [8, 12, 0, 0],
      scales: { x: { time: false, range }, y: { range } },
      axes: [
        axis(this.spec.x_label, { size: 24, gap: 4, grid: { show: false } }),
        axis(this.spec.y_label, { size: 46, gap: 4, space: 36, grid: { stroke: () => color("line"), width: 1 } }),
      ],
      series: [
        { label: this.spec.x_label.split(",")[0], value: (u, v) => short(v, 3) },
        ...this.spec.series.map((one) => this.series(one)),
      ],
      cursor: {
        y: false,
        dataIdx: (u, place, index, x) => (place === 0 ? index : nearest(u, place, index, x)),
        drag: { x: true, y: true, uni: 40, setScale: false },
        bind: { dblclick: () => () => this.zoom(null) },
      },
      legend: { mount: (u, table) => this.legend.replaceChildren(table), markers: { width: 0, fill: () => "transparent" } },
      hooks: {
        drawClear: [(u) => this.shades(u)],
        draw: [(u) => this.markers(u), (u) => this.peak(u), (u) => this.levels(u)],
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.legend.classList.toggle("live", u.cursor.left >= 0)],
      },
    };
  }

  series(one) {
    const common = { label: one.name, class: one.mode, stroke: one.paint, pxAlign: 0, value: (u, v) => short(v) };
    if (one.mode !== "points") { return { ...common, width: one.faint ? 1 : 1.7, alpha: one.faint ? 0.6 : 1, dash: dashOf(one.dash), points: { show: false } }; }
    const many = one.x.length > MANY, size = many ? 3.6 : one.faint ? 6 : 0;
    return { ...common, alpha: size ? 0.55 : 1, paths: () => null, points: { show: size > 0, size, width: 0, fill: one.paint } };
  }

  // Draws the markers: a few on each line, and those of single points.
  markers(u) {
    const { left, top, width, height } = u.bbox, unit = uPlot.pxRatio, c = u.ctx;
    c.save();
    this.spec.series.forEach((one, place) => {
      const isLine = one.mode !== "points", known = one.x.flatMap((x, i) => (x !== null && one.y[i] !== null ? [i] : []));
      if (!u.series[place + 1].show || one.faint || !known.length || (isLine && !one.onLine)) { return; }
      const [low, high] = [one.x[known[0]], one.x[known[known.length - 1]]], few = known.length <= SPARSE;
      const wanted = Array.from({ length: SPARSE }, (_, k) => low + ((high - low) * (k + ((0.15 + 0.37 * place) % 1))) / SPARSE);
      const shown = few || !isLine ? known : wanted.map((x) => known.find((i) => one.x[i] >= x) ?? known[known.length - 1]);
      c.fillStyle = one.paint;
      for (const i of shown) {
        const x = u.valToPos(one.x[i], "x", true), y = u.valToPos(one.y[i], "y", true);
        if (x < left || x > left + width || y < top || y > top + height) { continue; }
        c.fill(new Path2D(outline(one.marker, x, y, (isLine ? 3.2 : 5) * unit)));
      }
    });
    c.restore();
  }

  // Draws an arrow at the place of the greatest value beyond the scale, with words for it.
  peak(u) {
    const { clipped } = this.spec, { left, top, width } = u.bbox, unit = uPlot.pxRatio, c = u.ctx;
    if (!clipped || this.zoomed) { return; }
    const x = Math.min(Math.max(u.valToPos(clipped.at, "x", true), left), left + width);
    c.save();
    Object.assign(c, { fillStyle: color("ink"), strokeStyle: color("card"), lineWidth: 4 * unit, lineJoin: "round", textAlign: "left", textBaseline: "top", font: FONT.replace("12px", `${12 * unit}px`) });
    c.fill(new Path2D(outline("triangle-up", x, top + 5 * unit, 5 * unit)));
    c.strokeText(clipped.words, x + 9 * unit, top);
    c.fillText(clipped.words, x + 9 * unit, top);
    c.restore();
  }

  shades(u) {
    const { left, top, width, height } = u.bbox, inside = (v) => Math.min(Math.max(u.valToPos(v, "x", true), left), left + width);
    u.ctx.save();
    u.ctx.globalAlpha = 0.12;
    u.ctx.fillStyle = color("soft");
    for (const [from, to] of this.spec.shades) { u.ctx.fillRect(inside(from), top, inside(to) - inside(from), height); }
    u.ctx.restore();
  }

  levels(u) {
    const { left, top, width, height } = u.bbox, unit = uPlot.pxRatio, c = u.ctx;
    c.save();
    Object.assign(c, { textAlign: "right", textBaseline: "bottom", lineJoin: "round", font: FONT.replace("12px", `${12 * unit}px`) });
    for (const [at, name] of this.spec.levels) {
      const y = at === null ? -1 : u.valToPos(at, "y", true);
      if (y < top || y > top + height) { continue; }
      Object.assign(c, { lineWidth: unit, strokeStyle: color("soft") });
      c.setLineDash([5 * unit, 4 * unit]);
      c.beginPath();
      c.moveTo(left, y);
      c.lineTo(left + width, y);
      c.stroke();
      c.setLineDash([]);
      Object.assign(c, { lineWidth: 4 * unit, strokeStyle: color("card"), fillStyle: color("ink") });
      c.strokeText(name, left + width - 4 * unit, y - 2 * unit);
      c.fillText(name, left + width - 4 * unit, y - 2 * unit);
    }
    c.restore();
    this.plot.dataset.drawn = Number(this.plot.dataset.drawn) + 1;
  }

  // Shows the part that was dragged over.
  selected(u) {
    const { left, top, width, height } = u.select;
    if (width < 1 || height < 1) { return; }
    this.zoom({ x: [u.posToVal(left, "x"), u.posToVal(left + width, "x")], y: [u.posToVal(top + height, "y"), u.posToVal(top, "y")] });
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  // Shows a part of the plane, or all of it.
  zoom(part) {
    this.zoomed = part;
    const { x, y } = part ?? this.home;
    this.u.batch(() => {
      this.u.setScale("x", { min: x[0], max: x[1] });
      this.u.setScale("y", { min: y[0], max: y[1] });
    });
  }

  // Puts the cursor at a place of the x axis, in pixels, and says the values there.
  point(left) {
    if (!this.u) { return; }
    this.u.setCursor(left === null ? { left: -10, top: -10 } : { left, top: this.u.over.clientHeight / 2 });
    const rows = left === null ? [] : [...this.legend.querySelectorAll(".u-series:not(.u-off)")];
    this.readout.textContent = rows.map((row) => [...row.children].map((cell) => cell.textContent).join(" ")).join(", ");
  }

  key(event) {
    if (!this.u || event.ctrlKey || event.altKey || event.metaKey) { return; }
    const width = this.u.over.clientWidth, at = this.u.cursor.left >= 0 ? this.u.cursor.left : width / 2;
    const { x, y } = this.zoomed ?? this.home;
    const scaled = ([low, high], by, middle = (low + high) / 2) => [middle + by * (low - middle), middle + by * (high - middle)];
    const moved = ([low, high], by) => [low + by * (high - low), high + by * (high - low)];
    const step = (by) => (event.shiftKey ? this.zoom({ x: moved(x, 10 * by / STEPS), y })
      : this.point(Math.min(Math.max(at + by * width / STEPS, 0), width)));
    const around = this.u.cursor.left >= 0 ? this.u.posToVal(at, "x") : undefined;
    const actions = {
      ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      "+": () => this.zoom({ x: scaled(x, 0.7, around), y }), "-": () => this.zoom({ x: scaled(x, 1 / 0.7, around), y }),
      Home: () => this.zoom(null), Escape: () => this.point(null),
    };
    const series = this.u.series[/^[1-9]$/.test(event.key) ? Number(event.key) : 0];
    if (actions[event.key]) {
      actions[event.key]();
    } else if (series && series !== this.u.series[0]) {
      this.u.setSeries(this.u.series.indexOf(series), { show: !series.show });
    } else {
      return;
    }
    event.preventDefault();
  }
}
