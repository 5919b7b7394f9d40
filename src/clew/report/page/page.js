"use strict";
// The page shows one run beside the failure-free one.  Everything it can show is in the data; this script only
// chooses.  Text from the program always goes through textContent; the drawings were escaped when they were made.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const FEW_ROWS = 250, MANY_STEPS = 40;
  const state = { run: data.first, why: 0, graph: 0, showAll: false };
  const at = (id) => document.getElementById(id);

  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  const currentRun = () => data.runs[state.run];

  // ---- what happens -------------------------------------------------------------------------------------------

  function showRun() {
    const run = currentRun();
    at("faults").replaceChildren(...run.faults.map((fault, k) => {
      const item = element("li");
      item.append(element("span", k + 1, "number"), element("span", fault.words), element("code", fault.code));
      return item;
    }));
    at("faults").classList.toggle("many", run.faults.length > 6);
    const violated = at("violated");
    violated.replaceChildren();
    if (run.violated.length) {
      violated.append(element("b", "Violated: "), run.violated.join(", ") + ". " + run.meaning);
    } else {
      violated.append(run.meaning);
    }
    at("replay").textContent = run.replay;
    const alone = state.run === 0;
    document.querySelector(".pair").classList.toggle("single", alone);
    at("left").parentElement.hidden = alone;
    at("left").innerHTML = run.left || data.runs[0].right;
    at("right").innerHTML = run.right;
    at("left-title").textContent = "Failure-free run";
    at("right-title").textContent = run.name;
    for (const button of document.querySelectorAll("[data-run]")) {
      button.setAttribute("aria-pressed", Number(button.dataset.run) === state.run);
    }
  }

  // ---- why ----------------------------------------------------------------------------------------------------

  function chooser(container, labels, chosen, choose) {
    container.replaceChildren();
    if (labels.length < 2) return;
    labels.forEach((label, k) => {
      const button = element("button", label);
      button.type = "button";
      button.setAttribute("aria-pressed", k === chosen);
      button.addEventListener("click", () => {
        choose(k);
        container.children[k].focus();
      });
      container.append(button);
    });
  }

  function showWhy() {
    const section = at("why");
    if (!section) return;
    const whys = currentRun().whys;
    section.hidden = !whys.length;
    if (!whys.length) return;
    state.why = Math.min(state.why, whys.length - 1);
    const why = whys[state.why];
    at("why-lead").textContent = why.lead;
    chooser(at("why-rows"), whys.map((w) => w.row), state.why, (k) => { state.why = k; showWhy(); });
    at("supports").replaceChildren(...why.supports.map(supportRow));
    at("more-supports").textContent = why.more;
  }

  function supportRow(support) {
    const row = element("tr");
    const ways = element("td");
    support.needs.forEach(([text, cut]) => {
      const way = element(cut ? "del" : "span", text, text.length > 60 ? "way long" : "way");
      ways.append(way, " ");
    });
    const falsifier = element("td", undefined, "falsifier");
    support.falsifier.forEach(([code, kind], k) => {
      if (k) falsifier.append(" ∨ ");
      falsifier.append(element(kind === "happened" ? "b" : "span", code, kind));
    });
    row.append(ways, falsifier);
    return row;
  }

  // ---- lineage ------------------------------------------------------------------------------------------------

  const GOAL = 24, RULE = 18, GAP = 22, STEP = 15;  // as in the drawing

  function showGraph() {
    const section = at("lineage");
    if (!section) return;
    const graph = data.graphs[state.graph];
    chooser(at("graph-rows"), data.graphs.map((g) => g.row), state.graph, (k) => { state.graph = k; showGraph(); });
    const whole = at("whole").checked || !graph.focused;
    at("whole").parentElement.hidden = !graph.focused;
    at("graph").innerHTML = whole ? graph.whole : graph.focused;
    const marks = currentRun().marks[state.graph];
    const [cut, gone] = whole ? marks.whole : marks.focused;
    const survives = cut.length && !gone.includes(0)
      ? "The outcome still holds in the selected run; struck through is what the failure-free run rested on." : "";
    at("graph-note").textContent = [graph.note, survives].filter(Boolean).join(" ");
    const svg = at("graph").querySelector("svg");
    mark(svg, cut, gone);
    layOut(svg);
  }

  function mark(svg, cut, gone) {
    for (const number of cut) {
      svg.querySelector(`.firing[data-firing="${number}"]`).classList.add("cut");
      svg.querySelector(`.edge[data-goal][data-below="${number}"]`).classList.add("cut");
      svg.querySelector(`.strike[data-firing="${number}"]`).classList.add("cut");
    }
    for (const number of gone) svg.querySelector(`.goal[data-goal="${number}"]`).classList.add("gone");
  }

  // Open chains are taller: every layer below them moves down, and the edges follow.
  function layOut(svg) {
    const layers = Number(svg.dataset.layers);
    const extra = new Array(layers).fill(0);
    const own = new Map();
    for (const goal of svg.querySelectorAll(".goal.open")) {
      const taller = goal.querySelectorAll(".steps text").length * STEP + 4;
      own.set(goal.dataset.goal, taller);
      extra[goal.dataset.y] = Math.max(extra[goal.dataset.y], taller);
    }
    const tops = [];
    let y = 0;
    for (let layer = 0; layer < layers; layer++) {
      tops.push(y);
      y += (layer % 2 ? RULE : GOAL) + extra[layer] + GAP;
    }
    for (const box of svg.querySelectorAll("[data-y]")) {
      const x = box.getAttribute("transform").match(/translate\(([-\d.]+)/)[1];
      box.setAttribute("transform", `translate(${x},${tops[box.dataset.y]})`);
      if (box.classList.contains("goal")) {
        box.querySelector("rect").setAttribute("height", GOAL + (own.get(box.dataset.goal) || 0));
      }
    }
    const size = (layer) => (layer % 2 ? RULE : GOAL);
    for (const edge of svg.querySelectorAll(".edge")) {
      const points = edge.dataset.route.split(" ").map((p) => p.split(",").map(Number));
      let [x, layer] = points[0];
      let from = tops[layer] + size(layer) + (edge.dataset.goal ? own.get(edge.dataset.goal) || 0 : 0);
      let path = `M${x},${from}`;
      points.slice(1).forEach(([nextX, next], k) => {
        const top = tops[next], middle = (from + top) / 2;
        path += `C${x},${middle} ${nextX},${middle} ${nextX},${top}`;
        x = nextX;
        from = top;
        if (k < points.length - 2) {
          from += size(next) + extra[next];
          path += `V${from}`;
        }
      });
      edge.setAttribute("d", path);
      if (edge.classList.contains("message")) {
        const [upper, lower] = [points[0], points[1]];
        const start = tops[upper[1]] + size(upper[1]) + (own.get(edge.dataset.goal) || 0);
        svg.querySelector(`.strike[data-firing="${edge.dataset.below}"]`)
          .setAttribute("transform", `translate(${(upper[0] + lower[0]) / 2},${(start + tops[lower[1]]) / 2})`);
      }
    }
    const margin = 12, height = y - GAP + 2 * margin;
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${height}`);
  }

  function toggle(goal) {
    const svg = goal.closest("svg");
    if (goal.classList.contains("chain")) {
      const open = goal.classList.toggle("open");
      goal.setAttribute("aria-expanded", open);
      layOut(svg);
    } else if (goal.hasAttribute("aria-expanded")) {
      const folded = goal.classList.toggle("folded");
      goal.setAttribute("aria-expanded", !folded);
      fold(svg);
    }
  }

  // What can only be reached through folded goals is away.
  function fold(svg) {
    const below = { goal: new Map(), firing: new Map() };
    for (const edge of svg.querySelectorAll(".edge")) {
      const kind = edge.dataset.goal !== undefined ? "goal" : "firing";
      const key = edge.dataset[kind];
      if (!below[kind].has(key)) below[kind].set(key, []);
      below[kind].get(key).push(edge);
    }
    const folded = new Set([...svg.querySelectorAll(".goal.folded")].map((g) => g.dataset.goal));
    const seen = { goal: new Set(["0"]), firing: new Set() };
    const edges = new Set();
    const work = [["goal", "0"]];
    while (work.length) {
      const [kind, key] = work.pop();
      if (kind === "goal" && folded.has(key)) continue;
      const other = kind === "goal" ? "firing" : "goal";
      for (const edge of below[kind].get(key) || []) {
        edges.add(edge);
        if (!seen[other].has(edge.dataset.below)) {
          seen[other].add(edge.dataset.below);
          work.push([other, edge.dataset.below]);
        }
      }
    }
    for (const edge of svg.querySelectorAll(".edge")) edge.classList.toggle("away", !edges.has(edge));
    for (const box of svg.querySelectorAll(".goal")) box.classList.toggle("away", !seen.goal.has(box.dataset.goal));
    for (const box of svg.querySelectorAll(".firing, .strike[data-firing]")) {
      box.classList.toggle("away", !seen.firing.has(box.dataset.firing));
    }
  }

  function openChains(open) {
    const svg = at("graph").querySelector("svg");
    for (const goal of svg.querySelectorAll(".goal.chain")) {
      goal.classList.toggle("open", open);
      goal.setAttribute("aria-expanded", open);
    }
    for (const goal of svg.querySelectorAll(".goal.folded")) {
      goal.classList.remove("folded");
      goal.setAttribute("aria-expanded", true);
    }
    fold(svg);
    layOut(svg);
  }

  // ---- tables -------------------------------------------------------------------------------------------------

  const rows = data.rows.map(([relation, node, text, times]) => ({
    relation, node, text, base: parseTimes(times), haystack: `${relation}(${text})`.toLowerCase(),
  }));
  let present = [];  // for every row its times in the selected run

  function parseTimes(text) {
    const times = new Array(data.last).fill(false);
    for (const range of text ? text.split(",") : []) {
      const [first, last] = range.split("-").map(Number);
      for (let t = first; t <= (last || first); t++) times[t - 1] = true;
    }
    return times;
  }

  function timesText(times) {
    const ranges = [];
    for (let t = 0; t < times.length; t++) {
      if (!times[t]) continue;
      const first = t;
      while (t + 1 < times.length && times[t + 1]) t++;
      ranges.push(first === t ? `${t + 1}` : `${first + 1}–${t + 1}`);
    }
    return ranges.join(", ");
  }

  function takeRun() {
    const differences = currentRun().rows;
    present = rows.map((row, k) => (k in differences ? parseTimes(differences[k]) : row.base));
    for (let k = 0; k < rows.length; k++) rows[k].different = k in differences;
    const count = Object.keys(differences).length;
    at("tables-lead").textContent = state.run === 0
      ? "The rows of the failure-free run, by node and time."
      : `The failure-free run beside: ${currentRun().name}. ${count} of ${rows.length} rows differ.`;
  }

  function showTables() {
    const words = at("filter").value.toLowerCase().trim();
    const relation = at("by-relation").value, node = Number(at("by-node").value), time = Number(at("by-time").value);
    const onlyDifferent = at("only-different").checked;
    const found = [];
    rows.forEach((row, k) => {
      if (words && !row.haystack.includes(words)) return;
      if (relation && row.relation !== relation) return;
      if (node && row.node !== data.nodes[node - 1]) return;
      if (onlyDifferent && !row.different) return;
      if (time ? !(row.base[time - 1] || present[k][time - 1]) : !(row.base.includes(true) || present[k].includes(true))) return;
      found.push(k);
    });
    const shown = state.showAll ? found : found.slice(0, FEW_ROWS);
    at("rows").replaceChildren(...shown.map(tableRow));
    at("count").textContent = `${found.length} ${found.length === 1 ? "row" : "rows"}`
      + (shown.length < found.length ? `, the first ${shown.length} shown` : "") + (data.cutOff ? `; ${data.cutOff}` : "");
    at("show-all").hidden = shown.length === found.length;
    at("show-all").textContent = `Show all ${found.length} rows`;
  }

  function tableRow(k) {
    const row = rows[k], now = present[k];
    const line = element("tr", undefined, row.different ? "different" : "");
    const times = element("td");
    const strip = element("span", undefined, "strip");
    strip.setAttribute("aria-hidden", "true");
    const kind = (t) => "cell" + (row.base[t] ? (now[t] ? " both" : " lacking") : now[t] ? " extra" : "");
    for (let t = 0; t < data.last; t++) {
      const cell = element("i", undefined, kind(t));
      const first = t;
      while (data.last > MANY_STEPS && t + 1 < data.last && kind(t + 1) === kind(t)) t++;
      if (data.last > MANY_STEPS) cell.style.width = `${4 * (t - first + 1)}px`;
      strip.append(cell);
    }
    times.append(strip, timesText(now) || "never");
    const difference = row.different ? `failure-free: ${timesText(row.base) || "never"}` : "";
    line.append(element("td", row.relation), element("td", row.node === null ? "" : data.names[data.nodes.indexOf(row.node)]), element("td", row.text), times, element("td", difference));
    return line;
  }

  function options(select, all, values, labels = values) {
    const first = element("option", all);
    first.value = "";
    select.replaceChildren(first, ...values.map((value, k) => {
      const option = element("option", labels[k]);
      option.value = value;
      return option;
    }));
  }

  // ---- start --------------------------------------------------------------------------------------------------

  function select(run) {
    state.run = run;
    showRun();
    showWhy();
    showGraph();
    takeRun();
    showTables();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-run]");
    if (button) {
      select(Number(button.dataset.run));
      if (button.classList.contains("open")) {
        at("happens").scrollIntoView();
        at("right").focus({ preventScroll: true });
      }
    }
  });
  if (at("lineage")) {
    at("graph").addEventListener("click", (event) => {
      const goal = event.target.closest(".goal");
      if (goal) toggle(goal);
    });
    at("graph").addEventListener("keydown", (event) => {
      const goal = event.target.closest(".goal");
      if (goal && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        toggle(goal);
      }
    });
    at("whole").addEventListener("change", showGraph);
    at("open-all").addEventListener("click", () => openChains(true));
    at("close-all").addEventListener("click", () => openChains(false));
    at("lineage").hidden = false;
  }
  at("happens").hidden = false;
  at("tables").hidden = false;
  options(at("by-relation"), "all", [...new Set(data.rows.map((r) => r[0]))]);
  options(at("by-node"), "all", data.nodes.map((_, k) => k + 1), data.names);  // by number: 1 and "1" are two nodes
  options(at("by-time"), "all", Array.from({ length: data.last }, (_, t) => t + 1));
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["filter", "by-relation", "by-node", "by-time", "only-different"]) {
    at(id).addEventListener("input", () => { state.showAll = false; showTables(); });
  }
  at("show-all").addEventListener("click", () => { state.showAll = true; showTables(); });
  select(data.first);
})();
