// A scenario with its controls: settings in, contents of the page out.

import {
  NO_OTHER, Scenario, SettingError, checkedValue, disciplineControls, exchanged, general, inline, networkControls, overridesOf, queueControls, runControls,
  shownControl,
} from "./controls.js";
import { recording } from "./recording.js";
import { PALETTE } from "./marks.js";
import { charts, longestDelay, numberRows, thresholds, tinTables } from "./results.js";

export const MOST_HOPS = 50e6;  // packets times links of a run that a page takes on: about ten seconds
const MOST_FLOWS = 5000;  // and links
const LONGEST_S = 600, SAMPLES = 500, FLOW_ROWS = 6000, FIRST_S = 5;
const WATCHED = 1500;  // packets of a recording, about

export class Session {
  // Returns a session of a scenario's text; `link` is the link whose queue the controls set, or null.
  static async open(core, text, file, { link = null, overrides = [] } = {}) {
    const { counts } = core.check(text, file, overrides, false);
    for (const what of ["flows", "links"]) {
      if (counts[what] > MOST_FLOWS) { throw new SettingError(`${file}: has ${counts[what]} ${what} (allowed in a page: up to ${MOST_FLOWS})`); }
    }
    const made = new Session(core, new Scenario(core, text, file, overrides));
    made.link = link ?? await made.defaultLink();
    made.queue = made.scenario.link(made.link).queue;
    made.network = networkControls(made.scenario, made.link);
    return made;
  }

  constructor(core, scenario) {
    Object.assign(this, { core, scenario, panels: new Map(), exchanges: new Map() });
  }

  async defaultLink() {
    const { links } = this.scenario.plan, managed = links.filter((link) => link.aqm !== "drop-tail");
    if (links.some((link) => link.name === "bottleneck")) { return "bottleneck"; }
    const names = (managed.length ? managed : links).map((link) => link.name);
    if (names.length === 1) { return names[0]; }
    const { text, file, overrides, plan } = this.scenario, first = cut(this.scenario, Math.min(plan.duration_s, FIRST_S));
    this.refuseIfTooLarge(this.scenario.with(first).plan);
    const { tables } = await this.core.run({ text, file, seed: plan.seeds[0], overrides: [...overrides, ...first, ["probe", "{}"]] });
    const used = (name) => tables.links.utilization[tables.links.link.indexOf(name)];
    return names.reduce((best, name) => (used(name) > used(best) ? name : best));
  }

  panel(aqm) {
    if (!this.panels.has(aqm)) {
      const pairs = exchanged(this.scenario, this.queue, aqm);
      const scenario = pairs.length ? this.scenario.with(pairs) : this.scenario;
      this.exchanges.set(aqm, pairs);
      this.panels.set(aqm, [
        ...disciplineControls(this.core, aqm), ...queueControls(scenario, this.link), ...this.network, ...runControls(this.scenario)]);
    }
    return this.panels.get(aqm);
  }

  // Runs a setting and returns the contents of the page. `step(share)` is awaited now and then; an error in it ends the run.
  async answer(settings, step = async () => {}) {
    const { aqm, names, seconds, seed } = this.wanted(settings), { plan } = this.scenario;
    const runs = await this.runs(settings, (plan) => samples(plan, seconds), step);
    this.longest_s = longestDelay(runs);
    const commands = runs.map((run) => command(this.scenario.file, [...this.scenario.overrides, ...run.overrides], seed));
    return {
      name: plan.name, description: plan.description ?? "", file: this.scenario.file, link: this.link, aqm, names,
      panel: this.panel(aqm).map(shownControl),
      charts: charts(runs, this.core),
      numbers: numberRows(runs, this.core),
      tins: tinTables(runs),
      simulated_s: runs[0].plan.duration_s, warmup_s: runs[0].plan.warmup_s, seed,
      packet_hops: runs.reduce((total, run) => total + run.summary.packet_hops, 0),
      warnings: [...new Set(runs.flatMap((run) => run.plan.warnings.map(problemLine)))],
      text: runs[0].plan.normalized,
      command: commands.join("\n"),
    };
  }

  // Returns what happened at the queue from a time on, packet by packet: the view of queue_view.js, with the flows' colours.
  async watch(settings, from_s, step = async () => {}) {
    const { seconds } = this.wanted(settings);
    const until = (plan, link) => Math.min(seconds, from_s + (WATCHED * 8 * packetBytes(plan)) / link.rate_bps), before = 1.5 * (this.longest_s ?? 1) + 0.1;
    const nanoseconds = (s) => `${Math.max(0, Math.round(1e9 * s))}ns`;
    const runs = await this.runs(settings, (plan, link) => ({
      events: true, events_from: nanoseconds(from_s - before), events_until: nanoseconds(until(plan, link)), delay_histogram: false,
    }), step);
    const [{ plan, link }] = runs;
    return {
      from_s, until_s: until(plan, link), packet_s: (8 * packetBytes(plan)) / link.rate_bps, flows: plan.flows.map((flow) => flow.name), palette: PALETTE,
      lanes: runs.map((run) => ({ name: run.name, levels: thresholds(run.link.parameters), ...recording(run.tables.events, from_s) })),
    };
  }

  // Returns what a setting asks for.
  wanted(settings) {
    const known = this.checked(settings), { plan } = this.scenario;
    const aqm = known.aqm ?? this.scenario.link(this.link).aqm, beside = known.beside ?? NO_OTHER;
    const names = beside === NO_OTHER || beside === aqm ? [aqm] : [aqm, beside];
    return { known, aqm, names, seconds: known.seconds ?? Math.min(plan.duration_s, LONGEST_S), seed: known.seed ?? plan.seeds[0] };
  }

  // Runs every discipline of a setting; `probe(plan, link)` says what is recorded at the link.
  async runs(settings, probe, step) {
    const { known, names, seconds, seed } = this.wanted(settings), runs = [];
    for (const name of names) {
      runs.push(await this.run(name, this.pairs(name, known), seconds, seed, probe, (share) => step((runs.length + share) / names.length)));
    }
    return runs;
  }

  async run(name, pairs, seconds, seed, probe, step) {
    const { core, scenario } = this, overrides = [...pairs, ...cut(scenario, seconds)], all = [...scenario.overrides, ...overrides];
    const plan = core.check(scenario.text, scenario.file, all), link = plan.links.find((one) => one.name === this.link);
    if (!link) { throw new SettingError(`this setting has no link ${this.link}`); }
    this.refuseIfTooLarge(plan);
    const recorded = inline({ links: [this.link], ...probe(plan, link) });
    const done = await core.run({ text: scenario.text, file: scenario.file, overrides: [...all, ["probe", recorded]], seed, link: this.link }, step);
    return { name, overrides, plan, link, ...done };
  }

  refuseIfTooLarge(plan) {
    const hops = estimatedHops(plan);
    if (hops <= MOST_HOPS) { return; }
    const millions = (value) => general(value / 1e6, 2 + Math.max(Math.floor(Math.log10(value / 1e6)) - 1, 0));
    throw new SettingError(`about ${millions(hops)} million packets over links to simulate (allowed in a page: up to ${millions(MOST_HOPS)} million): ` +
      "lower the rate or the simulated time, or run it with aqmlab run");
  }

  // Returns the settings if each is one of a control that the page has been given.
  checked(settings) {
    const own = this.scenario.link(this.link).aqm, aqm = settings.aqm ?? own;
    checkedValue(disciplineControls(this.core, own)[0], aqm);
    const first = this.panel(aqm), panel = new Map([...[...this.panels.values()].flat(), ...first].map((one) => [one.key, one]));
    return Object.fromEntries(Object.entries(settings).map(([key, value]) => {
      if (!panel.has(key)) { throw new SettingError(`"${key.slice(0, 60)}" is not among the controls of ${aqm}`); }
      return [key, checkedValue(panel.get(key), value)];
    }));
  }

  // Returns the overrides for a discipline and all settings that it has a control for.
  pairs(aqm, settings) {
    const other = aqm !== (settings.aqm ?? this.scenario.link(this.link).aqm), panel = this.panel(aqm);
    const used = panel.filter((one) => one.key in settings && !(other && one.kind === "choice" && one.group === "Queue"));
    return [...this.exchanges.get(aqm), ...used.flatMap((one) => overridesOf(one, settings[one.key]))];
  }
}

// Returns what the charts need of a run.
function samples(plan, seconds) {
  const steps = Math.min(60, Math.max(15, Math.floor(FLOW_ROWS / Math.max(plan.flows.length, 1)))), every = (parts) => `${Math.round((1e9 * seconds) / parts)}ns`;
  return { queue_interval: every(SAMPLES), flow_interval: every(steps) };
}

// Returns the size of the packets of the first flow.
function packetBytes({ flows: [first] }) {
  const { packet_size: size, mss, header = 0 } = first?.parameters ?? {};
  return (mss ?? (typeof size === "number" ? size : 500)) + header;
}

// Returns the overrides that make a run as long as this, with a warm-up in proportion; later changes of links are left out.
function cut({ plan, normalized }, seconds) {
  if (seconds === plan.duration_s) { return []; }
  const found = [["run.duration", `${general(seconds)}s`]];
  if (plan.warmup_s > 0 && seconds < plan.duration_s) { found.push(["run.warmup", `${general((plan.warmup_s * seconds) / plan.duration_s, 3)}s`]); }
  if (plan.changes.some((change) => change.at_s >= seconds)) {
    found.push(["change", inline(normalized.change.filter((change) => secondsOf(change.at) < seconds))]);
  }
  return found;
}

// Returns the time of a checked scenario, such as "100ms", in seconds.
function secondsOf(time) {
  const [, number, unit] = /^(.*?)\s*([a-z]+)$/.exec(time);
  return Number(number) * { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60 }[unit];
}

// Returns about how many packets all links will carry: every flow sends as fast as its share of its slowest link allows,
// at most its own rate, and each of its packets, with an acknowledgement for TCP, crosses every link of its way. It is too
// high for flows that have little to send.
export function estimatedHops({ links, flows, duration_s: duration }) {
  const named = new Map(links.map((link) => [link.name, link])), loads = new Map();
  const fastest = Math.max(...links.map((link) => link.rate_bps), 0);
  for (const name of flows.flatMap((flow) => flow.path)) { loads.set(name, (loads.get(name) ?? 0) + 1); }
  return flows.reduce((total, { path, transport, parameters }) => {
    const udp = transport === "udp", media = transport === "scream", share = Math.min(...path.map((name) => named.get(name).rate_bps / loads.get(name)), fastest);
    const bps = udp ? Math.min(parameters.rate_bps, fastest) : media ? Math.min(parameters.max_rate, fastest) : share;
    const bytes = udp ? (typeof parameters.packet_size === "number" ? parameters.packet_size : 500) : (parameters.mss ?? parameters.packet_size) + (parameters.header ?? 0);
    return total + ((bps * duration) / (8 * bytes)) * (path.length || 3) * (udp ? 1 : 2);
  }, 0);
}

// Returns the command that repeats a run of one seed.
function command(file, overrides, seed) {
  const last = new Map();  // of several values of a key the last one, in its place
  for (const [key, value] of overrides) { last.delete(key); last.set(key, value); }
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const words = [...last].flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  return ["aqmlab", "run", file, "--seeds", seed === 1 ? "1" : `${seed}-${seed}`, ...words].map(quoted).join(" ");
}

function problemLine({ file, line, column, key, message }) {
  return `${file}:${line}:${column}: ${key ? `${key}: ` : ""}${message}`;
}
