// The part of the page that shows the queue packet by packet. It asks for a recording after every answer, from the time on that is shown,
// and at the end of a recording for the next one. The first recording, and those while a handle is dragged, come with the answers.

import { Grips } from "./grips.js";
import { QueueView } from "./queue_view.js";

const STAND_MS = 1000, REST_MS = 150;
const at = (id) => document.getElementById(id);

export class Watching {
  // `ask(call, from_s)` returns a recording of the current setting from that time on, or its ghost; null if something else came first.
  // `moved(key, value, movement)` is called when a handle is dragged.
  constructor(ask, moved) {
    Object.assign(this, { ask, part: at("stage"), end: 0, ghostOf: null });
    this.view = new QueueView(at("queue-view"), at("queue-words"), () => this.next());
    this.grips = new Grips(at("picture"), this.view, moved);
    this.wantsPlay = !this.view.calm;
    at("play").addEventListener("click", () => { this.wantsPlay = !this.view.isPlaying; if (this.wantsPlay) { this.play(); } else { this.pause(); } });
    at("step").addEventListener("click", () => { this.wantsPlay = false; this.pause(); this.view.step(); });
    at("pace").addEventListener("change", () => { if (this.view.isPlaying) { this.play(); } });
    at("from").addEventListener("change", () => this.load(at("from").valueAsNumber));
  }

  get isShown() { return this.part.checkVisibility(); }

  // Time from which on the next answer records: null leaves the choice to it. Undefined if the queue is not shown, or if the recording
  // can come after the charts: only a handle that is dragged does not wait.
  get from_s() {
    if (!this.isShown || (this.view.view && !this.view.isFrozen)) { return undefined; }
    return this.view.view ? this.view.time : null;
  }

  // Takes the answer to a setting.
  use({ view, ghost, simulated_s }) {
    at("from").max = Math.max(0, simulated_s - 1e-3);
    at("from").step = "any";
    if (!this.isShown) { return; }
    if (view) { this.show(view); }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.follow(view, ghost, simulated_s), REST_MS);
  }

  // Asks for the recording and the ghost of a setting, as soon as no other setting follows.
  async follow(view, ghost, simulated_s) {
    const { time } = this.view;
    if (!view) { await this.load(time < simulated_s ? time : simulated_s / 3); }
    if (ghost === this.ghostOf) { return; }
    const found = ghost && await this.ask("ghost");
    if (ghost && !found) { return; }
    this.ghostOf = ghost;
    this.view.haunt(found);
  }

  // Lets a run have the processor: the picture stands still meanwhile, as long as that is short.
  wait(isWaiting) { this.view.standsUntil = isWaiting ? performance.now() + STAND_MS : 0; }

  async load(from) {
    const view = await this.ask("watch", from);
    if (view) { this.show(view); }
  }

  show(view) {
    at("from").value = view.from_s;
    at("from-words").textContent = `${view.from_s.toFixed(3)} s`;
    this.end = view.until_s;
    this.view.show(view);
    this.part.dataset.shown = view.from_s;
    if (this.wantsPlay) { this.play(); }
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
    if (this.end >= Number(at("from").max)) { this.wantsPlay = false; this.pause(); return; }
    this.isWaiting = true;
    this.load(this.end).finally(() => { this.isWaiting = false; });
  }
}
