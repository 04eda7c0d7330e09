// What happened at a queue packet by packet, from the event log of its link (docs/reference/tables.md, `events`).

// Returns the packets that wait at a time, and every event after it with the place of its packet in the queue. Packets are
// told apart by flow, kind and sequence number; of several alike the first to come is the first to leave. A packet that
// leaves and never came was there before the log began.
export function recording(events, from_s) {
  const rows = Array.from(events.t_ps, (t, i) => ({
    t: Number(t) / 1e12, kind: events.kind[i], flow: Number(events.flow[i]), average: events.average[i], reason: events.reason[i],
    key: `${events.flow[i]} ${events.packet[i]} ${events.seq[i]}`,
  }));
  const waiting = earlier(rows), steps = [];
  let start = null;
  for (const row of rows) {
    if (start === null && row.t >= from_s) { start = waiting.map(visible); }
    const step = { ...visible(row), t: row.t, kind: row.kind, average: row.average, reason: row.reason, place: waiting.length };
    if (row.kind === "+") {
      waiting.push({ ...row });
    } else {
      step.place = waiting.findIndex((one) => one.key === row.key);
      if (step.place < 0) { continue; }
      if (row.kind === "m") { waiting[step.place].marked = true; } else { waiting.splice(step.place, 1); }
    }
    if (start !== null) { steps.push(step); }
  }
  return { start: start ?? waiting.map(visible), steps };
}

const visible = ({ flow, marked = false }) => ({ flow, marked });

// Returns the packets that were in the queue before the log began, in the order in which they leave.
function earlier(rows) {
  const there = new Map(), found = [];
  for (const row of rows) {
    const count = there.get(row.key) ?? 0;
    if (row.kind === "+") { there.set(row.key, count + 1); }
    if (row.kind !== "-" && row.kind !== "d") { continue; }
    if (count > 0) { there.set(row.key, count - 1); } else { found.push({ ...row }); }
  }
  return found;
}
