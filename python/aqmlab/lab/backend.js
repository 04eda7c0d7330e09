// Answers the page's questions in a worker, so that the page never waits.

export class Backend {
  // A served page asks its server. Else the simulator (aqmlab.wasm, compressed) is in an element of the page.
  constructor(setup, progress) {
    Object.assign(this, { ...setup, progress, waiting: new Map(), worker: null });
    this.code = URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" }));
    this.core = setup.served ? { address: new URL("core", location.href).href, page: crypto.randomUUID().replaceAll("-", "") } : unpacked(document.getElementById("core").textContent);
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

  // Returns the answer to a question of worker.js.
  async ask({ number, call, settings, from_s, aqms }) {
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
      this.worker.postMessage({ number, call, settings, from_s, aqms });
    });
  }

  heard({ number, answer, line = "", problems = [], share, failed }) {
    if (share !== undefined) { this.progress(number, share); return; }
    this.waiting.get(number)?.({ answer, line, problems });
    this.waiting.delete(number);
    if (failed) { this.stop(line); }
  }
}

function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
