// What the results do beyond links and forms: they follow the answers, tell what a dot is, and take keys.

import { word } from "./words.js";

export const KEYS = "askmeans-keys"; // "off" where somebody does not want keys to answer
export const ROOT = document.documentElement.dataset.root ?? ""; // where the session is served
const LOOK = 3000; // milliseconds between two looks for something new

export function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

// What somebody unfolded stays unfolded.
export function unfold(old, part) {
  const open = new Set([...old.querySelectorAll("details[open]")].map((each) => each.className));
  for (const each of part.querySelectorAll("details")) each.open = open.has(each.className);
}

// Exchange the results when there are newer ones.
export async function follow() {
  for (;;) {
    await sleep(LOOK);
    const old = document.getElementById("result");
    if (document.hidden || old.contains(document.activeElement)) continue;
    try {
      const tag = old.dataset.tag;
      const response = await fetch(`${ROOT}/results/part`, {
        headers: tag ? { "If-None-Match": tag } : {},
        cache: "no-store",
      });
      if (response.status !== 200) continue;
      const part = new DOMParser()
        .parseFromString(await response.text(), "text/html")
        .getElementById("result");
      unfold(old, part);
      old.replaceWith(part);
      document.getElementById("preview").hidden = true;
      document.getElementById("renewed").textContent = word("renewed");
    } catch {
      // The server may come back: look again.
    }
  }
}

// What a dot of the map is, beside the pointer.
export function preview() {
  const box = document.getElementById("preview");
  const image = box.querySelector("img");
  document.addEventListener("pointerover", (event) => {
    const link = event.target.closest?.(".scatter a");
    box.hidden = !link;
    if (!link) return;
    const title = link.querySelector("title");
    if (title) {
      link.setAttribute("aria-label", title.textContent);
      title.remove(); // else the browser tells it, too
    }
    box.querySelector("p").textContent = link.getAttribute("aria-label");
    image.hidden = !link.dataset.image;
    if (link.dataset.image) image.src = `${ROOT}/image/${link.dataset.row}?small=true`;
    const at = link.getBoundingClientRect();
    const left = Math.min(at.right + 8, innerWidth - box.offsetWidth - 8);
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${Math.max(8, Math.min(at.top, innerHeight - box.offsetHeight - 8))}px`;
  });
}

// A name in the legend shows its group's items alone; a second time all.
export function legend() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".legend [data-only]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const was = link.getAttribute("aria-current");
    for (const each of link.closest("ul").querySelectorAll("a")) each.removeAttribute("aria-current");
    if (!was) link.setAttribute("aria-current", "true");
    for (const each of link.closest("figure").querySelectorAll("svg [data-group]")) {
      each.classList.toggle("faint", !was && each.dataset.group !== link.dataset.only);
    }
  });
}

// Keys of other pages: buttons and links that say so.
export function shortcuts(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return; // it is pressed itself
  if (localStorage.getItem(KEYS) === "off") return;
  document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`)?.click();
}
