// The wishes in the address of the page: #set={"aqm":"red"}&preset=NAME and so on. Unusable ones are left out and
// named, so that a mistyped address opens a page that names its mistake.

const KEYS = {
  set: 'a JSON object of settings, such as {"aqm":"red"}',
  preset: "the name of a scenario of the menu",
  scenario: "the text of a scenario file",
  knobs: "keys of controls, with commas",
  show: "names of charts and parts of the page, with commas",
  keep: "yes",
  ask: "a sentence with the keys of controls in braces",
  numbers: "keys of numbers, with commas",
  uplink: "a rate in Mbit/s and a round trip in ms, such as 20,40",
};
const LONGEST = 60;

const quoted = (text) => `"${text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text}"`;

// Returns { settings, preset, scenario, parts, uplink, complaints }; parts missing in the address are null, the others lists of words.
export function readAddress(hash, presets) {
  const given = new URLSearchParams(hash.replace(/^#/, "")), complaints = [];
  const wrong = (key, value, allowed) => { complaints.push(`${key}: ${quoted(value)} cannot be used (allowed: ${allowed})`); return null; };
  for (const key of new Set(given.keys())) {
    if (!Object.hasOwn(KEYS, key)) { complaints.push(`unknown parameter ${quoted(key)} (allowed: ${Object.keys(KEYS).join(", ")})`); }
    else if (given.getAll(key).length > 1) { complaints.push(`${key}: is given twice; the first counts`); }
  }
  if (given.has("uplink")) {
    const beside = [...new Set(given.keys())].filter((key) => key !== "uplink" && Object.hasOwn(KEYS, key));
    if (beside.length) { complaints.push(`${beside.join(", ")}: without effect beside uplink`); }
  }
  const read = (key, use) => (given.has(key) ? use(given.get(key)) ?? wrong(key, given.get(key), KEYS[key]) : null);
  const words = (text) => { const found = text.split(",").filter(Boolean); return found.length ? found : null; };
  return {
    settings: read("set", asSettings) ?? {},
    preset: given.has("preset") && !presets.includes(given.get("preset")) ? wrong("preset", given.get("preset"), presets.join(", ")) : given.get("preset"),
    scenario: given.get("scenario"),
    parts: {
      knobs: read("knobs", words), show: read("show", words), keep: read("keep", (text) => (text === "yes" ? ["yes"] : null)),
      ask: read("ask", (text) => (text ? [text] : null)), numbers: read("numbers", words),
    },
    uplink: read("uplink", asUplink),
    complaints,
  };
}

// Returns the settings of a JSON text; null if it is anything else.
function asSettings(text) {
  try {
    const found = JSON.parse(text), isPlain = (value) => ["number", "string", "boolean"].includes(typeof value);
    return found && typeof found === "object" && !Array.isArray(found) && Object.values(found).every(isPlain) ? found : null;
  } catch (error) {
    return null;
  }
}

// Returns the rate and the round trip of a text; null if it is anything else.
function asUplink(text) {
  const [, rate, rtt] = /^(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  return Number(rate) > 0 && Number(rtt) > 0 ? { rate: Number(rate), rtt: Number(rtt) } : null;
}

// Returns a complaint about words of a part of the address that name nothing; "" if all do.
export function unknownWords(key, words, known) {
  const unknown = (words ?? []).filter((word) => !known.includes(word));
  return unknown.length ? `${key}: nothing is called ${unknown.map(quoted).join(", ")} (allowed: ${known.join(", ")})` : "";
}
