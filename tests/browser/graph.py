"""What can be measured of the lineage graph on a page that is open."""

from __future__ import annotations

from typing import Any

from browser.driving import Page


def check_edges_meet_boxes(browser: Page) -> None:
    """Every edge starts at the bottom of its upper box, in its middle, and ends at the top of its lower one."""
    apart = browser.evaluate(
        """(() => {
          const svg = document.querySelector('#graph svg');
          const moved = /\\(([-\\d.]+),([-\\d.]+)\\)/;
          const place = (box) => box.getAttribute('transform').match(moved).slice(1).map(Number);
          const off = [];
          for (const edge of svg.querySelectorAll('.edge[data-route]')) {
            const fromBox = edge.dataset.box !== undefined;
            const upper = svg.querySelector(fromBox ? `g[data-box="${edge.dataset.box}"]`
                                                    : `g[data-joint="${edge.dataset.joint}"]`);
            const lower = svg.querySelector(fromBox ? `g[data-joint="${edge.dataset.below}"]`
                                                    : `g[data-box="${edge.dataset.below}"]`);
            const bottom = place(upper)[1] + Number(upper.querySelector('rect').getAttribute('height'));
            const [a, b] = [edge.getPointAtLength(0), edge.getPointAtLength(edge.getTotalLength())];
            const ends = [[a.x, place(upper)[0]], [a.y, bottom], [b.x, place(lower)[0]], [b.y, place(lower)[1]]];
            if (ends.some(([is, due]) => Math.abs(is - due) > 1)) off.push(ends);
          }
          return off;
        })()"""
    )
    assert apart == []


def edges_behind_boxes(browser: Page) -> list[Any]:
    """Edges that pass behind a box: where they go straight down, and where they turn, which is between layers."""
    found = browser.evaluate(
        """(() => {
          const svg = document.querySelector('#graph svg');
          const moved = /\\(([-\\d.]+),([-\\d.]+)\\)/;
          const boxes = [...svg.querySelectorAll('[data-layer]')].map(box => {
            const [x, y] = box.getAttribute('transform').match(moved).slice(1).map(Number);
            const rect = box.querySelector('rect');
            const [left, wide, high] = ['x', 'width', 'height'].map(name => Number(rect.getAttribute(name)));
            return { box, left: x + left + 2, right: x + left + wide - 2, top: y + 2, bottom: y + high - 2 };
          });
          const found = [];
          for (const edge of svg.querySelectorAll('[data-route]')) {
            let x, y;
            for (const [, kind, numbers] of edge.getAttribute('d').matchAll(/([MVC])([^MVC]*)/g)) {
              const values = numbers.split(/[ ,]/).map(Number);
              const [nextX, nextY] = kind === 'V' ? [x, values[0]] : values.slice(-2);
              if (kind !== 'M') {
                const xs = kind === 'V' ? [x, x] : [x, nextX, values[0], values[2]];
                const [left, right] = [Math.min(...xs), Math.max(...xs)];
                const hit = boxes.find(b => right > b.left && left < b.right && nextY > b.top && y < b.bottom);
                if (hit) found.push([edge.getAttribute('d'), hit.box.textContent.slice(0, 40)]);
              }
              [x, y] = [nextX, nextY];
            }
          }
          return found;
        })()"""
    )
    assert isinstance(found, list)
    return found


def overlapping(browser: Page, css: str) -> list[Any]:
    """Pairs of visible elements that cover each other, and by how much."""
    found = browser.evaluate(
        """((elements) => {
          const boxes = elements.map(e => [e.textContent, e.getBoundingClientRect()]).filter(([, b]) => b.width);
          const found = [];
          for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
            const [s, a] = boxes[i], [t, b] = boxes[j];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 1 && high > 2) found.push([s, t, wide, high]);
          }
          return found;
        })([...document.querySelectorAll(arguments[0])])""",
        css,
    )
    assert isinstance(found, list)
    return found


def outside_the_page(browser: Page) -> list[str]:
    """Visible elements that reach beyond the left or right edge, except what scrolls within a box of its own."""
    found = browser.evaluate(
        """(() => {
          const width = document.scrollingElement.clientWidth;
          const scrolls = (e) => e.closest('.canvas svg, .scroll table, pre, .skip') !== null;
          return [...document.body.querySelectorAll('*')]
            .map(e => [e, e.getBoundingClientRect()])
            .filter(([e, box]) => box.width && !scrolls(e) && (box.left < 0 || box.right > width))
            .map(([e, box]) => `${e.tagName}#${e.id} ${box.left} ${box.right}`);
        })()"""
    )
    assert isinstance(found, list)
    return found


def sideways(browser: Page, css: str) -> int:
    """By how many pixels the content of an element is wider than the element; of the page for ``html``."""
    return int(browser.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector(arguments[0]))", css))
