// The controls of a scenario, and the overrides that their settings make. Networks are described in many forms (a dumbbell,
// a chain, link by link), so a key decides the rate or the delay of a link if a change of it changes the checked scenario as it should.

export const NO_OTHER = "nothing";  // compare with nothing
export const OTHER = "beside.";  // begins the keys of the discipline that is compared
const FIRST = ["min_th", "max_th", "max_p", "w_q", "target", "interval", "rate", "rtt", "limit"];  // the others of a discipline are folded
const FIRST_WORDS = ["diffserv", "isolation"];
const FORMS = ["dumbbell", "chain", "bus", "flower", "torus", "diffserv"];
const MOST_GROUPS = 4, MOST_FLOWS = 2000, HIGHEST_MBPS = 10_000, TRIAL_S = 0.01, LEAST_DELAY_S = 1e-4;
const LONGEST_S = 600, MOST_SEED = 1_000_000;

// A setting that cannot be used.
export class SettingError extends Error {}

const isNumber = (value) => typeof value === "number";

// Returns a number as Python's `:.{digits}g` writes it.
export function general(value, digits = 6) {
  if (value === 0) { return "0"; }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const plain = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text), power = Number(exponent);
  if (power >= -4 && power < digits) { return plain(value.toFixed(Math.max(digits - 1 - power, 0))); }
  return `${plain(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function rounded(value, digits = 4) {
  return Number(value.toPrecision(digits));
}

// Writes a value as TOML, on one line.
export function inline(value) {
  if (Array.isArray(value)) { return `[${value.map(inline).join(", ")}]`; }
  if (typeof value !== "object") { return typeof value === "string" ? JSON.stringify(value) : String(value); }
  const key = (word) => (/^[A-Za-z0-9_-]+$/.test(word) ? word : JSON.stringify(word));
  return `{ ${Object.entries(value).map(([word, inner]) => `${key(word)} = ${inline(inner)}`).join(", ")} }`;
}

// A checked scenario with overrides.
export class Scenario {
  constructor(core, text, file, overrides = []) {
    Object.assign(this, { core, text, file, overrides, plan: core.check(text, file, overrides) });
  }

  with(pairs) {
    return new Scenario(this.core, this.text, this.file, [...this.overrides, ...pairs]);
  }

  // Returns the scenario with one more override, or null if it is not valid so.
  tried(key, value) {
    try { return this.with([[key, value]]); } catch (error) { return null; }
  }

  get normalized() {
    this.read ??= this.core.toml(this.plan.normalized);
    return this.read;
  }

  link(name) {
    return this.plan.links.find((link) => link.name === name);
  }
}

function control(key, label, group, kind, value, more = {}) {
  return {
    key, label, group, kind, value, targets: [], low: 0, high: 1, least: 0, most: 1e9, log: false, step: 0, unit: "", suffix: "",
    slope: 1, offset: 0, zero: "", choices: [], below: "", doc: "", ...more,
  };
}

// Returns a value if it can be one of this control.
export function checkedValue(one, value) {
  const no = (text) => { throw new SettingError(`${one.key}: ${text}`); };
  if (one.kind === "switch") { return typeof value === "boolean" ? value : no("is not true or false"); }
  if (one.kind === "choice") { return one.choices.includes(value) ? value : no(`is none of ${one.choices.join(", ")}`); }
  if (!isNumber(value)) { no("is not a number"); }
  if (!(one.least <= value && value <= one.most)) { no(`is out of range (allowed: ${general(one.least)} to ${general(one.most)})`); }
  if (one.step === 1 && value !== Math.trunc(value)) { no(`${general(value)} is not a whole number`); }
  return value;
}

// Returns a value as overrides of the scenario; none if it has this value anyway.
export function overridesOf(one, value) {
  if (value === one.value) { return []; }
  const number = () => `${general(one.offset + one.slope * value, 10)}${one.suffix}`;
  const text = !isNumber(value) || (one.zero && value === 0) ? String(one.zero || value) : number();
  return one.targets.map((target) => [target, text]);
}

// Returns what the page needs to show a control.
export function shownControl(one) {
  const names = ["key", "label", "group", "kind", "value", "unit", "doc", "below", "log", "step", "choices"];
  const ends = one.kind === "number" ? ["low", "high", "least", "most"] : [];
  return Object.fromEntries([...names, ...ends].map((name) => [name, one[name]]));
}

export function discipline(core, name) {
  return core.registry.disciplines.find((entry) => entry.name === name);
}

// Returns the overrides that put another discipline into a queue.
export function exchanged(scenario, queue, aqm) {
  const table = scenario.normalized.queue?.[queue] ?? {};
  if (aqm === (table.aqm ?? "drop-tail")) { return []; }
  const known = new Set(discipline(scenario.core, aqm).parameters.map((p) => p.key).filter((key) => key !== "curve"));
  const others = Object.keys(table).filter((key) => key !== "aqm");
  if (others.every((key) => known.has(key))) { return [[`queue.${queue}.aqm`, aqm]]; }
  const kept = Object.fromEntries(others.filter((key) => known.has(key)).map((key) => [key, table[key]]));
  return [[`queue.${queue}`, inline({ aqm, ...kept })]];
}

export function disciplineControls(core, aqm) {
  const names = core.registry.disciplines.map((entry) => entry.name), { doc, paper } = discipline(core, aqm);
  return [
    control("aqm", "Discipline", "Queue", "choice", aqm, { choices: names, doc: [doc, paper].filter(Boolean).join("; ") }),
    control("beside", "Compare with", "Queue", "choice", NO_OTHER, { choices: [NO_OTHER, ...names], doc: "same traffic, same seed" }),
  ];
}

export function queueControls(scenario, linkName) {
  const { core } = scenario, found = scenario.link(linkName), known = discipline(core, found.aqm), { parameters } = found;
  const own = new Map(known.parameters.map((p) => [p.key, p])), prefix = `queue.${found.queue}`, controls = [];
  if (parameters.curve !== undefined && parameters.curve !== null) {
    const choices = own.get("curve").choices.filter((word) => word !== "points" || parameters.curve === word);
    controls.push(control(`${prefix}.curve`, "Curve", "Queue", "choice", parameters.curve, { targets: [`${prefix}.curve`], choices }));
  }
  const shared = new Map([...discipline(core, "red").parameters, ...known.parameters].map((p) => [p.key, p]));
  for (const one of found.classes ?? []) { controls.push(...numbers(`${prefix}.class.${one.name}`, one, shared, `Class ${one.name}`, FIRST)); }
  const more = `More of ${found.aqm}`, words = parameters.curve ? [] : wordControls(prefix, parameters, own);
  controls.push(...words.filter(([key]) => FIRST_WORDS.includes(key)).map(([, make]) => make("Queue")));
  if ("rate" in parameters) { controls.push(shaper(prefix, parameters.rate, own.get("rate"), found.rate_bps / 1e6)); }
  controls.push(...numbers(prefix, parameters, own, "Queue", FIRST));
  if ("ecn" in parameters) { controls.push(ecn(scenario, prefix, parameters)); }
  const others = [...own.keys()].filter((key) => !FIRST.includes(key));
  const folded = words.filter(([key]) => !FIRST_WORDS.includes(key)).map(([, make]) => make(more));
  return [...controls, ...numbers(prefix, parameters, own, more, others), ...folded];
}

// Returns a control of a queue as one of the discipline that is compared, which has its own value.
export function ofOther(one, aqm) {
  const group = one.group === "Queue" ? `B: ${aqm}` : one.group.startsWith("More of ") ? `${one.group} (B)` : `B: ${one.group}`;
  return { ...one, key: OTHER + one.key, group, below: one.below && OTHER + one.below };
}

// Returns the keys of the controls of a link's queue that have no effect, as the core names them.
export function withoutEffect({ queue, without_effect: keys = [] }, before = "") {
  return keys.map((key) => `${before}queue.${queue}.${key}`);
}

// Returns the parameters that are words or switches, each with a function that makes its control in a group.
function wordControls(prefix, values, own) {
  const found = [...own.values()].filter(({ key, choices = [] }) => key !== "ecn" &&
    (typeof values[key] === "boolean" || (choices.length > 1 && choices.includes(values[key]))));
  return found.map(({ key, choices, doc, source }) => [key, (group) => {
    const more = { targets: [`${prefix}.${key}`], doc: [doc, source].filter(Boolean).join("; ") };
    return typeof values[key] === "boolean"
      ? control(`${prefix}.${key}`, key, group, "switch", values[key], more)
      : control(`${prefix}.${key}`, key, group, "choice", values[key], { ...more, choices });
  }]);
}

// Returns the control of a queue's own shaper.
function shaper(prefix, bps, { doc }, linkMbps) {
  const value = isNumber(bps) ? bps / 1e6 : 0;
  return control(`${prefix}.rate`, "Shaper (0: none)", "Queue", "number", value, {
    targets: [`${prefix}.rate`], low: 0, high: rounded(Math.max(linkMbps, value)), most: Math.max(HIGHEST_MBPS, value), unit: "Mbit/s", suffix: "Mbps",
    zero: "unlimited", doc,
  });
}

function numbers(prefix, values, ranges, group, chosen) {
  const controls = [];
  for (const key of chosen) {
    const parameter = ranges.get(key);
    let value = values[key];
    if (!parameter || !["packets", "s", "B", "1"].includes(parameter.unit)) { continue; }
    let suffix = { packets: "p", s: "s", B: "B", 1: "" }[parameter.unit], unit = { packets: "packets", s: "s", B: "bytes", 1: "" }[parameter.unit];
    if (typeof value === "string" && value.endsWith("B")) { [value, suffix, unit] = [Number(value.slice(0, -1)), "B", "bytes"]; }
    if (!isNumber(value)) { continue; }
    const [low, high, log] = ends(parameter, value);
    controls.push(control(`${prefix}.${key}`, key === "limit" ? "Buffer" : key, group, "number", value, {
      targets: [`${prefix}.${key}`], low, high, log, unit, suffix, least: parameter.min ?? 0, most: unit === "bytes" ? 1e9 : Math.min(parameter.max ?? 1e6, 1e9),
      step: ["limit", "list_size", "last_n"].includes(key) ? 1 : 0, below: key === "min_th" ? `${prefix}.max_th` : "",
      doc: [parameter.doc, parameter.source].filter(Boolean).join("; "),
    }));
  }
  return controls;
}

// Returns the ends of a slider, and whether it is logarithmic.
function ends({ key, min, max }, value) {
  if (key === "min_th" || key === "max_th") { return [1, Math.max(100, 3 * value), false]; }
  if (key === "w_q") { return [1e-5, 1, true]; }
  if (key === "max_p") { return [1e-3, 1, true]; }
  if (key === "limit") { return [2, Math.max(1000, 5 * value), true]; }
  if (isNumber(min) && isNumber(max) && max <= 1) {
    return value > 0 && value < 0.01 ? [Math.min(1e-6, value) || 1e-6, 1, true] : [min, max, false];
  }
  if (isNumber(min) && isNumber(max) && max <= 1000 && (min < 0 || value === 0)) { return [min, max, false]; }
  const low = value ? Math.max(value / 20, min ?? 0) : min ?? 0;
  return [low, Math.max(20 * value, low + 1), low > 0];
}

function ecn({ plan }, prefix, parameters) {
  const tcp = plan.flows.filter((flow) => !["udp", "scream"].includes(flow.transport)), groups = [...new Set(tcp.map((flow) => flow.group))];
  const value = Boolean(parameters.ecn) && tcp.every((flow) => flow.parameters.ecn);
  const targets = [`${prefix}.ecn`, ...groups.map((group) => `flow.${group}.tcp.ecn`)];
  return control(`${prefix}.ecn`, "ECN", "Queue", "switch", value, { targets, doc: "queue marks, TCP flows react; RFC 3168" });
}

export function networkControls(scenario, linkName) {
  const places = tables(scenario, scenario.link(linkName));
  return [...rate(scenario, linkName, places), ...roundTrip(scenario, linkName, places), ...flows(scenario)];
}

// Returns the tables of the file that may describe a link.
function tables({ normalized }, link) {
  const isLink = (table) => table && typeof table === "object" && "rate" in table && "delay" in table;
  const found = FORMS.flatMap((form) => Object.entries(normalized[form] ?? {}).filter(([, table]) => isLink(table)).map(([name]) => `${form}.${name}`));
  const names = [link.name, link.name.replace(/\.reverse$/, ""), `${link.from}->${link.to}`, `${link.to}->${link.from}`];
  for (const table of normalized.link ?? []) {
    const name = table.name || `${table.from}->${table.to}`;
    if (names.includes(name)) { found.push(name.includes(".") ? `link."${name}"` : `link.${name}`); }
  }
  return found;
}

function rate(scenario, linkName, places) {
  const now = scenario.link(linkName).rate_bps, mbps = now / 1e6;
  const place = places.find((one) => scenario.tried(`${one}.rate`, `${general(now * 2, 10)}bps`)?.link(linkName)?.rate_bps === now * 2);
  if (!place) { return []; }
  return [control("rate", "Rate", "Network", "number", mbps, {
    targets: [`${place}.rate`], low: rounded(Math.min(0.5, mbps / 10)), high: rounded(Math.max(200, mbps * 10)), least: 0.01,
    most: Math.max(HIGHEST_MBPS, mbps), log: true, unit: "Mbit/s", suffix: "Mbps", doc: `of link ${linkName}`,
  })];
}

// Returns the control of the round trip without queueing, if its way is known, else of the delay of the link alone.
function roundTrip(scenario, linkName, places) {
  const flow = scenario.plan.flows.find((one) => one.path.includes(linkName)), delay = scenario.link(linkName).delay_s;
  for (const place of places) {
    // A channel with handovers adds to the delay of the file: two trials say how much.
    const [one, other] = [delay, delay + TRIAL_S].map((trialS) => scenario.tried(`${place}.delay`, `${general(1e3 * trialS, 10)}ms`));
    if (!one || !other || other.link(linkName).delay_s === one.link(linkName).delay_s) { continue; }
    const [now, before, after] = [scenario, one, other].map((tried) => roundTripS(tried.plan, flow));
    if (now === null) { return [delayControl("delay", "Delay of the link", place, delay, 1, one.link(linkName).delay_s - delay)]; }
    const times = Number(((after - before) / TRIAL_S).toFixed(6));
    return [delayControl("rtt", "Round trip", place, now, times, before - times * delay)];
  }
  return [];
}

// Returns the control of value = rest + times * delay, in ms.
function delayControl(key, label, place, valueS, times, restS) {
  const value = rounded(1e3 * valueS, 8), least = Math.min(value, rounded(1e3 * (restS + times * LEAST_DELAY_S)));
  return control(key, label, "Network", "number", value, {
    targets: [`${place}.delay`], low: least, high: rounded(Math.max(500, 4e3 * valueS)), least, most: 10_000, log: true, unit: "ms", suffix: "ms",
    slope: 1 / times, offset: (-1e3 * restS) / times, doc: key === "rtt" ? "propagation there and back, without queues" : "propagation, one way",
  });
}

function roundTripS(plan, flow) {
  if (!flow) { return null; }
  const named = new Map(plan.links.map((link) => [link.name, link])), back = new Map(plan.links.map((link) => [`${link.to} ${link.from}`, link]));
  const there = flow.path.map((name) => named.get(name)), returning = there.map((link) => back.get(`${link.from} ${link.to}`));
  const sum = (links) => links.reduce((total, link) => total + link.delay_s, 0);
  return returning.includes(undefined) ? null : sum(there) + sum(returning);
}

function flows(scenario) {
  const groups = scenario.normalized.flow ?? [], { transports } = scenario.core.registry, several = groups.length > 1, controls = [];
  const first = new Map([...scenario.plan.flows].reverse().map((flow) => [flow.group, flow]));
  const variants = transports.filter((transport) => transport.profile === "ns2-2.35").map((transport) => transport.name);
  for (const { name, count = 1 } of groups.slice(0, MOST_GROUPS)) {
    const key = `flow.${name}.count`, label = several ? `TCP of ${name}` : "TCP", flow = first.get(name);
    if (count <= MOST_FLOWS && scenario.tried(key, String(count + 1))) {
      controls.push(control(key, several ? `Flows ${name}` : "Flows", "Network", "number", count, {
        targets: [key], low: 1, high: Math.min(Math.max(200, 4 * count), MOST_FLOWS), least: 1, most: MOST_FLOWS, log: true, step: 1,
        doc: `how many of [[flow]] ${name}`,
      }));
    }
    const choice = (target, value, choices) => controls.push(control(target, label, "Network", "choice", value, { targets: [target], choices }));
    if (variants.includes(flow.transport)) { choice(`flow.${name}.transport`, flow.transport, variants); }
    if (flow.parameters.profile === "rfc") {
      const known = transports.find((transport) => transport.name === "tcp").parameters.find((p) => p.key === "congestion_control");
      choice(`flow.${name}.tcp.congestion_control`, flow.parameters.congestion_control, known.choices);
    }
  }
  return controls;
}

export function runControls({ plan }) {
  const seconds = Math.min(plan.duration_s, LONGEST_S);
  return [
    control("seconds", "Simulated time", "Run", "number", seconds, {
      low: 1, high: Math.max(120, seconds), least: 0.1, most: LONGEST_S, log: true, unit: "s", doc: "a run that would take too long is refused",
    }),
    control("seed", "Seed", "Run", "number", plan.seeds[0], { low: 1, high: 50, most: MOST_SEED, step: 1, doc: "of the random numbers of a run" }),
  ];
}
