// The part of the page that shows the queue packet by packet: it asks for a recording of the current setting when it is
// opened, after every change of a setting, and at the end of a recording for what comes next.

import { QueueView } from "./queue_view.js";

const at = (id) => document.getElementById(id);

export class Watching {
  // `ask(from_s)` returns a recording of the current setting from that time on, or null if something else came first.
  constructor(ask) {
    Object.assign(this, { ask, part: at("watching"), end: 0 });
    this.view = new QueueView(at("queue-view"), at("queue-words"), () => this.next());
    this.part.addEventListener("toggle", () => { if (this.part.open) { this.load(); } else { this.pause(); } });
    at("play").addEventListener("click", () => { if (this.view.isPlaying) { this.pause(); } else { this.play(); } });
    at("step").addEventListener("click", () => { this.pause(); this.view.step(); });
    at("pace").addEventListener("change", () => { if (this.view.isPlaying) { this.play(); } });
    at("from").addEventListener("change", () => this.load());
  }

  // Takes another setting: runs of this length.
  use(simulated_s) {
    at("from").max = Math.max(0, simulated_s - 1e-3);
    at("from").step = "any";
    if (this.end > simulated_s || this.end === 0) { at("from").value = simulated_s / 3; }
    if (this.part.open) { this.load(); }
  }

  async load() {
    const from = at("from").valueAsNumber, view = await this.ask(from);
    if (!view) { return; }
    at("from-words").textContent = `${from.toFixed(3)} s`;
    this.end = view.until_s;
    this.view.show(view);
    this.part.dataset.shown = view.from_s;
  }

  play() {
    if (!this.view.view) { return; }
    this.view.play(Number(at("pace").value) * this.view.view.packet_s);
    at("queue-words").textContent = "";
    at("play").textContent = "Pause";
  }

  pause() {
    this.view.pause();
    at("play").textContent = "Play";
  }

  // Goes on after the end of what is shown; at the end of the run it stops.
  next() {
    if (this.isWaiting) { return; }
    if (this.end >= Number(at("from").max)) { this.pause(); return; }
    at("from").value = this.end;
    this.isWaiting = true;
    this.load().finally(() => { this.isWaiting = false; });
  }
}
