// The drop curve above the picture of a queue: the average from right to left on the queue's own scale, the probability upwards.

export const CURVE = 116;  // pixels of a lane that its curve takes
const ROOM = 28, GAP = 16;  // above the largest probability and below the base line

// Returns the pixels of the base line and of the largest probability.
const ends = ({ y }) => [y - GAP, y - CURVE + ROOM - 12];

// Returns the place of an average and a probability, in pixels.
export function toPlace(box, { top }, packets, p) {
  const [low, high] = ends(box);
  return [box.head - packets * box.cell, low - (Math.min(p, top) / top) * (low - high)];
}

// Returns the average in whole packets and the probability at a place.
export function fromPlace(box, { top }, x, y) {
  const [low, high] = ends(box), p = Math.min(Math.max(((low - y) / (low - high)) * top, 0.001), Math.min(top, 1));
  return [Math.round((box.head - x) / box.cell), Number(p.toPrecision(2))];
}

export function drawCurve(g, box, { curve, average }, colors) {
  const [low, high] = ends(box), line = ([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y));
  g.strokeStyle = colors.soft;
  g.beginPath();
  [[box.left, low], [box.head, low]].forEach(line);
  g.stroke();
  g.strokeStyle = colors.accent;
  g.lineWidth = 2;
  g.beginPath();
  curve.x.map((x, i) => toPlace(box, curve, x, curve.p[i] ?? 0)).filter(([x]) => x >= box.left).forEach(line);
  g.stroke();
  g.lineWidth = 1;
  g.fillStyle = colors.ink;
  const words = `drop probability, up to ${Number(curve.values.max_p.toPrecision(2))} at max_th`;
  g.fillText(words, box.head - g.measureText(words).width, high - 10);
  if (average === null) { return; }
  const place = curve.x.findIndex((x) => x >= average), [x, y] = toPlace(box, curve, average, place < 0 ? 1 : curve.p[place]);
  g.fillStyle = colors.accent;
  g.beginPath();
  g.arc(x, y, 4, 0, 2 * Math.PI);
  g.fill();
}
