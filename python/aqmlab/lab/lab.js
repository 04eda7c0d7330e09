// The page: what is changed is asked for, the newest answer is drawn. At most one question is under way; one that is
// overtaken is given GRACE_MS to be drawn on the way, so that the charts move while a slider is dragged.

import { readAddress, unknownWords } from "./address.js";
import { Backend } from "./backend.js";
import { Chart, short } from "./chart.js";
import { SettingsHistory } from "./history.js";
import { showFew, showNumbers, showTins } from "./numbers.js";
import { Panel } from "./panel.js";
import { UplinkPage } from "./uplink.js";
import { Watching } from "./watching.js";

const GRACE_MS = 120;
const KEPT = 40;
const PATIENCE_MS = 400;  // a run that takes longer shows its progress
const ASKED = ["max_th", "target", "limit"];  // the first of these that a queue has is in the question at the top
const FIRST_CHART = "queue";  // stays in view on a narrow page
const root = document.documentElement;
const at = (id) => document.getElementById(id);
const setup = JSON.parse(at("setup").textContent), backend = new Backend(setup, showProgress);

let settings = {};
let shownQueues = null;
let number = 0, watched = 0, drawn = 0, changedAt = 0, wanted = false, underWay = null, timer = 0;
const charts = new Map(), tried = [];
const past = new SettingsHistory(), panel = new Panel(at("controls"), change), asked = new Panel(at("ask"), (key, value) => panel.user(key, value));
const uplinkPage = new UplinkPage(setup, ({ rate, rtt }) => history.replaceState(null, "", `#uplink=${rate},${rtt}`));
const watching = new Watching(record, (key, value, movement) => panel.user(key, value, movement));
let kept = null;  // charts that are held behind those of later answers
let last = null;  // the newest answer
let shownParts = {};  // of a page that is part of another one: what the address wants to be seen
let notices = [], isFromAddress = false;  // what is wrong with the address; whether no answer was drawn since it was read

function change(key, value, movement) {
  past.note(settings, movement);
  settings[key] = value;
  notices = [];
  asked.set(key, value);
  if (!(`beside.${key}` in settings)) { panel.set(`beside.${key}`, value); }
  // Each discipline has its own curve, and each of two compared ones its own values.
  const isOld = (other) => (key === "aqm" && other.endsWith(".curve")) || (key === "beside" && other.startsWith("beside."));
  for (const other of Object.keys(settings)) { if (isOld(other)) { delete settings[other]; } }
  showHistory();
  ask();
}

// Goes back to settings of before, or forth again.
function travel(found) {
  if (!found) { return; }
  settings = found;
  notices = [];
  shownQueues = null;
  showHistory();
  ask();
}

function showHistory() {
  at("undo").disabled = !past.past.length;
  at("redo").disabled = !past.future.length;
}

// Holds the lines of the charts behind those of later settings, or lets them go.
function hold() {
  kept = kept || !last ? null : new Map(last.charts.map((spec) => [spec.key, spec]));
  showHeld();
  if (last) { drawCharts(last); }
}

function showHeld() {
  at("hold").textContent = kept ? "Let go of the held curve" : "Hold this curve";
  at("hold").setAttribute("aria-pressed", String(Boolean(kept)));
}

function ask() {
  wanted = true;
  changedAt = performance.now();
  queueMicrotask(go);  // one question for all that one event changes
}

function go() {
  if (!wanted) { return; }
  const age = underWay === null ? Infinity : performance.now() - underWay.began;
  if (age < GRACE_MS) { clearTimeout(timer); timer = setTimeout(go, GRACE_MS - age); return; }
  wanted = false;
  number += 1;
  send({ number, began: performance.now(), changedAt, settings: { ...settings }, from_s: watching.from_s });
}

async function send(question) {
  underWay = question;
  watching.wait(true);
  const { answer, line, problems = [] } = await backend.ask(question);
  if (underWay === question) { underWay = null; at("cancel").hidden = true; watching.wait(false); }
  if (question.number > drawn && (answer || line)) {
    drawn = question.number;
    if (answer) { show(answer, question); } else if (isFromAddress && Object.keys(settings).length) { useOwnSettings(line); } else { refuse(line, question.number, problems); }
  }
  if (wanted) { go(); }
}

// Shows the scenario without the settings of the address, which cannot be used, and says so.
function useOwnSettings(line) {
  notices.push(`set: ${line}`);
  settings = {};
  ask();
}

function refuse(line, which, problems) {
  at("error").textContent = line;
  showProblems(problems);
  at("error").hidden = false;
  document.querySelector("main").classList.add("stale");
  root.dataset.refused = which;
}

function show(answer, question) {
  if (isFromAddress) { checkParts(answer); }
  isFromAddress = false;
  at("error").hidden = !notices.length;
  at("error").textContent = notices.length ? `The address of this page: ${notices.join("; ")}.` : "";
  const main = document.querySelector("main");
  main.classList.remove("stale");
  main.setAttribute("aria-busy", "false");
  at("title").textContent = `Laboratory: ${answer.name}`;
  document.title = `${answer.name}, aqmlab laboratory`;
  at("lead").textContent = `${answer.description} Link ${answer.link}.`;
  const queues = JSON.stringify([answer.aqm, answer.beside]);
  if (shownQueues !== queues) {
    shownQueues = queues;
    showControls(answer);
  }
  panel.hide(new Set(answer.hidden));
  if (shownParts.keep && !last) { kept = new Map(answer.charts.map((spec) => [spec.key, spec])); showHeld(); }
  last = answer;
  drawCharts(answer, true);
  showNumbers(at("numbers"), answer);
  showFew(at("few"), answer, shownParts.numbers ?? []);
  showTins(at("tins"), at("tins-title"), answer);
  at("command").textContent = answer.command;
  at("text").textContent = answer.text;
  at("warnings").textContent = answer.warnings.join(" ");
  showLink();
  showProblems([]);
  afterPaint(() => {
    const ms = Math.round(performance.now() - question.changedAt);
    at("status").textContent = `${short(answer.simulated_s)} s simulated; seed ${answer.seed}; drawn after ${ms} ms.`;
    root.dataset.response = ms;
    root.dataset.simulated = answer.simulated_s;
    root.dataset.drawn = answer.number;
    watching.use(answer);  // after the charts, which are waited for
  });
}

// Shows the controls, and the sentence with one of them above the queue.
function showControls({ panel: controls, hidden }) {
  const wanted = shownParts.knobs ?? (shownParts.ask ? [] : null), given = { ...settings };
  for (const { key } of controls) { given[key] ??= settings[key.replace(/^beside\./, "")]; }
  const isNumber = ({ key, kind, group }) => kind === "number" && group === "Queue" && !hidden.includes(key);
  const knob = ASKED.map((word) => controls.find((one) => isNumber(one) && one.key.endsWith(`.${word}`))).find(Boolean) ?? controls.find(isNumber);
  const sentence = shownParts.ask?.[0] ?? (knob ? `What happens to the queue when ${knob.label === "Buffer" ? "the buffer" : knob.label} is {${knob.key}}?` : "");
  asked.sentence(sentence, controls, given);
  panel.asked = knob?.key;
  panel.show(controls.filter(({ key }) => !wanted || wanted.includes(key)).filter(({ key }) => !shownParts.ask || !asked.rows.has(key)), given, Boolean(wanted));
  at("panel").hidden = Boolean(shownParts.ask) && !panel.rows.size;
}

// Draws the charts of an answer; a new one is also noted among the settings that were tried.
function drawCharts(answer, isNew = false) {
  for (const spec of [...answer.charts.map(withKept), ...(isNew ? [triedChart(answer)] : [])]) {
    if (!charts.has(spec.key)) { charts.set(spec.key, new Chart(at(spec.key === FIRST_CHART ? "first" : "charts"))); }
    charts.get(spec.key).draw(spec);
    charts.get(spec.key).figure.hidden = Boolean(shownParts.show && !shownParts.show.includes(spec.key));
  }
  at("first").hidden = charts.get(FIRST_CHART).figure.hidden;
}

// Sees that the address names charts, parts and controls that there are, which the first answer shows.
function checkParts(answer) {
  const sections = [...document.querySelectorAll("[data-part]")].map((one) => one.dataset.part);
  const knobs = answer.panel.map(({ key }) => key);
  const known = { show: [...answer.charts.map(({ key }) => key), "tried", ...sections], knobs, numbers: answer.numbers.map(({ key }) => key) };
  for (const key of Object.keys(known)) {
    const complaint = unknownWords(key, shownParts[key], known[key]);
    if (!complaint) { continue; }
    notices.push(complaint);
    const left = shownParts[key].filter((word) => known[key].includes(word));
    showParts({ ...shownParts, [key]: left.length ? left : null });
  }
}

// Returns a chart with the held lines, dotted, behind its own; samples are not held beside a line.
function withKept(spec) {
  const before = kept?.get(spec.key);
  if (!before || before === spec) { return spec; }
  const drawn = before.series.filter(({ mode }) => mode === "line"), runOf = ({ name }) => name.split(": ").slice(0, -1).join();
  const plain = new Set(drawn.filter(({ faint }) => !faint).map(runOf));
  const lines = drawn.filter((one) => !one.faint || !plain.has(runOf(one))).map((one) => ({ ...one, name: `before: ${one.name}`, dash: "dot", onLine: false }));
  const high = (range, other) => (range && other ? [range[0], Math.max(range[1], other[1])] : range);
  return { ...spec, y_range: high(spec.y_range, before.y_range), x_range: high(spec.x_range, before.x_range), series: [...lines, ...spec.series] };
}

function afterPaint(work) {
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = work;
    channel.port2.postMessage(0);
  });
}

function triedChart(answer) {
  const value = (key) => answer.numbers.find((row) => row.key === key)?.values ?? [];
  const delays = value("mean_delay_ms"), goodputs = value("goodput_mbps");
  const before = tried.slice(-KEPT), own = answer.charts.find((chart) => chart.key === "goodput").series;
  const series = [{ name: "tried before", mode: "points", faint: true, paint: "#7b828d", x: before.map((p) => p[0]), y: before.map((p) => p[1]) }];
  answer.names.forEach((name, i) => {
    if (delays[i] === null || goodputs[i] === null || goodputs[i] === undefined) { return; }
    series.push({ name, mode: "points", paint: own[i].paint, marker: own[i].marker, x: [delays[i]], y: [goodputs[i]] });
    tried.push([delays[i], goodputs[i]]);
  });
  const now = series.slice(1).map((s) => `${s.name} ${short(s.y[0])} Mbit/s at ${short(s.x[0])} ms`).join(", ");
  const highest = (axis) => 1.1 * Math.max(...series.flatMap((s) => s[axis]), 1e-3);
  return {
    key: "tried", title: "Goodput against delay", alt: `Goodput against mean queueing delay of every setting tried; now ${now}.`, caption: "",
    x_label: "mean queueing delay, ms", y_label: "Mbit/s", x_range: [0, highest("x")], y_range: [0, highest("y")], shades: [], levels: [], series,
  };
}

async function copy(button) {
  const source = at(button.dataset.of), words = button.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch (error) {
    source.closest("details")?.setAttribute("open", "");
    getSelection().selectAllChildren(source);
    button.textContent = "Selected, copy with Ctrl+C";
  }
  setTimeout(() => { button.textContent = words; }, 1500);
}

function repaint() {
  for (const chart of charts.values()) { chart.repaint(); }
  uplinkPage.repaint();
}

function theme() {
  const button = document.querySelector("button.theme"), system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => { button.textContent = isDark() ? "Light page" : "Dark page"; };
  const remembered = localStorage.getItem("aqmlab-theme");
  if (remembered === "dark" || remembered === "light") { root.dataset.theme = remembered; }
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("aqmlab-theme", root.dataset.theme);
    label();
    repaint();
  });
  system.addEventListener("change", () => { label(); repaint(); });
  label();
}

function showProgress(number, share) {
  if (underWay?.number !== number || performance.now() - underWay.began < PATIENCE_MS) { return; }
  at("status").textContent = `Simulating: ${Math.round(100 * share)} %.`;
  at("cancel").hidden = false;
}

// Returns a recording of the queue, or its ghost; null if a run is under way, since that comes first.
async function record(call, from_s) {
  if (underWay) { return null; }
  watched -= 1;  // below zero, apart from the numbers of questions
  const { answer, line } = await backend.ask({ number: watched, call, settings: { ...settings }, from_s });
  if (line) { refuse(line, watched, []); }
  return answer ?? null;
}

// The whole setting is in the address, so that it opens the same run elsewhere.
function showLink() {
  if (!at("uplink").hidden) { return; }
  const parts = new URLSearchParams();
  if (Object.keys(settings).length) { parts.set("set", JSON.stringify(settings)); }
  const known = offered().findIndex((one) => one.text === backend.text);
  if (known > 0) { parts.set("preset", offered()[known].name); }
  if (known < 0) { parts.set("scenario", backend.text); }
  for (const [key, words] of Object.entries(shownParts)) { if (words) { parts.set(key, words.join(",")); } }
  history.replaceState(null, "", `#${parts}`);
  at("to-lab").href = `#${parts}`;
  at("link").textContent = location.href;
}

// Takes the setting of the address. The link "Skip to the charts" names a place of the page, not a setting.
function readLink() {
  const isPlace = Boolean(location.hash && at(location.hash.slice(1)));
  if (isPlace && backend.text) { return; }
  const { settings: given, preset, scenario, parts, uplink, complaints } = readAddress(isPlace ? "" : location.hash, offered().map(({ name }) => name));
  const text = scenario ?? offered().find(({ name }) => name === preset)?.text ?? setup.text;
  uplinkPage.show(uplink, complaints);
  if (uplink && setup.uplink) { return; }
  notices = complaints;
  settings = given;
  isFromAddress = true;
  showParts(parts);
  useScenario(text);
}

function showParts(parts) {
  shownParts = parts;
  root.classList.toggle("part", Boolean(shownParts.show));
  root.classList.toggle("asking", Boolean(shownParts.show && shownParts.ask));
  for (const one of document.querySelectorAll("[data-part]")) { one.classList.toggle("shown", Boolean(shownParts.show?.includes(one.dataset.part))); }
}

// Returns the scenarios of the menu: the page's own and those of papers.
function offered() {
  return [{ name: setup.file, file: setup.file, text: setup.text }, ...setup.presets];
}

function showMenu() {
  at("preset").append(...offered().map(({ name }, i) => new Option(name, i)), new Option("edited", -1));
  at("preset").lastChild.hidden = true;
  at("preset").addEventListener("change", () => { settings = {}; useScenario(offered()[at("preset").value].text); });
}

function useScenario(text) {
  if (text !== backend.text) {
    kept = null;
    last = null;
    past.clear();
    showHeld();
    showHistory();
  }
  const known = offered().findIndex((one) => one.text === text);
  backend.use(text, offered()[known]?.file ?? "scenario.toml");
  at("preset").value = known;
  if (text === setup.text) { Object.assign(backend, { link: setup.link, overrides: setup.overrides }); }
  at("source").value = text;
  tried.length = 0;
  shownQueues = null;
  ask();
}

// Shows what is wrong with the scenario, and selects the line of the first problem. What is wrong with an override has no line.
function showProblems(found) {
  const problems = found.filter((problem) => problem.file !== "--set");
  const source = at("source"), rows = problems.map(({ line, column, key, message, allowed }) => {
    const item = document.createElement("li");
    item.textContent = `Line ${line}, column ${column}: ${key ? `${key}: ` : ""}${message}${allowed ? ` (allowed: ${allowed})` : ""}`;
    return item;
  });
  at("problems").replaceChildren(...rows);
  source.setAttribute("aria-invalid", String(rows.length > 0));
  if (!rows.length) { return; }
  at("edit").open = true;
  const lines = source.value.split("\n"), before = lines.slice(0, problems[0].line - 1).join("\n").length + (problems[0].line > 1 ? 1 : 0);
  source.focus();
  source.setSelectionRange(before, before + (lines[problems[0].line - 1] ?? "").length);
}

if (!setup.served) { at("made").textContent = "Made by aqmlab. This page simulates by itself and sends nothing anywhere."; }
function undoByKey(event) {
  const isText = ["TEXTAREA", "INPUT"].includes(event.target.tagName) && event.target.type !== "range", key = event.key.toLowerCase();
  if (isText || event.altKey || !(event.ctrlKey || event.metaKey) || !["z", "y"].includes(key)) { return; }
  event.preventDefault();
  travel(key === "y" || event.shiftKey ? past.redo(settings) : past.undo(settings));
}

at("undo").addEventListener("click", () => travel(past.undo(settings)));
at("redo").addEventListener("click", () => travel(past.redo(settings)));
at("hold").addEventListener("click", hold);
at("drawer").addEventListener("click", () => at("drawer").setAttribute("aria-expanded", String(at("panel").classList.toggle("open"))));
addEventListener("keydown", undoByKey);
at("panel").addEventListener("submit", (event) => event.preventDefault());
at("reset").addEventListener("click", () => { past.note(settings, "reset"); showHistory(); settings = {}; useScenario(setup.text); });
at("cancel").addEventListener("click", () => backend.stop("Cancelled. Any change of a setting runs again."));
at("use").addEventListener("click", () => { settings = {}; useScenario(at("source").value); });
for (const button of document.querySelectorAll("button.copy")) { button.addEventListener("click", () => copy(button)); }
addEventListener("hashchange", readLink);
theme();
showMenu();
readLink();
