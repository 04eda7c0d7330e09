// The simulator (crates/web): requests and answers are JSON, tables are typed arrays. A page that is one file has it as
// WebAssembly, a served one asks the native core of its server.

const STEPS = 200;  // parts of a run, after each of which it can be stopped
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
  // Returns a core of the bytes of aqmlab.wasm, or of { address, page }: where the server is asked, and under which name.
  static async load(source) {
    if (source.address) { return new ServerCore(source); }
    const { instance: { exports } } = await WebAssembly.instantiate(source, {});
    return new LocalCore({ exports });
  }

  constructor(own) {
    Object.assign(this, own);
    this.registry = this.call("disciplines", "");
    this.quantities = this.call("quantities", "");
  }

  // As `call` with a request; errors are thrown.
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
  toml(text) { return this.ask("read_toml", text).value; }

  // Returns p_b of a queue at averages in packets.
  curve(queue, x) { return this.ask("curve", { queue: JSON.stringify(queue), x }).p; }

  // Runs a scenario with one seed; returns its summary, the quantities of a link (by default of the bottleneck; missing
  // values are null), and its tables: table to column to values. `step(share)` is awaited now and then; an error in
  // it ends the run.
  async run({ text, file, overrides, seed, link }, step = async () => {}) {
    this.ask("start", { text, file, overrides, seed });
    for (let share = 0; share < 1;) {
      share = this.advance(share);
      if (share < 1) { await step(share); }
    }
    const { summary, quantities, tables } = this.ask("finish", { link }), { block, from } = this.columns();
    const values = ({ kind, at, length, values: words }) => {
      if (kind === "text") { return words; }
      const bytes = block.slice(from + at, from + at + 8 * length);
      return kind === "i8" ? new BigInt64Array(bytes) : new Float64Array(bytes);
    };
    const named = (entries, value) => Object.fromEntries(entries.map(value));
    return { summary, quantities, tables: named(Object.entries(tables), ([name, columns]) => [name, named(columns, (one) => [one.name, values(one)])]) };
  }
}

// A core in the memory of the page.
class LocalCore extends Core {
  // Calls a function of the module with a text; returns its answer.
  call(name, text) {
    const bytes = new TextEncoder().encode(text);
    const at = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    const length = this.exports[name]();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, this.exports.output(), length)));
  }

  // Goes on with a run from a share of it for a while; returns the share that is done.
  advance(share) {
    const until = performance.now() + SLICE_MS;
    for (let step = Math.round(share * STEPS) + 1; ; step += 1) {
      this.exports.advance(step / STEPS);
      if (step === STEPS || performance.now() > until) { return step / STEPS; }
    }
  }

  // Returns where the numbers of a finished run are.
  columns() {
    return { block: this.exports.memory.buffer, from: this.exports.columns() };
  }
}

// The core of a server. A worker may wait for each answer.
class ServerCore extends Core {
  send(call, request) {
    const asked = new XMLHttpRequest();
    asked.open("POST", this.address, false);
    asked.responseType = "arraybuffer";
    asked.setRequestHeader("Content-Type", "application/json");
    try {
      asked.send(JSON.stringify({ page: this.page, call, request }));
    } catch (error) {
      throw new Error("The laboratory does not answer. Was it closed?");
    }
    if (asked.status !== 200) { throw new Error(new TextDecoder().decode(asked.response).trim()); }
    return asked.response;
  }

  call(name, text) { return JSON.parse(new TextDecoder().decode(this.send(name, text))); }
  advance() { return this.ask("advance", "").share; }
  columns() { return { block: this.send("columns", ""), from: 0 }; }
}
