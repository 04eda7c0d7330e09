// Shows a queue packet by packet: packets come from the left, wait, and leave over the link at the right. Dropped packets
// fall; marked ones have a ring. A view is plain data: { from_s, until_s, flows, palette, lanes: [{ name, levels, curve, start, steps }] }.
// A lane with a curve has it above the queue, on the same scale; the queue of another discipline can stand behind as a ghost.

import { CURVE, drawCurve, fromPlace, toPlace } from "./curve_view.js";

const LANE = 128, TOP = 46, CELL = 22, WIDEST = 16, LINK = 92, LEFT = 64, NARROW = 480, FALL_MS = 700, LEAVE_MS = 350, FRAME_MS = 30;
const EASE = 0.5;  // of the way to its place that a packet goes in one frame

// One lane: the queue at a time, and the packets that are on their way out of the picture.
class Lane {
  constructor({ name, levels, curve = null, start, steps }) {
    Object.assign(this, { name, levels, curve, start, steps });
    this.most = Math.max(12, ...levels.map(([height]) => 1.1 * height), curve?.most ?? 0, this.longest());
    this.rewind();
  }

  get height() { return LANE + (this.curve ? CURVE : 0); }

  longest() {
    let now = this.start.length, most = now;
    for (const { kind } of this.steps) { now += kind === "+" ? 1 : kind === "m" ? 0 : -1; most = Math.max(most, now); }
    return most;
  }

  rewind() {
    this.packets = this.start.map((one) => ({ ...one }));
    Object.assign(this, { next: 0, average: null, gone: [], drops: 0, marks: 0, last: null });
  }

  // Takes the next event; returns it.
  step(now) {
    const step = this.steps[this.next];
    this.next += 1;
    this.last = step;
    if (step.kind === "+") {
      this.packets.push({ flow: step.flow, marked: false, x: 0 });
      if (Number.isFinite(step.average)) { this.average = step.average; }
    } else if (step.kind === "m") {
      this.marks += 1;
      this.packets[step.place].marked = true;
    } else {
      const [packet] = this.packets.splice(step.place, 1);
      this.drops += step.kind === "d" ? 1 : 0;
      this.gone.push({ ...packet, falls: step.kind === "d", at: now });
    }
    return step;
  }
}

export class QueueView {
  // `ended()` is called when the last event was shown.
  constructor(canvas, said, ended = () => {}) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    Object.assign(this, { canvas, said, ended, lanes: [], ghost: null, time: 0, isPlaying: false, isFrozen: false, standsUntil: 0, rate: 1, calm, placed() {} });
    new ResizeObserver(() => this.draw(performance.now())).observe(canvas);
  }

  // Shows another recording, from its start.
  show(view) {
    const before = this.lanes;
    Object.assign(this, { view, time: view.from_s, lanes: view.lanes.map((lane) => new Lane(lane)) });
    if (this.isFrozen) { this.lanes.forEach((lane, i) => { lane.most = before[i]?.most ?? lane.most; if (lane.curve && before[i]?.curve) { lane.curve.top = before[i].curve.top; } }); }
    this.canvas.style.height = `${this.lanes.reduce((sum, lane) => sum + lane.height, 0)}px`;
    this.say();
    this.draw(performance.now());
  }

  // Keeps the scales while a handle is dragged.
  freeze(isFrozen) {
    this.isFrozen = isFrozen;
  }

  // Shows the length of another queue behind those that have a curve or thresholds; null: of none.
  haunt(ghost) {
    this.ghost = ghost;
    this.draw(performance.now());
  }

  // Returns the handles of the curves: each with its name and its place in pixels.
  handles() {
    return this.boxes().flatMap(({ lane, box }) => (lane.curve ? [
      { name: `${lane.name} min_th`, at: toPlace(box, lane.curve, lane.curve.values.min_th, 0) },
      { name: `${lane.name} max_th`, at: toPlace(box, lane.curve, lane.curve.values.max_th, lane.curve.values.max_p) },
    ] : []));
  }

  // Moves a handle to a place; returns the new values by the keys of their settings.
  drag(name, x, y) {
    const found = this.boxes().find(({ lane }) => lane.curve && [`${lane.name} min_th`, `${lane.name} max_th`].includes(name));
    if (!found) { return null; }
    const { lane, box } = found, { curve } = lane, { keys, values } = curve, [packets, p] = fromPlace(box, curve, x, y), before = { ...values };
    if (name.endsWith("min_th")) {
      values.min_th = Math.max(1, Math.min(packets, values.max_th - 1));
    } else {
      Object.assign(values, { max_th: Math.max(values.min_th + 1, Math.min(packets, Math.floor(lane.most))), max_p: p });
    }
    lane.levels = lane.levels.map(([height, key]) => [values[key] ?? height, key]);
    this.draw(performance.now());
    return Object.fromEntries(Object.keys(keys).filter((key) => values[key] !== before[key]).map((key) => [keys[key], values[key]]));
  }

  // Returns the lanes with their boxes: `head` is the right end of the queue, `cell` the width of a packet, `y` the top of the queue.
  boxes() {
    const width = this.canvas.clientWidth, isNarrow = width < NARROW, head = width - (isNarrow ? LINK / 2 : LINK), left = isNarrow ? 8 : LEFT;
    let top = 0;
    return this.lanes.map((lane) => {
      const box = { top, head, left, cell: Math.min(WIDEST, (head - left) / lane.most), y: top + TOP + (lane.curve ? CURVE : 0) };
      top += lane.height;
      return { lane, box };
    });
  }

  rewind() {
    this.lanes.forEach((lane) => lane.rewind());
    this.time = this.view.from_s;
  }

  // Goes on by itself, at so many simulated seconds a second.
  play(rate) {
    this.rate = rate;
    if (this.isPlaying) { return; }
    this.isPlaying = true;
    let before = performance.now();
    const frame = (now) => {
      if (!this.isPlaying) { return; }
      if (now - before < FRAME_MS || now < this.standsUntil) { requestAnimationFrame(frame); return; }
      this.advance(this.time + (this.rate * Math.min(now - before, 100)) / 1e3, now);
      before = now;
      this.draw(now);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    this.isPlaying = false;
    this.say();
  }

  advance(time, now) {
    this.time = time;
    for (const lane of this.lanes) {
      while (lane.next < lane.steps.length && lane.steps[lane.next].t <= time) { lane.step(now); }
    }
    if (time >= this.view.until_s) { this.ended(); }
  }

  // Shows the next event of all lanes.
  step() {
    if (!this.view) { return; }
    const open = this.lanes.filter((lane) => lane.next < lane.steps.length);
    if (!open.length) { this.ended(); return; }
    const first = open.reduce((a, b) => (b.steps[b.next].t < a.steps[a.next].t ? b : a)), now = performance.now();
    this.time = first.steps[first.next].t;
    first.step(now);
    this.say();
    this.draw(now, true);
    setTimeout(() => this.draw(performance.now(), true), FALL_MS);
  }

  // Says in words what is shown.
  say() {
    this.said.textContent = this.lanes.map((lane) => `${lane.name}: ${lane.packets.length} packets wait` +
      `${lane.average === null || !lane.levels.length ? "" : `, average ${lane.average.toFixed(1)}`}; ${this.words(lane.last)}`).join(" ") || "";
  }

  words(step) {
    const at = `${this.time.toFixed(4)} s`;
    if (!step) { return `${at}.`; }
    const what = { "+": "arrives", "-": "leaves", d: `is dropped (${step.reason})`, m: `is marked (${step.reason})` }[step.kind];
    return `${at}: a packet of ${this.view.flows[step.flow] ?? `flow ${step.flow}`} ${what}.`;
  }

  draw(now, still = this.calm) {
    const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight, scale = devicePixelRatio || 1;
    if (!this.lanes.length || !width) { return; }
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
    const style = getComputedStyle(canvas), colors = Object.fromEntries(["ink", "soft", "bad", "accent"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    for (const { lane, box } of this.boxes()) { this.lane(g, lane, box, width, now, still, colors); }
    this.placed();
  }

  lane(g, lane, box, width, now, still, colors) {
    const { top, head, cell, y } = box, left = (place) => head - (place + 1) * cell;
    g.fillStyle = colors.ink;
    g.fillText(`${lane.name}, ${this.time.toFixed(3)} s`, 4, top + 16);
    g.fillStyle = colors.soft;
    const counts = `${lane.packets.length} wait, ${lane.drops} dropped${lane.marks ? `, ${lane.marks} marked` : ""}`;
    g.fillText(counts, Math.max(4, width - g.measureText(counts).width - 4), top + 16);
    if (this.ghost && lane.levels.length) { this.drawGhost(g, box, colors); }
    if (lane.curve) { drawCurve(g, box, lane, colors); }
    g.strokeStyle = colors.soft;
    g.strokeRect(left(lane.most - 1) - 1, y - 3, lane.most * cell + 2, CELL + 6);
    g.beginPath();
    g.moveTo(head + 4, y + CELL / 2);
    g.lineTo(width - 6, y + CELL / 2);
    g.stroke();
    for (const [place, name] of lane.levels) { this.level(g, head - place * cell, y, name, colors.soft, lane.curve ? CURVE : 0); }
    if (lane.average !== null && lane.levels.length) { this.average(g, head - lane.average * cell, y, colors.accent); }
    lane.packets.forEach((packet, place) => {
      const goal = left(place);
      packet.x = still || packet.x === undefined ? goal : packet.x + (goal - packet.x) * EASE;
      this.packet(g, packet, packet.x, y, cell, 1, colors);
    });
    lane.gone = lane.gone.filter(({ at, falls }) => now - at < (falls ? FALL_MS : LEAVE_MS));
    for (const packet of lane.gone) {
      const share = (now - packet.at) / (packet.falls ? FALL_MS : LEAVE_MS), from = Math.max(packet.x ?? head, box.left - cell);
      if (packet.falls) {
        this.packet(g, packet, from, y + 8 + share * 44, cell, 1 - share, colors);
      } else {
        this.packet(g, packet, head + 4 + share * (width - head - 16 - cell), y, cell, 1, colors);
      }
    }
  }

  packet(g, { flow, marked, falls }, x, y, cell, alpha, colors) {
    g.globalAlpha = alpha;
    g.fillStyle = this.view.palette[flow % this.view.palette.length];
    g.fillRect(x, y, Math.max(cell - 1, 1), CELL);
    g.lineWidth = 2;
    if (marked) { g.strokeStyle = colors.ink; g.strokeRect(x + 1, y + 1, Math.max(cell - 3, 1), CELL - 2); }
    if (falls) {
      const wide = Math.max(cell - 1, 6);
      g.strokeStyle = colors.bad;
      g.beginPath();
      g.moveTo(x, y);
      g.lineTo(x + wide, y + CELL);
      g.moveTo(x + wide, y);
      g.lineTo(x, y + CELL);
      g.stroke();
    }
    g.lineWidth = 1;
    g.globalAlpha = 1;
  }

  // Draws a threshold; with a curve above it its name stands below the queue.
  level(g, x, y, name, paint, above) {
    g.strokeStyle = paint;
    g.setLineDash([3, 3]);
    g.beginPath();
    g.moveTo(x, y - 12 - Math.max(above - 12, 0));
    g.lineTo(x, y + CELL + 5);
    g.stroke();
    g.setLineDash([]);
    g.fillStyle = paint;
    g.fillText(name, x - g.measureText(name).width / 2, above ? y + CELL + 30 : y - 15);
  }

  // Draws the queue of the ghost behind the packets: as long as it is now, up to the end of the picture.
  drawGhost(g, { head, cell, left, y }, colors) {
    const { name, from_s, every_s, packets } = this.ghost, length = packets[Math.min(Math.max(Math.round((this.time - from_s) / every_s), 0), packets.length - 1)];
    const end = Math.max(head - length * cell, left - 4), words = `${head - length * cell < end ? "← " : ""}${name}: ${length}`;
    g.fillStyle = colors.soft;
    g.globalAlpha = 0.18;
    g.fillRect(end, y - 10, head - end, CELL + 20);
    g.globalAlpha = 1;
    g.fillText(words, end + 2, y + CELL + 44);
  }

  average(g, x, y, paint) {
    g.fillStyle = paint;
    g.beginPath();
    g.moveTo(x, y + CELL + 5);
    g.lineTo(x - 5, y + CELL + 13);
    g.lineTo(x + 5, y + CELL + 13);
    g.fill();
    g.fillText("average", Math.min(x + 8, x + 8), y + CELL + 16);
  }
}
