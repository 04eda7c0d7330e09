// The contents of the picture of the queue: packets, thresholds, drop curve, and the ghost of drop-tail behind them.

import { OTHER } from "./controls.js";
import { recording } from "./recording.js";
import { curvesOf, thresholds } from "./results.js";

const POINTS = 121, BEYOND = 1.5;  // of a curve; the picture shows so many times max_th
const GRABBED = ["min_th", "max_th", "max_p"];

// Returns a lane for each run.
export function lanesOf(runs, from_s, core) {
  return runs.map((run) => ({ name: run.name, levels: thresholds(run.link.parameters), curve: curveOf(run, core), ...recording(run.tables.events, from_s) }));
}

// Returns the drop curve of a run, with the keys of the settings by which it is dragged; null without one curve with thresholds.
function curveOf({ link, isOther }, core) {
  const { parameters, classes, without_effect: idle = [] } = link;
  if (classes?.length || GRABBED.some((key) => typeof parameters[key] !== "number" || idle.includes(key))) { return null; }
  const [[, body]] = curvesOf({ link }), most = BEYOND * parameters.max_th, x = Array.from({ length: POINTS }, (_, i) => (i * most) / (POINTS - 1));
  const keys = Object.fromEntries(GRABBED.map((key) => [key, `${isOther ? OTHER : ""}queue.${link.queue}.${key}`]));
  const values = Object.fromEntries(GRABBED.map((key) => [key, parameters[key]]));
  return { x, p: core.curve(body, x), most, top: Math.min(Math.max(1.6 * parameters.max_p, 0.02), 1.02), keys, values };
}

// Returns the length of a queue at even times from 0 on.
export function ghostOf({ name, tables: { queue_samples: samples } }) {
  const t = samples.t_s, every = t.length > 1 ? t[1] - t[0] : 1;
  return { name, from_s: t[0] ?? 0, every_s: every, packets: Array.from(samples.queue_packets, Number) };
}
