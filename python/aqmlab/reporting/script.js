"use strict";
(function () {
  const root = document.documentElement;
  const button = document.querySelector("button.theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const charts = JSON.parse(document.getElementById("charts").textContent);

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }
  function remembered() {
    try { return window.localStorage.getItem("aqmlab-theme"); } catch (error) { return null; }
  }
  function remember(theme) {
    try { window.localStorage.setItem("aqmlab-theme", theme); } catch (error) { /* a page from a file may not */ }
  }
  function paint(layout) {
    const style = getComputedStyle(root);
    const ink = style.getPropertyValue("--ink").trim();
    const line = style.getPropertyValue("--line").trim();
    const card = style.getPropertyValue("--card").trim();
    layout.font = Object.assign({}, layout.font, { color: ink });
    const soft = style.getPropertyValue("--soft").trim();
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: ink };
    layout.hoverlabel = { bgcolor: card, bordercolor: line, font: { color: ink } };
    for (const key of Object.keys(layout)) {
      if (/^[xy]axis\d*$/.test(key)) {
        Object.assign(layout[key], { gridcolor: line, linecolor: line, tickcolor: line, zerolinecolor: line });
      }
    }
    return layout;
  }
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  function drawAll() {
    for (const [id, chart] of Object.entries(charts)) {
      const layout = paint(JSON.parse(JSON.stringify(chart.layout)));
      window.Plotly.react(id, chart.data, layout, config);
    }
    root.dataset.charts = "drawn";
  }
  function label() {
    button.textContent = isDark() ? "Light page" : "Dark page";
  }
  const theme = remembered();
  if (theme === "dark" || theme === "light") { root.dataset.theme = theme; }
  button.hidden = false;
  button.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    label();
    drawAll();
  });
  system.addEventListener("change", function () { label(); drawAll(); });
  label();
  drawAll();
})();
