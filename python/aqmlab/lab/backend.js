// Who answers the page's questions: the server of `aqmlab lab`, or a worker of the page itself.

const page = [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, "0")).join("");

// Each question is one request; the server drops what a newer one of the same page overtakes.
export class ServerBackend {
  // Returns { answer }, or { line } with what is wrong, "" if a newer question took the place of this one.
  async ask({ number, settings, end }) {
    try {
      const reply = await fetch("run", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        signal: end.signal,
        body: JSON.stringify({ page, number, settings }),
      });
      return reply.ok ? { answer: await reply.json() } : { line: reply.status === 409 ? "" : (await reply.text()).trim() };
    } catch (error) {
      return { line: end.signal.aborted ? "" : "The laboratory does not answer. Was it closed?" };
    }
  }
}

// The worker and its simulator (aqmlab.wasm, compressed) are in elements of the page.
export class LocalBackend {
  constructor(setup, progress) {
    Object.assign(this, { ...setup, progress, waiting: new Map(), worker: null });
    this.code = URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" }));
    const packed = Uint8Array.from(atob(document.getElementById("core").textContent), (c) => c.charCodeAt(0));
    this.core = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  // Ends the worker, whatever it does; questions that wait for it are answered with this line.
  stop(line) {
    this.worker?.terminate();
    this.worker = null;
    for (const done of this.waiting.values()) { done({ line }); }
    this.waiting.clear();
  }

  // Takes another scenario.
  use(text, file) {
    this.stop("");
    Object.assign(this, { text, file, link: null, overrides: [] });
  }

  // `from_s`: a recording from that time on is asked for, not a run.
  async ask({ number, settings, from_s }) {
    const core = await this.core;
    if (!this.worker) {
      this.worker = new Worker(this.code);
      this.worker.onmessage = ({ data }) => this.heard(data);
      this.worker.onerror = () => this.stop("The simulator failed in this browser.");
      const { text, file, link, overrides } = this;
      this.worker.postMessage({ core, text, file, link, overrides });
    }
    return new Promise((done) => {
      this.waiting.set(number, done);
      this.worker.postMessage({ number, settings, from_s });
    });
  }

  heard({ number, answer, line = "", problems = [], share, failed }) {
    if (share !== undefined) { this.progress(number, share); return; }
    this.waiting.get(number)?.({ answer, line, problems });
    this.waiting.delete(number);
    if (failed) { this.stop(line); }
  }
}
