// The page "Your uplink": a call's delay under drop-tail and other disciplines at a rate and a round trip, and a command of tc. Scenario,
// rules and commands are those of `aqmlab tune --uplink` (setup.uplink, from aqmlab.interop.tc.recommendation).

import { Backend } from "./backend.js";
import { Chart, short } from "./chart.js";
import { cell, row } from "./numbers.js";

const at = (id) => document.getElementById(id);
const FIELDS = { rate: [0.5, 900], rtt: [2, 500] };  // Mbit/s and ms: ends of the sliders, which are logarithmic
const POSITIONS = 200, WAIT_MS = 150, DROP_TAIL = "drop-tail";

export class UplinkPage {
  // `moved()` is called when the address has to follow the fields.
  constructor(setup, moved) {
    Object.assign(this, { model: setup.uplink, moved, number: 0, chosen: null, backend: null });
    this.setup = setup;
    at("to-uplink").hidden = !this.model;
    if (!this.model) { return; }
    for (const key of Object.keys(FIELDS)) {
      at(`uplink-${key}-slider`).addEventListener("input", ({ target }) => { this.fill(key, this.valueOf(key, target.valueAsNumber)); this.run(); });
      at(`uplink-${key}`).addEventListener("change", () => { this.fill(key, this.values[key]); this.run(); });
    }
    at("uplink-form").addEventListener("submit", (event) => event.preventDefault());
    at("uplink-choice").addEventListener("change", ({ target }) => { this.chosen = target.value; this.showCommand(); });
  }

  get values() {
    const within = (key) => { const [low, high] = FIELDS[key], value = at(`uplink-${key}`).valueAsNumber; return Number.isFinite(value) ? Math.min(Math.max(value, low), high) : low; };
    return { rate: within("rate"), rtt: within("rtt") };
  }

  // The buffer in packets that `aqmlab tune --uplink` takes at this rate and round trip.
  get limit() {
    const { rate, rtt } = this.values, { rules } = this.model;
    return Math.max(rules.least_limit, Math.ceil((rules.limit_products * 1e3 * rate * rtt) / (8 * rules.packet)));
  }

  valueOf(key, position) {
    const [low, high] = FIELDS[key], value = low * (high / low) ** (position / POSITIONS);
    return Number(value.toPrecision(2));
  }

  fill(key, value) {
    const [low, high] = FIELDS[key], slider = at(`uplink-${key}-slider`);
    at(`uplink-${key}`).value = value;
    slider.value = Math.round((POSITIONS * Math.log(value / low)) / Math.log(high / low));
    slider.setAttribute("aria-valuetext", `${value} ${key === "rate" ? "Mbit/s" : "ms"}`);
  }

  // Shows the page with these values and the mistakes of its address, or hides it.
  show(values, complaints = []) {
    const isShown = Boolean(values && this.model);
    document.documentElement.classList.toggle("uplink", isShown);
    at("uplink").hidden = !isShown;
    document.querySelector("main").hidden = isShown;
    if (!isShown) {
      at("title").textContent = "Laboratory";
      return;
    }
    at("uplink-error").hidden = !complaints.length;
    at("uplink-error").textContent = complaints.length ? `The address of this page: ${complaints.join("; ")}.` : "";
    document.title = "Your uplink, aqmlab laboratory";
    at("title").textContent = "Your uplink";
    at("lead").textContent = "How long do the packets of a call take while four downloads fill the link?";
    for (const key of Object.keys(FIELDS)) {
      at(`uplink-${key}`).value = values[key];
      this.fill(key, this.values[key]);  // within the ends of the sliders
    }
    if (!this.backend) {
      this.backend = new Backend(this.setup, () => {});
      this.backend.use(this.model.text, this.model.file);
      this.backend.overrides = this.model.overrides;
    }
    this.run();
  }

  // Runs every discipline as soon as the fields have rested.
  run() {
    this.moved(this.values);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT_MS);
  }

  async ask() {
    const { rate, rtt } = this.values, { rules, commands } = this.model, packet_s = (8 * rules.packet) / (1e6 * rate);
    const buffer = { [this.model.limit]: this.limit }, limited = (aqm) => commands[aqm].some((line) => line.includes("{limit}"));
    const settings = { rate, rtt, seconds: Math.min(rules.seconds, Number((rules.packet_budget * packet_s).toPrecision(3))) };
    const aqms = [[DROP_TAIL, buffer], ...Object.keys(commands).map((aqm) => [aqm, limited(aqm) ? buffer : {}])];
    this.number += 1;
    const number = this.number;
    at("uplink-status").textContent = "Simulating.";
    const { answer, line } = await this.backend.ask({ number, settings, aqms });
    if (number !== this.number || !(answer || line)) { return; }
    at("uplink-status").textContent = line || `${aqms.length} runs of ${short(answer.simulated_s)} s with four downloads and two calls; the buffer has ${buffer[this.model.limit]} packets.`;
    if (answer) { this.draw(answer, number); }
  }

  draw(answer, number) {
    const calls = answer.calls.rows, value = (key, i) => answer.numbers.find((one) => one.key === key)?.values[i];
    const most = Math.max(...calls.map((one) => one.p95_ms)), offered = calls.filter(({ name }) => name !== DROP_TAIL);
    const best = offered.reduce((a, b) => (b.p95_ms < a.p95_ms ? b : a)).name;
    const rows = calls.map(({ name, p95_ms: ms, paint }, i) => {
      const bar = cell("span", "", { class: "bar" }), bars = cell("td", "", { class: "bars" }), head = cell("th", "", { scope: "row", class: "text" });
      bar.style.width = `${(100 * ms) / most}%`;
      bar.style.background = paint;
      bars.append(bar);
      const label = cell("label", "");
      label.append(cell("input", "", { type: "radio", name: "uplink-aqm", value: name }), ` ${name}`);
      head.append(name === DROP_TAIL ? name : label);
      return row(head, bars, cell("td", ms.toFixed(1), { "data-uplink": name }), cell("td", value("mos", i)?.toFixed(2) ?? "–"),
        cell("td", value("goodput_mbps", i)?.toFixed(2) ?? "–", { class: "wide" }));
    });
    at("uplink-choice").replaceChildren(...rows);
    at("uplink-choice").querySelector(`input[value="${this.chosen ?? best}"]`).checked = true;
    Object.assign(this, { best, calls });
    this.showCommand();
    this.chart ??= new Chart(at("uplink-chart"));
    this.chart.draw(answer.calls.chart);
    document.documentElement.dataset.uplink = number;
  }

  showCommand() {
    const aqm = this.chosen ?? this.best, { rate } = this.values, of = (name) => this.calls.find((one) => one.name === name).p95_ms;
    const kbit = Math.round(1e3 * this.model.rules.shaped * rate);
    at("uplink-command").textContent = this.model.commands[aqm].join(" && ").replaceAll("{kbit}", kbit).replaceAll("{limit}", this.limit);
    at("uplink-why").textContent = `With ${aqm}, 95 % of the packets of a call arrive within ${of(aqm).toFixed(1)} ms; with drop-tail, within ${of(DROP_TAIL).toFixed(1)} ms. ` +
      `DEV is the interface to the link. The shaper has ${Math.round(100 * this.model.rules.shaped)} % of the rate, so that the queue stands here and not in the modem.`;
  }

  repaint() {
    this.chart?.repaint();
  }
}
