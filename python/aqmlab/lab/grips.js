// Handles on the picture of the queue, by which the thresholds and max_p of a drop curve are dragged with mouse, pen or finger. The
// sliders do the same from the keyboard.

const REACH = 20;  // half the width of a handle, in pixels

export class Grips {
  // `moved(key, value, movement)` is called for every new value; `movement` is the same object from touch to release.
  constructor(home, view, moved) {
    Object.assign(this, { home, view, moved, held: null });
    view.placed = () => this.place();
  }

  // Puts two handles on each curve: min_th on the base line, max_th and max_p at its upper end.
  place() {
    const wanted = this.view.handles();
    const names = new Map([...this.home.querySelectorAll(".grip")].map((grip) => [grip.dataset.name, grip]));
    for (const { name, at: [x, y] } of wanted) {
      const grip = names.get(name) ?? this.made(name);
      names.delete(name);
      grip.style.left = `${x - REACH}px`;
      grip.style.top = `${y - REACH}px`;
    }
    for (const grip of names.values()) { if (grip !== this.held) { grip.remove(); } }
  }

  made(name) {
    const grip = document.createElement("div");
    grip.className = "grip";
    grip.dataset.name = name;
    grip.setAttribute("aria-hidden", "true");
    grip.addEventListener("pointerdown", (event) => this.take(grip, event));
    grip.addEventListener("pointermove", (event) => { if (this.held === grip) { this.drag(grip, event); } });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) { grip.addEventListener(end, () => this.release(grip)); }
    this.home.append(grip);
    return grip;
  }

  take(grip, event) {
    event.preventDefault();
    grip.setPointerCapture(event.pointerId);
    Object.assign(this, { held: grip, movement: {} });
    grip.classList.add("held");
    this.view.freeze(true);
  }

  drag(grip, event) {
    const box = this.home.getBoundingClientRect(), found = this.view.drag(grip.dataset.name, event.clientX - box.left, event.clientY - box.top);
    for (const [key, value] of Object.entries(found ?? {})) { this.moved(key, value, this.movement); }
  }

  release(grip) {
    if (this.held !== grip) { return; }
    this.held = null;
    grip.classList.remove("held");
    this.view.freeze(false);
  }
}
