// Undo and redo of settings. The changes of one movement that follow each other quickly are one step.

const PAUSE_MS = 1000, MOST = 200;

export class SettingsHistory {
  constructor() {
    Object.assign(this, { past: [], future: [], movement: null, at: -Infinity });
  }

  // Notes the settings before a change; `movement` is the key of the control that makes it, or the object of a handle's movement.
  note(settings, movement, now = performance.now()) {
    const isSame = movement === this.movement && (typeof movement === "object" || now - this.at < PAUSE_MS);
    Object.assign(this, { movement, at: now });
    if (isSame) { return; }
    this.past.push({ ...settings });
    if (this.past.length > MOST) { this.past.shift(); }
    this.future = [];
  }

  // Return the settings before the last change, or after the last undo; null if there are none.
  undo(settings) { return this.move(this.past, this.future, settings); }
  redo(settings) { return this.move(this.future, this.past, settings); }

  move(from, to, settings) {
    if (!from.length) { return null; }
    to.push({ ...settings });
    this.at = -Infinity;
    return from.pop();
  }

  clear() {
    Object.assign(this, { past: [], future: [], at: -Infinity });
  }
}
