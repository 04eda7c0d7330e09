/* Run the test vectors of this folder through the C functions as WebAssembly: node run.mjs aqmlab.wasm red.jsonl ...
 * `make c-wasm` builds the module. Exit code 1: a case failed. Offsets are those of the structs of aqmlab.h with pointers of 32 bits. */
import { readFileSync } from "node:fs";

const [wasm, ...files] = process.argv.slice(2);
const lib = (await WebAssembly.instantiate(readFileSync(wasm))).instance.exports;
const view = () => new DataView(lib.memory.buffer);
const [packet, event, departure, random, numbers, double, handle] = [32, 48, 48, 20, 2048, 8, 8].map(lib.aqmlab_allocate);
const decisions = ["enqueue", "mark", "drop"];
const ecns = ["not-ect", "ect1", "ect0", "ce"];
const kinds = ["data", "ack", "syn"];

function text(address) {
  const bytes = new Uint8Array(lib.memory.buffer, address);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}

/** Call a function with a text in the module's memory. */
function withText(words, call) {
  const bytes = new TextEncoder().encode(`${words}\0`);
  const address = lib.aqmlab_allocate(bytes.length);
  new Uint8Array(lib.memory.buffer).set(bytes, address);
  const status = call(address);
  lib.aqmlab_release(address, bytes.length);
  if (status) throw new Error(text(lib.aqmlab_error()));
}

/** Repeat an event; return its answer with the keys of a line. */
function step(queue, line) {
  const time = BigInt(line.t_ns);
  line.random.forEach((r, i) => view().setBigUint64(numbers + 8 * i, BigInt(Math.floor(r * 2 ** 64)) + 1024n, true));
  [numbers, line.random.length, 0, 0, 0].forEach((value, i) => view().setUint32(random + 4 * i, value, true));
  const answer = { dropped: [], marked: [], reasons: [], state: {} };
  let status;
  if (line.op === "enqueue") {
    view().setBigUint64(packet, BigInt(line.id), true);
    [line.length, line.flow, 0, 0].forEach((value, i) => view().setUint32(packet + 8 + 4 * i, value, true));
    const { ecn, dscp, kind = "data", ttl, ttl_initial, ttl_final } = line;
    const fields = [ecns.indexOf(ecn), dscp, kinds.indexOf(kind), line.class, ttl, ttl_initial, ttl_final, 0];
    fields.forEach((value, i) => view().setUint8(packet + 24 + i, value ?? 0));
    status = lib.aqmlab_enqueue(queue, time, packet, random, event);
    answer.decision = decisions[view().getInt32(event + 8, true)];
  } else {
    status = lib.aqmlab_dequeue(queue, time, random, departure);
    const kind = view().getInt32(departure, true);
    answer.id = kind === 0 ? Number(view().getBigUint64(departure + 8, true)) : null;
    if (kind === 2) answer.not_before_ns = Number(view().getBigUint64(departure + 40, true));
  }
  if (status) throw new Error(text(lib.aqmlab_error()));
  const events = lib.aqmlab_events(queue, double);
  const listed = Array.from({ length: view().getUint32(double, true) }, (_, i) => events + 48 * i);
  for (const verdict of [2, 1])
    for (const at of listed.filter((at) => view().getInt32(at + 8, true) === verdict)) {
      (verdict === 2 ? answer.dropped : answer.marked).push(Number(view().getBigUint64(at, true)));
      answer.reasons.push(text(at + 16));
    }
  answer.state.packets = lib.aqmlab_backlog_packets(queue) >>> 0;
  answer.state.bytes = Number(lib.aqmlab_backlog_bytes(queue));
  for (let i = 0, name; (name = lib.aqmlab_gauge_name(queue, i)); i++) {
    if (lib.aqmlab_gauge(queue, name, double)) throw new Error(text(lib.aqmlab_error()));
    answer.state[text(name)] = view().getFloat64(double, true);
  }
  answer.drawn = view().getUint32(random + 16, true);
  return answer;
}

const isClose = (a, b) => b === null || Math.abs(a - b) <= Math.max(1e-12, 1e-9 * Math.abs(b));

/** Return the first key of a line that differs in the answer. */
function difference(line, answer) {
  const keys = ["decision", "id", "dropped", "marked", "reasons", "not_before_ns"];
  const key = keys.find((key) => (key !== "id" || line.op === "dequeue") && `${line[key]}` !== `${answer[key]}`);
  const gauge = Object.keys(line.state).find((name) => !isClose(answer.state[name], line.state[name]));
  return key ?? (answer.drawn === line.random.length ? gauge : "random");
}

for (const file of files) {
  const [header, ...lines] = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  let [cases, failures, queue, name] = [0, 0, 0, ""];
  for (const line of lines) {
    if (line.op === "new") {
      lib.aqmlab_queue_free(queue);
      [name, cases] = [line.case, cases + 1];
      withText(line.settings, (settings) => lib.aqmlab_queue_new(settings, BigInt(header.rate_bps), 0n, handle));
      queue = view().getUint32(handle, true);
    } else if (queue) {
      const key = difference(line, step(queue, line));
      if (!key) continue;
      console.log(`${file}: ${name}: ${key} differs at ${line.t_ns} ns`);
      lib.aqmlab_queue_free(queue);
      [queue, failures] = [0, failures + 1];
    }
  }
  console.log(`${file}: ${cases - failures} of ${cases} cases pass`);
  if (failures) process.exitCode = 1;
}
