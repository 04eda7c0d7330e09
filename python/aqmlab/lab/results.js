// Results of runs on the page: numbers, as `aqmlab run` has them, and charts.

import { general } from "./controls.js";
import { FACTS } from "./facts.js";
import { painted } from "./marks.js";

const { clip: CLIP, headroom: HEADROOM, grey: GREY, tins: TINS, tin_titles: TIN_TITLES } = FACTS;
const CLASS_COLORS = [0, 1, 2, 6, 7];  // of the curves of a queue's classes
const CURVE_POINTS = 241, CALL_POINTS = 400, DIGITS = 5;

const plain = (column) => Array.from(column, Number);
const isNumber = (value) => typeof value === "number";
const highest = (values) => values.reduce((most, value) => (value > most ? value : most), 0);
const significant = (value, digits) => (Number.isFinite(value) ? general(value, digits) : "nan");
const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "nan");

// Returns the shown unit and digits of a quantity; some shares are in %.
const asShown = ({ unit, digits, is_percent: isPercent }) => (isPercent ? { unit: "%", digits: Math.max(0, digits - 2) } : { unit: unit === "1" ? "" : unit, digits });
const scaled = ({ is_percent: isPercent }, value) => (value === null || value === undefined ? null : isPercent ? 100 * value : value);

// Returns the rows of the table of numbers: the quantities that the laboratory shows, then those of groups of flows that `compare` shows
// too and the delays of each queue, each with one value for each run.
export function numberRows(runs, { quantities }) {
  const shown = quantities.filter(({ places }) => "laboratory" in places).sort((a, b) => a.places.laboratory - b.places.laboratory);
  const made = (one, key, more = {}) => ({ key, title: one.title, ...asShown(one), doc: one.doc, ...more, values: runs.map((run) => scaled(one, run.quantities[key])) });
  const rows = shown.map((one) => ({ isSeldom: one.is_seldom, row: made(one, one.key) }));
  const names = new Set(runs.flatMap((run) => Object.keys(run.quantities)));
  const grouped = shown.filter((one) => one.of_groups && (one.of_groups.compared !== "described" || one.group === "delay"));
  for (const one of grouped) {
    const { key, of_groups: groups } = one, own = [...names].filter((name) => name.startsWith(`${key}.`));
    rows.push(...own.map((name) => ({ isSeldom: false, row: made(one, name, { title: `${groups.title} of ${name.slice(key.length + 1)}`, doc: groups.doc }) })));
  }
  return rows.filter(({ isSeldom, row }) => !isSeldom || row.values.some(Boolean)).map(({ row }) => row);
}

// How statistics of tins are written, as tc writes them.
const WRITERS = {
  count: (value) => value.toFixed(0),
  size: (value) => `${value.toFixed(0)}b`,
  rate(bits) {
    if (!bits) { return "unlimited"; }
    const [scale, unit] = [[1e9, "Gbit"], [1e6, "Mbit"], [1e3, "Kbit"]].find(([one]) => bits % one === 0) ?? [1, "bit"];
    return `${(bits / scale).toFixed(0)}${unit}`;
  },
  time(seconds) {
    const us = Math.round(1e6 * seconds), [scale, unit] = us >= 1e6 ? [1e6, "s"] : us >= 1000 ? [1000, "ms"] : [1, "us"];
    return `${general(us / scale, 3)}${unit}`;
  },
};

// Returns a table of the tins of each run with CAKE, as tc -s prints them.
export function tinTables(runs) {
  return runs.flatMap(({ name, link, tables: { tins } }) => {
    const rows = tins ? tins.link.flatMap((one, row) => (one === link.name ? [row] : [])) : [];
    if (!rows.length) { return []; }
    const titles = rows.map((row, place) => (rows.length > 1 && TIN_TITLES[tins.tin[row]]) || `Tin ${place}`);
    return [{ name, titles, rows: TINS.map(([word, column, writer]) => [word, ...rows.map((row) => WRITERS[writer](Number(tins[column][row])))]) }];
  });
}

// Returns numbers with few digits, so that an answer is short; null where there is no value.
function finite(values) {
  const size = highest(values.filter(Number.isFinite).map(Math.abs)), digits = Math.max(DIGITS - (size > 0 ? Math.floor(Math.log10(size)) : 0) - 1, 0);
  return values.map((value) => (Number.isFinite(value) ? Number(value.toFixed(Math.min(digits, 100))) : null));
}

const series = (name, x, y, color, { mode = "line", discipline = "", ...more } = {}) => ({ name, mode, color, discipline, ...more, x: finite(x), y: finite(y) });

// Returns the charts of runs, each with `name`, `plan`, `link` (checked), `tables`, `values`: queue, probability, goodput, delay.
export function charts(runs, core) {
  const [first] = runs, named = (run, what) => (runs.length === 1 ? what : `${run.name}: ${what}`);
  const warmup = first.plan.warmup_s, common = { caption: "", x_label: "time, s", x_range: [0, first.plan.duration_s], shades: warmup > 0 ? [[0, warmup, "warm-up"]] : [], levels: [], clipped: null };
  const drawn = [queueChart(runs, common, named), probabilityChart(runs, core, named), goodputChart(runs, common), delayChart(runs, common)];
  return drawn.map((chart) => ({ ...chart, series: painted(chart.series) }));
}

const hasAverage = (run) => "curve" in run.link.parameters;
const top = (rows, levels) => 1.06 * Math.max(highest(rows.flatMap((row) => row.y)), ...levels, 1e-3);
// Returns the scale of lines against time that suits the part after the warm-up, and the peak before it that is clipped.
function steady(rows, levels, warmup, unit) {
  const later = highest(rows.flatMap((row) => row.y.filter((_, i) => row.x[i] >= warmup))), tall = HEADROOM * Math.max(later, ...levels, 1e-3);
  const [peak, at, name] = rows.flatMap((row) => row.y.map((y, i) => [y, row.x[i], row.name])).reduce((most, one) => (one[0] > most[0] ? one : most), [0, 0, ""]);
  if (warmup <= 0 || !later || at >= warmup || peak <= CLIP * tall) { return { y_range: [0, top(rows, levels)], clipped: null }; }
  return { y_range: [0, tall], clipped: { at, words: `${rows.length > 1 ? `${name}: ` : ""}peak ${general(peak, 3)} ${unit} at ${general(at, 2)} s` } };
}

const levelsOf = (levels) => levels.map(([height, name]) => [finite([height])[0], name]);

// Returns the thresholds of a queue in packets, each with its name.
export function thresholds(parameters) {
  return ["min_th", "max_th"].filter((key) => isNumber(parameters[key])).map((key) => [parameters[key], key]);
}

function queueChart(runs, common, named) {
  const rows = runs.flatMap((run, i) => {
    const samples = run.tables.queue_samples, t = plain(samples.t_s), queue = series(named(run, "queue"), t, plain(samples.queue_packets), GREY, { faint: true });
    return hasAverage(run) ? [queue, series(named(run, "average"), t, plain(samples.average), i, { discipline: run.link.aqm })] : [queue];
  });
  const levels = thresholds(runs[0].link.parameters);
  const means = runs.map((run) => `${run.name} ${fixed(run.quantities.mean_queue, 1)}`).join(", ");
  return {
    key: "queue", title: "Queue and average", alt: `Queue and average at ${runs[0].link.name} against time; mean queue in packets: ${means}.`,
    ...common, y_label: "packets", ...steady(rows, levels.map(([height]) => height), runs[0].plan.warmup_s, "packets"), levels: levelsOf(levels), series: rows,
  };
}

function probabilityChart(runs, core, named) {
  const reached = [30], steep = [0.02];
  const visited = runs.map((run) => {
    for (const body of run.link.classes?.length ? run.link.classes : [run.link.parameters]) {
      if (["min_th", "max_th", "max_p"].every((key) => isNumber(body[key]))) { reached.push(1.3 * body.max_th); steep.push(1.6 * body.max_p); }
    }
    const samples = run.tables.queue_samples, t = samples.t_s, counted = (column) => plain(column).filter((_, i) => t[i] >= run.plan.warmup_s);
    const found = { average: counted(samples.average), p_b: counted(samples.p_b) };
    if (hasAverage(run)) { reached.push(1.1 * highest(found.average)); steep.push(1.15 * highest(found.p_b)); }
    return found;
  });
  const right = Math.max(...reached), x = Array.from({ length: CURVE_POINTS }, (_, i) => (i * right) / (CURVE_POINTS - 1)), rows = [], words = [];
  runs.forEach((run, i) => {
    const share = `${significant(100 * run.quantities.loss, 3)} %`;
    if (!hasAverage(run)) { words.push(`${run.name} has no curve, share dropped ${share}`); return; }
    curvesOf(run).forEach(([name, body], number) => {
      rows.push(series(named(run, name), x, core.curve(body, x).map((p) => p ?? NaN), runs.length > 1 ? i : CLASS_COLORS[number % CLASS_COLORS.length], { discipline: run.link.aqm }));
    });
    const { links } = run.tables, mean = links.mean_average[links.link.indexOf(run.link.name)];
    rows.push(series(named(run, "visited"), visited[i].average, visited[i].p_b, GREY, { mode: "points", faint: true }));
    rows.push(series(named(run, "mean average, share dropped"), [mean], [run.quantities.loss], 3 + i, { mode: "points" }));
    words.push(`${run.name} mean average ${fixed(mean, 1)} packets, share dropped ${share}`);
  });
  return {
    key: "probability", title: "Drop probability", alt: `Drop probability against the average at ${runs[0].link.name}; ${words.join("; ")}.`,
    caption: about(runs), x_label: "average, packets", y_label: "drop probability p_b", x_range: [0, right], y_range: [0, Math.min(Math.max(...steep), 1.02)],
    shades: [], levels: [], series: rows,
  };
}

// Says what is not plain to see in the chart of probabilities.
function about(runs) {
  return runs.map((run) => {
    const { spacing } = run.link.parameters;
    if (run.link.aqm === "drop-tail") { return `${run.name} drops only what does not fit: it has no curve.`; }
    if (!hasAverage(run)) { return `${run.name} does not drop by an average: it has no curve.`; }
    return spacing === "none" ? "" : `${run.name} spaces its drops (${spacing}): the share dropped is not p_b itself.`;
  }).filter(Boolean).join(" ");
}

// Returns the name and the queue of every curve: one, or one for each class.
export function curvesOf({ link: { aqm, parameters, classes } }) {
  const picked = (from, keys) => Object.fromEntries(keys.filter((key) => (from[key] ?? null) !== null).map((key) => [key, from[key]]));
  if (!classes?.length) { return [["curve", { aqm, ...picked(parameters, ["curve", "min_th", "max_th", "max_p", "limit", "mean_packet", "points"]) }]]; }
  return classes.map((one) => [`curve of ${one.name}`, { aqm: "red", curve: parameters.curve, ...picked(one, ["min_th", "max_th", "max_p"]) }]);
}

function goodputChart(runs, common) {
  const rows = runs.map((run, i) => {
    const samples = run.tables.flow_samples, totals = new Map();
    samples.t_s.forEach((t, row) => totals.set(t, (totals.get(t) ?? 0) + Number(samples.delivered_bytes[row])));
    const t = [...totals.keys()].sort((a, b) => a - b), x = [], y = [];
    for (let k = 1; k < t.length; k += 1) {
      x.push((t[k] + t[k - 1]) / 2);
      y.push((8e-6 * (totals.get(t[k]) - totals.get(t[k - 1]))) / (t[k] - t[k - 1]));
    }
    return series(run.name, x, y, i, { discipline: run.link.aqm });
  });
  const capacity = runs[0].link.rate_bps / 1e6, means = runs.map((run) => `${run.name} ${fixed(run.quantities.goodput_mbps, 2)}`).join(", ");
  return {
    key: "goodput", title: "Goodput", alt: `Bits delivered to all receivers against time; goodput of TCP in Mbit/s: ${means}.`,
    ...common, y_label: "Mbit/s", y_range: [0, top(rows, [capacity])], levels: levelsOf([[capacity, "rate of the link"]]), series: rows,
  };
}

function delayChart(runs, common) {
  const rows = runs.map((run, i) => {
    const samples = run.tables.queue_samples, t = plain(samples.t_s);
    return series(run.name, t, plain(samples.queue_bytes).map((bytes, k) => (8e3 * bytes) / rateAt(run, t[k])), i, { discipline: run.link.aqm });
  });
  const p95 = runs[0].quantities.delay_p95_ms, levels = Number.isFinite(p95) ? [[p95, "95 % of packets"]] : [];
  const words = runs.map((run) => `${run.name} ${fixed(run.quantities.mean_delay_ms, 1)} and ${fixed(run.quantities.delay_p95_ms, 1)}`).join(", ");
  return {
    key: "delay", title: "Queueing delay", alt: `Queueing delay at ${runs[0].link.name} against time; mean and 95 % quantile in ms: ${words}.`,
    ...common, y_label: "ms", ...steady(rows, levels.map(([height]) => height), runs[0].plan.warmup_s, "ms"), levels: levelsOf(levels), series: rows,
  };
}

// Returns the delays of the calls' packets on the loaded way, from their sender to their receiver: the 95 % quantile after the warm-up of
// each run, and a chart; null without calls.
export function callDelays(runs) {
  const [first] = runs, rows = runs.flatMap(({ name, plan, link, tables: { call_packets: packets } }, i) => {
    const found = packets ? packets.flow.flatMap((flow, row) => (flow.endsWith(".there") ? [row] : [])) : [];
    if (!found.length) { return []; }
    const t = found.map((row) => packets.sent_s[row]), ms = found.map((row) => 1e3 * packets.delay_s[row]), later = ms.filter((_, k) => t[k] >= plan.warmup_s).sort((a, b) => a - b);
    const order = t.map((_, k) => k).sort((a, b) => t[a] - t[b]), every = Math.ceil(order.length / CALL_POINTS), kept = order.filter((_, k) => k % every === 0);
    const line = series(name, kept.map((k) => t[k]), kept.map((k) => ms[k]), i, { discipline: link.aqm });
    return [{ name, p95_ms: later[Math.max(Math.ceil(0.95 * later.length) - 1, 0)] ?? NaN, line }];
  });
  if (rows.length < runs.length) { return null; }
  const lines = painted(rows.map(({ line }) => line)), warmup = first.plan.warmup_s, words = rows.map(({ name, p95_ms: ms }) => `${name} ${fixed(ms, 1)}`).join(", ");
  const chart = {
    key: "calls", title: "Delay of the packets of two calls", alt: `Delay of calls' packets against time; 95 % quantile in ms: ${words}.`, caption: "",
    x_label: "time, s", x_range: [0, first.plan.duration_s], shades: warmup > 0 ? [[0, warmup, "warm-up"]] : [], y_label: "ms", ...steady(lines, [], warmup, "ms"), levels: [], series: lines,
  };
  return { rows: rows.map(({ name, p95_ms }, i) => ({ name, p95_ms, paint: lines[i].paint })), chart };
}

// Returns the longest queueing delay of runs in the samples, in seconds.
export function longestDelay(runs) {
  return highest(runs.flatMap((run) => plain(run.tables.queue_samples.queue_bytes).map((bytes, k) => (8 * bytes) / rateAt(run, run.tables.queue_samples.t_s[k]))));
}

// Returns the link's rate at a time: links can change during a run.
function rateAt({ plan, link }, t) {
  return plan.changes.reduce((rate, change) => (change.link === link.name && change.rate_bps !== null && t >= change.at_s ? change.rate_bps : rate), link.rate_bps);
}
