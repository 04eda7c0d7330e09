// Colours, markers and dashes of series: each discipline has its own. The same as aqmlab.figures.marks, whose table FACTS holds.

import { FACTS } from "./facts.js";

const { colors: COLORS, palette: COUNT, grey: GREY, dashes: DASHES, shapes: SHAPES, disciplines: DISCIPLINES } = FACTS;
export const PALETTE = COLORS.slice(0, COUNT);

// Returns a name up to its first comma or colon, and the rest.
function parts(name) {
  const at = name.search(/[,:]/);
  return at < 0 ? [name.trim(), ""] : [name.slice(0, at).trim(), name.slice(at + 1).trim()];
}

// Returns the discipline that a series is named after, or null.
function disciplineIn(name) {
  const word = parts(name)[0].toLowerCase().replaceAll(" ", "-");
  return Object.hasOwn(DISCIPLINES, word) ? word : null;
}

const own = (discipline) => {
  const [place, dash, marker] = DISCIPLINES[discipline];
  return { paint: COLORS[place], dash, marker, onLine: true };
};

// Returns whether several series of a discipline and a mode have another name.
function repeats(rows, of) {
  const keys = [...new Set(rows.filter(({ name }) => of.has(name)).map(({ name, mode }) => JSON.stringify([of.get(name), mode, name])))];
  const groups = keys.map((key) => JSON.stringify(JSON.parse(key).slice(0, 2)));
  return new Set(groups).size < groups.length;
}

// Returns the discipline of each name; none if all are of one discipline, so that only colours differ.
function disciplinesOf(rows) {
  const named = new Map(rows.map(({ name }) => [name, disciplineIn(name)]).filter(([, found]) => found));
  if (!named.size) {
    const weak = new Map(rows.filter(({ discipline }) => discipline in DISCIPLINES).map(({ name, discipline }) => [name, discipline]));
    return new Set(weak.values()).size < weak.size ? new Map() : weak;
  }
  return repeats(rows, named) && new Set(named.values()).size === 1 ? new Map() : named;
}

// Returns the mark of a series without a discipline, of the first colour from the wanted one on that is free.
function other(wanted, taken) {
  const places = PALETTE.map((_, step) => (wanted + step) % COUNT);
  const place = wanted === GREY ? GREY : places.find((one) => !taken.has(PALETTE[one])) ?? wanted % COUNT;
  return place === GREY ? { paint: PALETTE[GREY], dash: "solid", marker: "circle", onLine: false }
    : { paint: PALETTE[place], dash: DASHES[place % DASHES.length], marker: SHAPES[place], onLine: true };
}

// Returns the series of a chart with `paint`, `dash` and `marker`; lines with `onLine` bear markers.
export function painted(rows) {
  const of = disciplinesOf(rows), marks = new Map([...of].map(([name, found]) => [name, own(found)]));
  const words = [...new Set(rows.filter(({ name }) => of.has(name)).map(({ name }) => parts(name)[1]))], isRepeated = repeats(rows, of);
  const taken = new Set([...marks.values()].map(({ paint }) => paint)), shared = taken.size < new Set(of.values()).size, names = [...marks.keys()];
  return rows.map(({ color, discipline, ...row }) => {
    if (!marks.has(row.name)) {
      marks.set(row.name, other(color, taken));
      if (color !== GREY) { taken.add(marks.get(row.name).paint); }
    }
    let mark = marks.get(row.name);
    if (isRepeated && of.has(row.name)) {
      const place = shared ? names.indexOf(row.name) : words.indexOf(parts(row.name)[1]);
      mark = row.mode === "line" ? { ...mark, dash: DASHES[place % DASHES.length] } : { ...mark, marker: SHAPES[place % SHAPES.length] };
    }
    return { ...row, ...mark, dash: row.mode === "line" ? mark.dash : "solid" };
  });
}
