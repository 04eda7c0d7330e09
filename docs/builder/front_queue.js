// The queue on the site's first page: a recording that is part of the site, played again and again.

const canvas = document.getElementById("front-queue"), button = document.getElementById("front-pause");
if (canvas) {
  const view = new QueueView(canvas, document.getElementById("front-words"), () => view.rewind());
  const label = () => { button.textContent = view.isPlaying ? "Pause" : "Play"; };
  view.show({ ...RECORDED, palette: PALETTE, lanes: RECORDED.lanes.map(({ events, ...lane }) => ({ ...lane, ...recording(events, RECORDED.from_s) })) });
  button.hidden = false;
  button.addEventListener("click", () => { if (view.isPlaying) { view.pause(); } else { view.play(RECORDED.pace); } label(); });
  if (!view.calm) { view.play(RECORDED.pace); document.getElementById("front-words").textContent = ""; }
  label();
}
