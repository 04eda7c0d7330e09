// Runs a scenario beside the page, so that the page never waits. Messages from the page:
//   { core, text, file, link, overrides }     simulator (see Core.load) and scenario, first of all and with another scenario
//   { number, call, settings, from_s, aqms }  a question; an earlier one that is under way is dropped. `call` names a function
//                                             of a session: answer, watch (a recording of the queue alone) or ghost
// and to it: { number, answer }, { number, share }, { number } if it was dropped, and { number, line, problems, failed }:
// failed if the worker cannot go on, as without memory, or if the scenario could not be opened.

import { Core } from "./core.js";
import { Session } from "./local.js";

let session = null, isOpen = false, newest = 0;
const turn = new MessageChannel();

// Lets messages arrive that wait.
function others() {
  return new Promise((done) => {
    turn.port1.onmessage = done;
    turn.port2.postMessage(0);
  });
}

async function answer({ number, call = "answer", settings, from_s, aqms }) {
  newest = number;
  const step = async (share) => {
    postMessage({ number, share });
    await others();
    if (newest !== number) { throw null; }
  };
  try {
    await others();
    if (newest !== number) { throw null; }
    const opened = await session, calls = {
      answer: () => opened.answer(settings, { from_s, aqms }, step), watch: () => opened.watch(settings, from_s, step), ghost: () => opened.ghost(settings, step),
    };
    postMessage({ number, answer: { ...await calls[call](), number } });
  } catch (error) {
    if (error === null) { postMessage({ number }); return; }
    const crashed = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    const line = crashed ? "The simulator failed, perhaps for want of memory: lower the rate, the flows or the simulated time." : error.message;
    postMessage({ number, line, problems: error.problems ?? [], failed: crashed || !isOpen });
  }
}

self.onmessage = ({ data }) => {
  if (data.core) {
    const { core, text, file, link, overrides } = data;
    session = Core.load(core).then((loaded) => Session.open(loaded, text, file, { link, overrides }));
    session.then(() => { isOpen = true; }, () => {});  // a failure is reported with the first question
  } else {
    answer(data);
  }
};
