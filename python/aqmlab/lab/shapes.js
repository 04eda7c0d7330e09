// Shapes of markers and dashes of lines, as SVG and canvas draw them; their names are those of aqmlab.figures.marks.

const POLYGONS = {  // corners, turn of the first in degrees (0 is up), radius of every second corner
  square: [4, 45, 1], diamond: [4, 0, 1], "triangle-up": [3, 0, 1], "triangle-down": [3, 180, 1], "triangle-left": [3, 270, 1],
  "triangle-right": [3, 90, 1], pentagon: [5, 0, 1], hexagon: [6, 30, 1], star: [10, 0, 0.42], cross: [8, 45, 0.45], x: [8, 0, 0.45],
};
const DASHES = { solid: [], dash: [6, 3], dot: [1.5, 2.5], dashdot: [7, 3, 1.5, 3], longdash: [12, 4] };

// Returns the outline of a marker as a path of SVG.
export function outline(marker, x, y, radius) {
  if (!(marker in POLYGONS)) { return `M${x - radius},${y}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0Z`; }
  const [corners, turn, inner] = POLYGONS[marker];
  const points = Array.from({ length: corners }, (_, i) => {
    const angle = ((turn + (360 * i) / corners) * Math.PI) / 180, size = 1.2 * radius * (i % 2 ? inner : 1);
    return `${(x + size * Math.sin(angle)).toFixed(2)},${(y - size * Math.cos(angle)).toFixed(2)}`;
  });
  return `M${points.join("L")}Z`;
}

// Returns the lengths of a dash for canvas and SVG, at a scale.
export function dashOf(name, scale = 1) {
  return DASHES[name ?? "solid"].map((length) => length * scale);
}

// Returns the entry of a legend as an element of SVG: the line with its dash, and the marker.
export function sample({ paint, dash, marker, mode, onLine, faint }) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const add = (name, attributes) => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) { part.setAttribute(key, value); }
    made.append(part);
  };
  for (const [key, value] of Object.entries({ width: 30, height: 12, viewBox: "0 0 30 12", "aria-hidden": "true" })) { made.setAttribute(key, value); }
  if (mode !== "points") {
    add("line", { x1: 1, y1: 6, x2: 29, y2: 6, stroke: paint, "stroke-width": faint ? 1.2 : 2, "stroke-dasharray": dashOf(dash).join(" "), opacity: faint ? 0.6 : 1 });
  }
  if (mode === "points" || (onLine && !faint)) { add("path", { d: outline(marker ?? "circle", 15, 6, 4), fill: paint }); }
  return made;
}
