// The simulator as WebAssembly (crates/web, built by `make web`): requests and answers are JSON, tables are typed arrays.

const SLICES = 200;  // parts of a run, after each of which it can be stopped
const SLICE_MS = 25;  // so long a run goes on before others get a turn

// A scenario that is not valid, with its problems as `aqmlab check --json` has them.
export class ScenarioError extends Error {
  constructor(problems) {
    const [{ file, line, column, key, message, allowed }] = problems;
    super(`${file}:${line}:${column}: ${key ? `${key}: ` : ""}${message}${allowed ? ` (allowed: ${allowed})` : ""}`);
    this.problems = problems;
  }
}

export class Core {
  // Returns a core of the bytes of aqmlab.wasm.
  static async load(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Core(instance.exports);
  }

  constructor(exports) {
    this.exports = exports;
    this.registry = this.call("disciplines", "");
  }

  // Calls a function of the module with a text; returns its answer.
  call(name, text) {
    const bytes = new TextEncoder().encode(text);
    const at = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    const length = this.exports[name]();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, this.exports.output(), length)));
  }

  // As `call` with a request; what is wrong is thrown.
  ask(name, request) {
    const answer = this.call(name, typeof request === "string" ? request : JSON.stringify(request));
    if (answer.ok) { return answer; }
    throw answer.errors ? new ScenarioError(answer.errors) : new Error(answer.error);
  }

  // Returns the checked scenario, with its warnings in `warnings`; whole: with all links and flows.
  check(text, file, overrides, whole = true) {
    const { scenario, warnings } = this.ask("check", { text, file, overrides, whole });
    return { ...scenario, warnings };
  }

  // Returns the values of TOML text.
  toml(text) {
    return this.ask("read_toml", text).value;
  }

  // Returns p_b of a queue at averages in packets.
  curve(queue, x) {
    return this.ask("curve", { queue: JSON.stringify(queue), x }).p;
  }

  // Runs a scenario with one seed; returns its summary and tables: table to column to values. `step(share)` is awaited
  // now and then; what it throws ends the run.
  async run({ text, file, overrides, seed }, step = async () => {}) {
    this.ask("start", { text, file, overrides, seed });
    let last = performance.now();
    for (let slice = 1; slice <= SLICES; slice += 1) {
      this.exports.advance(slice / SLICES);
      if (performance.now() - last > SLICE_MS) {
        await step(slice / SLICES);
        last = performance.now();
      }
    }
    const { summary, tables } = this.ask("finish", "");
    const named = (entries, value) => Object.fromEntries(entries.map(value));
    return { summary, tables: named(Object.entries(tables), ([name, columns]) => [name, named(columns, (one) => [one.name, this.column(one)])]) };
  }

  // Returns the values of a column: BigInt64Array, Float64Array or a list of words.
  column({ kind, at, length, values }) {
    if (kind === "text") { return values; }
    const from = this.exports.columns() + at, bytes = this.exports.memory.buffer.slice(from, from + 8 * length);
    return kind === "i8" ? new BigInt64Array(bytes) : new Float64Array(bytes);
  }
}
