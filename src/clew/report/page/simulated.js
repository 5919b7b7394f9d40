"use strict";
// One event at a time beside the diagram.  Everything is on the page already, as a list; this script only chooses.
(() => {
  const at = (id) => document.getElementById(id);
  const told = [...document.querySelectorAll(".event-told")];
  if (!told.length) return;
  const numbers = told.map((item) => item.dataset.event);
  const diagram = at("diagram");
  const section = at("run");
  let current = -1;

  // All that an event rests on, directly or not.
  function past(number) {
    const found = new Set();
    const work = [number];
    while (work.length) {
      const next = work.pop();
      const item = at(`e${next}`);
      if (found.has(next) || !item) continue;
      found.add(next);
      work.push(...item.dataset.depends.split(" ").filter(Boolean));
    }
    return found;
  }

  function select(place, { scroll = true, remember = true } = {}) {
    current = Math.max(0, Math.min(told.length - 1, place));
    const number = numbers[current];
    const before = past(number);
    told.forEach((item, k) => item.classList.toggle("selected", k === current));
    for (const part of diagram.querySelectorAll("[data-event]")) {
      part.classList.toggle("selected", part.dataset.event === number);
      part.classList.toggle("past", before.has(part.dataset.event));
    }
    at("where").textContent = `${current + 1} of ${told.length}`;
    at("previous").disabled = current === 0;
    at("next").disabled = current === told.length - 1;
    const pill = diagram.querySelector(`.event[data-event="${number}"]`);
    // One pill is in the tab order: a thousand would be a long way to the panel.
    for (const other of diagram.querySelectorAll("a.event")) other.setAttribute("tabindex", other === pill ? 0 : -1);
    if (pill && diagram.contains(document.activeElement)) pill.focus({ preventScroll: true });
    if (scroll && pill) pill.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (scroll && at("all").checked) told[current].scrollIntoView({ block: "nearest" });
    if (remember) history.replaceState(null, "", `#e${number}`);
  }

  function fromHash() {
    return numbers.indexOf(location.hash.replace(/^#e/, ""));
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#e'], #diagram [data-event]");
    if (!link) return;
    const number = link.dataset.event || link.getAttribute("href").slice(2);
    const place = numbers.indexOf(number);
    if (place < 0) return;
    event.preventDefault();
    select(place, { scroll: !diagram.contains(link) });
  });

  // Left and right anywhere; up, down, Home and End only where they do not scroll the page.
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const inside = diagram.contains(document.activeElement);
    const anywhere = { ArrowLeft: current - 1, ArrowRight: current + 1 };
    const there = { ArrowUp: current - 1, ArrowDown: current + 1, Home: 0, End: told.length - 1 };
    const place = event.key in anywhere ? anywhere[event.key] : inside ? there[event.key] : undefined;
    if (place === undefined) return;
    event.preventDefault();
    select(place);
  });

  at("previous").addEventListener("click", () => select(current - 1));
  at("next").addEventListener("click", () => select(current + 1));
  at("all").addEventListener("change", () => {
    section.classList.toggle("one-at-a-time", !at("all").checked);
    select(current);
  });
  at("fade").addEventListener("change", () => section.classList.toggle("faded", at("fade").checked));
  addEventListener("hashchange", () => {
    if (fromHash() >= 0) select(fromHash());
  });

  document.querySelector(".steps-bar").hidden = false;
  section.classList.add("one-at-a-time");
  const first = fromHash();
  select(first >= 0 ? first : told.length - 1, { scroll: first >= 0, remember: false });
})();
