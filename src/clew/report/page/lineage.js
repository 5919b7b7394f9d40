"use strict";
// What a reader does with the drawing of a lineage: open boxes, fold what lies below them, see what faults cut.  How the
// elements say what they are is told in lineage_svg.py.
const lineage = (() => {
  const GAP = 22, STEP = 15, MARGIN = 12;  // as in the drawing

  function mark(svg, marks) {
    const add = (numbers, kind, selector) => {
      for (const number of numbers) {
        for (const found of svg.querySelectorAll(selector(number))) found.classList.add(kind);
      }
    };
    add(marks.cut, "cut", (n) => `[data-firing="${n}"], [data-into="${n}"]`);
    add(marks.gone, "gone", (n) => `[data-goal="${n}"], [data-elsewhere="${n}"]`);
    add(marks.boxes, "gone", (n) => `g[data-box="${n}"]`);
    add(marks.joints, "touched", (n) => `.through[data-joint="${n}"]`);
    add(marks.joints, "cut", (n) => `.message[data-joint="${n}"], .message[data-box][data-below="${n}"], .strike[data-joint="${n}"]`);
  }

  const numbers = (text) => text.split(" ").map(Number);

  // Remember how wide the drawing is while nothing is open.
  function begin(svg) {
    svg.dataset.wide = svg.getAttribute("width");
    layOut(svg);
  }

  // Open boxes are larger: what is beside them makes room, every layer below moves down, and the edges follow.
  function layOut(svg) {
    const boxes = [...svg.querySelectorAll("[data-layer]")].map((element) => {
      const [width, height] = numbers(element.dataset.size);
      const box = { element, x: Number(element.dataset.x), layer: Number(element.dataset.layer), width, height };
      [box.wider, box.higher] = openedBy(element, width, height);
      return box;
    });
    const edges = [...svg.querySelectorAll("[data-route]")].map((element) => ({
      element, points: element.dataset.route.split(" ").map((point) => point.split(",").map(Number)),
    }));
    const heights = numbers(svg.dataset.heights);
    for (const box of boxes) heights[box.layer] = Math.max(heights[box.layer], box.height + box.higher);
    const tops = [];
    let y = 0;
    for (const height of heights) { tops.push(y); y += height + GAP; }
    const [place, width] = widened(boxes, edges, Number(svg.dataset.wide) - 2 * MARGIN);
    for (const box of boxes) {
      box.element.setAttribute("transform", `translate(${place(box.x, box.layer)},${tops[box.layer]})`);
      const rect = box.element.querySelector("rect");
      rect.setAttribute("height", box.height + box.higher);
      rect.setAttribute("width", box.width + box.wider);
      rect.setAttribute("x", -(box.width + box.wider) / 2);
    }
    const bottoms = new Map(boxes.map((box) => [idOf(box.element), tops[box.layer] + box.height + box.higher]));
    for (const { element, points } of edges) {
      const route = points.map(([x, layer]) => [place(x, layer), layer]);
      drawEdge(svg, element, route, bottoms.get(idOf(element)), tops, heights);
    }
    const height = y - GAP + 2 * MARGIN;
    svg.setAttribute("width", width + 2 * MARGIN);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width + 2 * MARGIN} ${height}`);
  }

  const idOf = ({ dataset }) => (dataset.box !== undefined ? `box ${dataset.box}` : `joint ${dataset.joint}`);

  function openedBy(element, width, height) {
    if (!element.classList.contains("open")) return [0, 0];
    if (!element.dataset.opened) return [0, element.querySelectorAll(".steps text").length * STEP + 4];
    const [opened, taller] = numbers(element.dataset.opened);
    return [Math.max(0, opened - width), taller - height];
  }

  // Where a point of a layer goes, and how wide the drawing gets.  Only layers with an open box change: it pushes what
  // is beside it away, to both sides, and the layer slides back into the drawing if it has room there.
  function widened(boxes, edges, room) {
    const layers = new Map();
    for (const box of boxes) {
      if (!box.wider) continue;
      if (!layers.has(box.layer)) layers.set(box.layer, { opened: [], slide: 0 });
      layers.get(box.layer).opened.push(box);
    }
    const place = (x, layer) => {
      const { opened, slide } = layers.get(layer) || { opened: [], slide: 0 };
      return opened.reduce((at, box) => at + Math.sign(x - box.x) * box.wider / 2, x + slide);
    };
    let left = 0, right = room;
    for (const [layer, changed] of layers) {
      const reach = boxes.filter((box) => box.layer === layer).map((box) => [box.x, (box.width + box.wider) / 2]);
      for (const { points } of edges) reach.push(...points.filter((p) => p[1] === layer).map(([x]) => [x, 0]));
      const start = Math.min(...reach.map(([x, half]) => place(x, layer) - half));
      const end = Math.max(...reach.map(([x, half]) => place(x, layer) + half));
      if (start < 0) changed.slide = Math.min(-start, Math.max(0, room - end));
      if (end > room) changed.slide = -Math.min(end - room, Math.max(0, start));
      left = Math.min(left, start + changed.slide);
      right = Math.max(right, end + changed.slide);
    }
    return [(x, layer) => place(x, layer) - left, right - left];
  }

  function drawEdge(svg, edge, points, bottom, tops, heights) {
    // Straight down past what is higher in its layer: an edge must not pass behind a box.
    const [[start, layer]] = points, past = tops[layer] + heights[layer];
    let x = start, from = past;
    let path = `M${x},${bottom}V${past}`;
    points.slice(1).forEach(([nextX, next], k) => {
      const top = tops[next], middle = (from + top) / 2;
      path += `C${x},${middle} ${nextX},${middle} ${nextX},${top}`;
      x = nextX;
      from = top;
      if (k < points.length - 2) {
        from += heights[next];
        path += `V${from}`;
      }
    });
    edge.setAttribute("d", path);
    if (!edge.classList.contains("message")) return;
    const [upper, lower] = points;
    svg.querySelector(`.strike[data-joint="${edge.dataset.below}"]`)
      .setAttribute("transform", `translate(${(upper[0] + lower[0]) / 2},${(past + tops[lower[1]]) / 2})`);
  }

  const OPENS = ".chain, .bundle";

  function toggle(box) {
    const svg = box.closest("svg");
    if (box.matches(OPENS)) {
      const open = box.classList.toggle("open");
      box.setAttribute("aria-expanded", open);
      layOut(svg);
    } else {
      const folded = box.classList.toggle("folded");
      box.setAttribute("aria-expanded", !folded);
      fold(svg);
    }
  }

  // What can only be reached through folded boxes is away.
  function fold(svg) {
    const edges = [...svg.querySelectorAll("[data-route]")];
    const below = new Map();
    for (const edge of edges) {
      const id = idOf(edge);
      if (!below.has(id)) below.set(id, []);
      below.get(id).push(edge);
    }
    const folded = new Set([...svg.querySelectorAll(".folded")].map(idOf));
    const seen = new Set(["box 0"]), passed = new Set();
    const work = ["box 0"];
    while (work.length) {
      const id = work.pop();
      if (folded.has(id)) continue;
      for (const edge of below.get(id) || []) {
        passed.add(edge);
        const lower = `${id.startsWith("box") ? "joint" : "box"} ${edge.dataset.below}`;
        if (!seen.has(lower)) {
          seen.add(lower);
          work.push(lower);
        }
      }
    }
    for (const edge of edges) edge.classList.toggle("away", !passed.has(edge));
    for (const part of svg.querySelectorAll("[data-layer], .strike[data-joint]")) {
      part.classList.toggle("away", !seen.has(idOf(part)));
    }
  }

  function openAll(svg, open) {
    for (const box of svg.querySelectorAll(OPENS)) {
      box.classList.toggle("open", open);
      box.setAttribute("aria-expanded", open);
    }
    for (const box of svg.querySelectorAll(".folded")) {
      box.classList.remove("folded");
      box.setAttribute("aria-expanded", true);
    }
    fold(svg);
    layOut(svg);
  }

  return { mark, begin, toggle, openAll };
})();
