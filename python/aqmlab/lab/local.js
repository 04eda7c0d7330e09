// A scenario with its controls: settings in, contents of the page out.

import {
  NO_OTHER, OTHER, Scenario, SettingError, checkedValue, disciplineControls, exchanged, general, inline, networkControls, ofOther, overridesOf,
  queueControls, runControls, shownControl, withoutEffect,
} from "./controls.js";
import { ghostOf, lanesOf } from "./lanes.js";
import { PALETTE } from "./marks.js";
import { callDelays, charts, longestDelay, numberRows, tinTables } from "./results.js";

export const MOST_HOPS = 50e6;  // packets times links of a run that a page takes on: about ten seconds
const MOST_FLOWS = 5000;  // and links
const LONGEST_S = 600, SAMPLES = 500, FLOW_ROWS = 6000, FIRST_S = 5;
const WATCHED = 600;  // packets of a recording, about
const GHOST = "drop-tail", GHOST_SAMPLES = 15_000;  // drawn behind the queue of another discipline

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
    Object.assign(this, { core, scenario, queues: new Map(), longest_s: 1 });
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

  // Returns the overrides that put a discipline into the queue, and its controls.
  queueOf(aqm) {
    if (!this.queues.has(aqm)) {
      const pairs = exchanged(this.scenario, this.queue, aqm), scenario = pairs.length ? this.scenario.with(pairs) : this.scenario;
      this.queues.set(aqm, { pairs, controls: queueControls(scenario, this.link) });
    }
    return this.queues.get(aqm);
  }

  // Returns the controls: of the queue, of the compared discipline, then all others.
  panel(aqm, beside = NO_OTHER) {
    const own = this.queueOf(aqm).controls, others = beside === NO_OTHER ? [] : this.queueOf(beside).controls.map((one) => ofOther(one, beside));
    return [...disciplineControls(this.core, aqm), ...own, ...others, ...this.network, ...runControls(this.scenario)];
  }

  // Runs a setting and returns the contents of the page: with a recording of the queue from a time on if `from_s` is given (null: a
  // third of the run), of these disciplines with settings of their own if `aqms` is given. `step(share)` is awaited now and then; an error in it ends the run.
  async answer(settings, { from_s, aqms } = {}, step = async () => {}) {
    const { aqm, beside, seconds, seed, queues } = this.wanted(settings, aqms), { plan } = this.scenario, before_s = this.before_s;
    const from = from_s === null ? seconds / 3 : from_s, isRecorded = from < seconds;
    const probe = (plan, link) => ({ ...samples(plan, seconds), ...(isRecorded ? this.events(plan, link, from, seconds) : {}) });
    const runs = await this.runs(settings, probe, step, queues);
    this.longest_s = longestDelay(runs);
    const commands = runs.map((run) => command(this.scenario.file, [...this.scenario.overrides, ...run.overrides], seed));
    return {
      name: plan.name, description: plan.description ?? "", file: this.scenario.file, link: this.link, aqm, beside, names: runs.map(({ name }) => name),
      panel: this.panel(aqm, beside).map(shownControl),
      hidden: runs.flatMap((run) => withoutEffect(run.link, run.isOther ? OTHER : "")),
      charts: charts(runs, this.core),
      numbers: numberRows(runs, this.core),
      tins: tinTables(runs),
      calls: callDelays(runs),
      // A recording that began within the longest delay lacks packets.
      view: isRecorded && this.before_s <= before_s ? this.view(runs, from, seconds) : null,
      ghost: runs.length > 1 || aqm === GHOST ? null : JSON.stringify([seconds, seed, this.pairs(GHOST, settings)]),
      simulated_s: runs[0].plan.duration_s, warmup_s: runs[0].plan.warmup_s, seed,
      packet_hops: runs.reduce((total, run) => total + run.summary.packet_hops, 0),
      warnings: [...new Set(runs.flatMap((run) => run.plan.warnings.map(problemLine)))],
      text: runs[0].plan.normalized,
      command: commands.join("\n"),
    };
  }

  // Returns the events at the queue from a time on, packet by packet: the view of queue_view.js, with the flows' colours.
  async watch(settings, from_s, step = async () => {}) {
    const { seconds, queues } = this.wanted(settings);
    const runs = await this.runs(settings, (plan, link) => ({ ...this.events(plan, link, from_s, seconds), delay_histogram: false }), step, queues);
    return this.view(runs, from_s, seconds);
  }

  // Returns the length of the queue of drop-tail over time, with the same traffic and seed.
  async ghost(settings, step = async () => {}) {
    const { seconds } = this.wanted(settings), every = (plan, link) => Math.max(2 * packetTime(plan, link), seconds / GHOST_SAMPLES);
    const probe = (plan, link) => ({ queue_interval: nanoseconds(every(plan, link)), delay_histogram: false });
    const [run] = await this.runs(settings, probe, step, [{ aqm: GHOST, name: GHOST, isOther: false }]);
    return ghostOf(run);
  }

  // Time in s before a recording begins in which packets came that wait at its start.
  get before_s() { return 1.5 * this.longest_s + 0.1; }

  until(plan, link, from_s, seconds) { return Math.min(seconds, from_s + WATCHED * packetTime(plan, link)); }

  events(plan, link, from_s, seconds) {
    return { events: true, events_from: nanoseconds(from_s - this.before_s), events_until: nanoseconds(this.until(plan, link, from_s, seconds)) };
  }

  view(runs, from_s, seconds) {
    const [{ plan, link }] = runs;
    return {
      from_s, until_s: this.until(plan, link, from_s, seconds), packet_s: packetTime(plan, link), flows: plan.flows.map((flow) => flow.name), palette: PALETTE,
      lanes: lanesOf(runs, from_s, this.core),
    };
  }

  // Returns the values of a setting: the queues to run, with their names in charts and tables.
  wanted(settings, aqms) {
    const known = this.checked(settings), { plan } = this.scenario;
    const aqm = known.aqm ?? this.scenario.link(this.link).aqm, beside = known.beside ?? NO_OTHER;
    const compared = beside === NO_OTHER ? [] : [{ aqm: beside, name: beside === aqm ? `${aqm}, B` : beside, isOther: true }];
    const queues = aqms?.map(([name, own]) => ({ aqm: name, name, own })) ?? [{ aqm, name: aqm, isOther: false }, ...compared];
    return { known, aqm, beside, queues, seconds: known.seconds ?? Math.min(plan.duration_s, LONGEST_S), seed: known.seed ?? plan.seeds[0] };
  }

  // Runs every queue of a setting; `probe(plan, link)` returns the recordings at the link.
  async runs(settings, probe, step, queues) {
    const { known, seconds, seed } = this.wanted(settings), runs = [];
    for (const { aqm, name, isOther, own } of queues) {
      const pairs = this.pairs(aqm, { ...known, ...own }, isOther), found = await this.run(name, pairs, seconds, seed, probe, (share) => step((runs.length + share) / queues.length));
      runs.push({ ...found, isOther });
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
    this.queueOf(own);
    const [first, second] = disciplineControls(this.core, own);
    checkedValue(first, aqm);
    const beside = checkedValue(second, settings.beside ?? NO_OTHER), known = [...this.queues.values()].flatMap(({ controls }) => controls);
    const panel = new Map([...known, ...known.map((one) => ofOther(one, "")), ...this.panel(aqm, beside)].map((one) => [one.key, one]));
    return Object.fromEntries(Object.entries(settings).map(([key, value]) => {
      if (!panel.has(key)) { throw new SettingError(`"${key.slice(0, 60)}" is not among the controls of ${aqm}`); }
      return [key, checkedValue(panel.get(key), value)];
    }));
  }

  // Returns the overrides for a discipline and all settings that it has a control for. One that is compared has its own values, and
  // those of the first where it has none.
  pairs(aqm, settings, isOther = false) {
    const isAnother = aqm !== (settings.aqm ?? this.scenario.link(this.link).aqm), { pairs, controls } = this.queueOf(aqm);
    const shared = (one) => (isAnother && one.kind === "choice" && one.group === "Queue" ? undefined : settings[one.key]);
    const value = (one) => (isOther ? settings[OTHER + one.key] : undefined) ?? shared(one);
    const used = [...controls, ...this.network, ...runControls(this.scenario)].filter((one) => value(one) !== undefined);
    return [...pairs, ...used.flatMap((one) => overridesOf(one, value(one)))];
  }
}

const nanoseconds = (s) => `${Math.max(0, Math.round(1e9 * s))}ns`;
const packetTime = (plan, link) => (8 * packetBytes(plan)) / link.rate_bps;

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
