// The table of items: filters act at once, keys select and move. Without it, buttons do the same.

import { word } from "./words.js";

const ARROWS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

function items() {
  const form = document.getElementById("moving");
  const boxes = [...form.querySelectorAll('input[name^="row-"]')];
  const pageAll = document.getElementById("page-all");
  const all = document.getElementById("all");
  const filter = document.getElementById("filter");
  for (const select of filter.querySelectorAll("select")) {
    select.addEventListener("change", () => filter.requestSubmit());
  }
  filter.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (!value) formData.delete(name);
  });
  if (!pageAll) return;

  const count = () => {
    const chosen = all?.checked ? Number(form.elements.n.value) : boxes.filter((b) => b.checked).length;
    document.getElementById("selected").textContent = chosen
      ? word("move_items", { n: chosen })
      : word("move");
    pageAll.checked = boxes.length > 0 && boxes.every((box) => box.checked);
  };
  const tickAll = (on) => {
    for (const box of boxes) box.checked = on;
    if (!on && all) all.checked = false;
    count();
  };
  let last = null; // the box that was ticked before: shift and a click tick all in between
  form.addEventListener("click", ({ target, shiftKey }) => {
    if (!boxes.includes(target)) return;
    if (shiftKey && last) {
      const ends = [boxes.indexOf(last), boxes.indexOf(target)].sort((a, b) => a - b);
      for (const box of boxes.slice(ends[0], ends[1] + 1)) box.checked = target.checked;
    }
    last = target;
    count();
  });
  pageAll.addEventListener("change", () => tickAll(pageAll.checked));
  all?.addEventListener("change", () => tickAll(all.checked));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
    const place = boxes.indexOf(document.activeElement);
    if (event.key in ARROWS && boxes.length) {
      event.preventDefault();
      const next = place < 0 ? 0 : place + ARROWS[event.key];
      boxes[Math.min(Math.max(next, 0), boxes.length - 1)].focus();
    } else if (event.key === "x" && place >= 0) {
      boxes[place].click();
    } else if (event.key === "a") {
      tickAll(!pageAll.checked);
    } else if (event.key === "/") {
      event.preventDefault();
      document.getElementById("q").focus();
    }
  });
  count();
}

// A line drawn around dots of the map leads to the table of all items inside it.
export function lasso(root) {
  const FEWEST = 4; // pixels of a movement that is no click
  const MOST = 60; // corners in an address
  let corners = null;
  let line = null;
  const at = (svg, event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      svg.getScreenCTM().inverse(),
    );
    return [Math.round(x), Math.round(y)];
  };
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("#lasso"); // for fingers, which scroll otherwise
    if (button) button.setAttribute("aria-pressed", document.body.classList.toggle("lasso"));
  });
  document.addEventListener("pointerdown", (event) => {
    const svg = event.target.closest?.("svg.scatter");
    const isOn = event.pointerType === "mouse" || document.body.classList.contains("lasso");
    if (!svg || event.button !== 0 || !isOn) return;
    event.preventDefault(); // dots are links: the browser would drag them
    corners = { svg, start: [event.clientX, event.clientY], points: [at(svg, event)] };
  });
  document.addEventListener("dragstart", (event) => {
    if (event.target.closest?.("svg.scatter")) event.preventDefault();
  });
  document.addEventListener("pointermove", (event) => {
    if (!corners) return;
    const far = Math.hypot(event.clientX - corners.start[0], event.clientY - corners.start[1]);
    if (!line && far < FEWEST) return;
    if (!line) {
      line = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
      line.setAttribute("class", "lasso");
      corners.svg.append(line);
    }
    corners.points.push(at(corners.svg, event));
    line.setAttribute("points", corners.points.join(" "));
  });
  document.addEventListener("pointerup", () => {
    const { points } = corners ?? {};
    if (line && points.length > 2) {
      const step = Math.ceil(points.length / MOST);
      const area = points.filter((_, place) => place % step === 0).join(" ");
      location.assign(`${root}/items?${new URLSearchParams({ area })}`);
      document.addEventListener("click", (event) => event.preventDefault(), { capture: true, once: true });
    }
    line?.remove();
    corners = line = null;
  });
  document.addEventListener("pointercancel", () => {
    line?.remove();
    corners = line = null;
  });
}

if (document.getElementById("filter")) items(); // before the page has loaded: no key is lost
