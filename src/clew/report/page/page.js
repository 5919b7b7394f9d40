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
    at("together").replaceChildren(...run.together.map((line) => element("li", line)));
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
    at("without-part").hidden = !why.without.length;
    at("without").replaceChildren(...why.without.map(withoutItem));
    at("arose-part").hidden = !why.arose.length;
    at("arose").replaceChildren(...why.arose.map(arisingRow));
    at("h-supports").hidden = at("supports").closest("div").hidden = !why.supports.length;
    at("support-lead").textContent = why.kept;
    at("supports").replaceChildren(...why.supports.map(supportRow));
    at("more-supports").textContent = why.more;
  }

  function withoutItem([fault, steps, outcome]) {
    const item = element("li");
    item.append(element("b", fault + ": "));
    steps.forEach((step, k) => {
      item.append(element("span", step + (k < steps.length - 1 ? "," : ":"), step.length > 60 ? "way long" : "way"), " ");
    });
    item.append(element("span", outcome, "outcome"));
    return item;
  }

  function arisingRow([time, events]) {
    const row = element("tr"), head = element("th", time);
    head.scope = "row";
    row.append(head, element("td", events.join("; ")));
    return row;
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

  function showGraph() {
    const section = at("lineage");
    if (!section) return;
    const graph = data.graphs[state.graph];
    chooser(at("graph-rows"), data.graphs.map((g) => g.row), state.graph, (k) => { state.graph = k; showGraph(); });
    const whole = at("whole").checked || !graph.focused;
    at("whole").parentElement.hidden = !graph.focused;
    at("graph").innerHTML = whole ? graph.whole : graph.focused;
    const both = currentRun().marks[state.graph];
    const marks = whole ? both.whole : both.focused;
    const survives = marks.cut.length && !marks.gone.includes(0)
      ? "The outcome still holds in the selected run; struck through is what the failure-free run rested on." : "";
    at("graph-note").textContent = [graph.note, survives].filter(Boolean).join(" ");
    const svg = at("graph").querySelector("svg");
    lineage.mark(svg, marks);
    lineage.begin(svg);
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
      const box = event.target.closest("[role=button]");
      // A click on what an open box shows is not meant for the box.
      if (box && !event.target.closest(".inside")) lineage.toggle(box);
    });
    at("graph").addEventListener("keydown", (event) => {
      const box = event.target.closest("[role=button]");
      if (box && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        lineage.toggle(box);
      }
    });
    at("whole").addEventListener("change", showGraph);
    at("open-all").addEventListener("click", () => lineage.openAll(at("graph").querySelector("svg"), true));
    at("close-all").addEventListener("click", () => lineage.openAll(at("graph").querySelector("svg"), false));
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
