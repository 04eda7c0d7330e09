"use strict";
(function () {
  const root = document.documentElement;
  const button = document.querySelector("button.theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = document.getElementById("charts");
  let charts = {}, numbers = null;

  // A stored text: gzip, in base64.
  async function unpack(block) {
    const bytes = Uint8Array.from(atob(block.textContent), function (letter) { return letter.charCodeAt(0); });
    const stream = new DecompressionStream("gzip"), writer = stream.writable.getWriter();
    writer.write(bytes);
    writer.close();
    const reader = stream.readable.getReader(), decoder = new TextDecoder(), parts = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(decoder.decode(part.value, { stream: true }));
    }
    return parts.join("");
  }
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
  // Keys of a chart that has the focus. An axis of words or of logarithms has a range of plain numbers too.
  function moved(range, by) {
    const step = by * (range[1] - range[0]);
    return [range[0] + step, range[1] + step];
  }
  function scaled(range, by) {
    const middle = (range[0] + range[1]) / 2;
    return range.map(function (end) { return middle + by * (end - middle); });
  }
  function onKey(event) {
    const plot = event.currentTarget;
    const axes = plot._fullLayout;
    if (event.ctrlKey || event.altKey || event.metaKey || !axes || !axes.xaxis) { return; }
    const x = axes.xaxis.range, y = axes.yaxis.range;
    const views = {
      ArrowLeft: { "xaxis.range": moved(x, -0.15) }, ArrowRight: { "xaxis.range": moved(x, 0.15) },
      ArrowUp: { "yaxis.range": moved(y, 0.15) }, ArrowDown: { "yaxis.range": moved(y, -0.15) },
      "+": { "xaxis.range": scaled(x, 0.7), "yaxis.range": scaled(y, 0.7) },
      "-": { "xaxis.range": scaled(x, 1 / 0.7), "yaxis.range": scaled(y, 1 / 0.7) },
      Home: { "xaxis.autorange": true, "yaxis.autorange": true },
    };
    if (views[event.key]) {
      window.Plotly.relayout(plot, views[event.key]);
    } else if (/^[1-9]$/.test(event.key)) {
      toggle(plot, Number(event.key) - 1);
    } else {
      return;
    }
    event.preventDefault();
  }
  function toggle(plot, place) {
    const listed = plot.data.filter(function (trace) { return trace.showlegend !== false; });
    if (!listed[place]) { return; }
    const group = [];
    plot.data.forEach(function (trace, index) {
      if (trace === listed[place] || (trace.legendgroup && trace.legendgroup === listed[place].legendgroup)) {
        group.push(index);
      }
    });
    window.Plotly.restyle(plot, { visible: listed[place].visible === "legendonly" ? true : "legendonly" }, group);
  }
  // A chart in a closed part is drawn when the part is opened. Charts in sight are drawn first, one by one.
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const drawn = {};
  let waits = false;
  function look() { return [isDark(), root.dataset.paper].join(); }
  function waiting() {
    const found = [];
    for (const id of Object.keys(charts)) {
      const plot = document.getElementById(id);
      if (drawn[id] === look() || plot.closest("details:not([open])")) { continue; }
      const box = plot.getClientRects()[0];
      if (box) { found.push([Math.max(0, box.top - window.innerHeight, -box.bottom), id]); }
    }
    return found.sort(function (a, b) { return a[0] - b[0]; });
  }
  function draw(id) {
    const layout = paint(JSON.parse(JSON.stringify(charts[id].layout)));
    charts[id].data.forEach(function (trace) {
      if (trace.type === "bar" && trace.error_y) { trace.error_y.color = layout.font.color; }
    });
    window.Plotly.react(id, charts[id].data, layout, config);
    drawn[id] = look();
    const plot = document.getElementById(id);
    plot.onkeydown = onKey;
    // The label and the table below describe the picture.
    plot.querySelectorAll("svg.main-svg").forEach(function (svg) { svg.setAttribute("aria-hidden", "true"); });
  }
  function drawAll() {
    waiting().forEach(function (found) { draw(found[1]); });
    root.dataset.charts = "drawn";
  }
  function drawInTurn() {
    if (!waits && waiting().length) {
      waits = true;
      delete root.dataset.charts;
      next();
    }
  }
  function next() {
    const left = waiting();
    left.forEach(function (found, place) { if (found[0] === 0 || place === 0) { draw(found[1]); } });
    waits = left.length > 0;
    if (waits) { setTimeout(next, 0); } else { root.dataset.charts = "drawn"; }
  }
  async function showNumbers(part) {
    const place = part.querySelector(":scope > .numbers");
    if (!place || place.childElementCount) { return; }
    numbers = numbers || unpack(document.getElementById("numbers")).then(JSON.parse);
    place.innerHTML = (await numbers)[place.dataset.chart];
  }
  function openAround(target) {
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") { part.open = true; }
    }
  }
  function onHash() {
    let name = window.location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { return; }  // an address cut off within a character
    const target = document.getElementById(name);
    if (!target) { return; }
    const chapter = target.querySelector(":scope > details.chapter");
    openAround(chapter || target);
    target.scrollIntoView();
  }
  // Paper is light, and as wide as it is: charts are drawn for it, and again for the screen.
  let before, opened = [];
  function toPaper() {
    before = root.dataset.theme;
    opened = Array.from(document.querySelectorAll("details.chapter:not([open]), details.fold:not([open])"));
    opened.forEach(function (part) { part.open = true; });
    root.dataset.theme = "light";
    root.dataset.paper = "yes";
    drawAll();
  }
  function toScreen() {
    delete root.dataset.paper;
    opened.forEach(function (part) { part.open = false; });
    if (before) { root.dataset.theme = before; } else { delete root.dataset.theme; }
    drawAll();
  }
  function label() {
    button.textContent = isDark() ? "Light page" : "Dark page";
  }
  async function copy(event) {
    const one = event.currentTarget, words = one.textContent, source = one.parentElement.previousElementSibling;
    try {
      await navigator.clipboard.writeText(source.textContent);
      one.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(source);
      one.textContent = "Selected, copy with Ctrl+C";
    }
    setTimeout(function () { one.textContent = words; }, 1500);
  }
  document.querySelectorAll("button.copy").forEach(function (one) {
    one.hidden = false;
    one.addEventListener("click", copy);
  });
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
  document.addEventListener("toggle", function (event) {
    if (event.target.open) { showNumbers(event.target); drawInTurn(); }
  }, true);
  window.addEventListener("hashchange", onHash);
  window.addEventListener("beforeprint", toPaper);
  window.addEventListener("afterprint", toScreen);
  async function start() {
    if (stored && typeof DecompressionStream === "undefined") {
      document.getElementById("keys").textContent = "Charts need a browser of 2023 or later.";
    } else if (stored) {
      const [data, library] = await Promise.all([unpack(stored), unpack(document.getElementById("library"))]);
      const script = document.createElement("script");
      script.textContent = library;
      document.head.append(script);
      charts = JSON.parse(data);
    }
    drawInTurn();
    if (!waits) { root.dataset.charts = "drawn"; }
    onHash();
  }
  label();
  onHash();
  start();
})();
