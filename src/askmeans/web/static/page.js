// What the pages do beyond forms and links: answering without reloading, keys, zoom. Everything
// works without it.
//
// Rules of this file:
// - The forms stay where they are; only #question is exchanged, and what it says is copied into them.
//   So focus is kept, and an answer always goes to the question that was on the screen.
// - Focus that was in what is exchanged, or in a form that is hidden with it, goes to the heading.
// - One answer is under way at a time. It is kept until it was confirmed, and sent again with the
//   same key where the server did not reply: twice the same is harmless.
// - What is pressed before a card could be read answers nothing, and the page says so.
// - A page that is open says so, and holds its question; one that is left says so, too, and others
//   may have it at once.

import { KEYS, ROOT, follow, legend, preview, shortcuts, sleep, unfold } from "./results.js";
import { LOCALE, word } from "./words.js";

const SETTLE = 250; // milliseconds in which nobody reads a question: a second click, a bouncing key
const AGAIN = 1000; // between two attempts to reach the server
const PASSING = [408, 429, 502, 503, 504]; // slow, too many, or a proxy whose server is started anew
const LOOK = 3000; // between two looks for something new
const BEAT = 25000; // between two words that this page is open (answering.py has how long they last)
const LONG = 500; // milliseconds from which a touch is a long one
const IDLE = 600000; // without a move or a key: whoever sat here is gone
const PENDING = "askmeans-pending";
const CHECK = "askmeans-check";

const DECIMALS = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
const ANSWERED = { answer: 1, undo: -1 };

const said = document.getElementById("said");
let busy = false;
let leaving = false; // somebody stopped while an answer was on its way

function shownQuestion() {
  return document.getElementById("question");
}

function say(text, failed) {
  said.textContent = text;
  said.classList.toggle("failed", Boolean(failed));
}

// What came while an answer was under way, or before anybody could read the card, was for no card.
function refuse() {
  document.getElementById("early").textContent = word("early");
}

// From when on a question may be answered.
function settle() {
  const shown = shownQuestion();
  setTimeout(() => (shown.dataset.ready = "1"), SETTLE);
}

function parse(html) {
  return new DOMParser().parseFromString(html, "text/html").getElementById("question");
}

// Copy what #question says into the forms: a browser may have kept other values over a reload.
function fill() {
  const { question, key, undoKey, shown, change, undoable } = shownQuestion().dataset;
  for (const form of document.querySelectorAll("form[data-answers]")) {
    form.hidden = !question;
    form.elements.question.value = question;
    form.elements.key.value = key;
    form.elements.shown.value = shown;
    form.elements.change.value = change;
  }
  const undo = document.getElementById("undo");
  undo.elements.key.value = undoKey;
  undo.querySelector("button").disabled = !undoable;
}

// Items that somebody checks from the results: how many are left. After the last, back to these.
function checking(done = 0) {
  const begun = Number(new URLSearchParams(location.search).get("check"));
  if (begun) sessionStorage.setItem(CHECK, JSON.stringify([begun, begun]));
  const [of, before] = JSON.parse(sessionStorage.getItem(CHECK) ?? "[0, 0]");
  const left = Math.min(before - done, of);
  const box = document.getElementById("checking");
  if (of) sessionStorage.setItem(CHECK, JSON.stringify([of, left]));
  if (of && left <= 0) {
    sessionStorage.removeItem(CHECK);
    location.assign(`${ROOT}/results`);
  }
  box.hidden = !of || left <= 0;
  box.textContent = word("checking", { number: of - left + 1, all: of });
  if (begun) history.replaceState(null, "", `${ROOT}/`);
}

// Put what the server sent in the place of #question.
function exchange(html) {
  const part = parse(html);
  if (!part) return false;
  const old = shownQuestion();
  const focused = document.activeElement;
  const within = old.contains(focused);
  unfold(old, part);
  old.replaceWith(part);
  fill();
  centre();
  const heading = part.querySelector("h1");
  if (within || (focused !== document.body && focused.offsetParent === null)) heading.focus();
  if (part.dataset.said) say(part.dataset.said, part.dataset.failed);
  document.getElementById("next").textContent = heading.textContent; // is read out
  if (!part.dataset.question && location.search) history.replaceState(null, "", `${ROOT}/`);
  settle();
  seek();
  watch();
  return true;
}

// The same rest as before: only the counts are new, so nothing is read out, and focus stays.
function renew(html) {
  const part = parse(html);
  if (!part || part.dataset.question || part.dataset.state !== shownQuestion().dataset.state) {
    return exchange(html);
  }
  for (const what of [".counts", ".holders"]) {
    shownQuestion().querySelector(what)?.replaceWith(part.querySelector(what));
  }
  watch();
  return true;
}

// Send a form until the server replies. The answer survives a reload of the page meanwhile.
async function send(action, body) {
  busy = true;
  document.getElementById("early").textContent = "";
  document.body.classList.add("busy");
  sessionStorage.setItem(PENDING, JSON.stringify([action, body]));
  for (;;) {
    let response;
    try {
      response = await fetch(action, {
        method: "POST",
        headers: {
          "Content-Type": "application/x-www-form-urlencoded",
          "X-Askmeans": "part",
        },
        body,
      });
    } catch {
      say(word("unreachable"), true);
      await sleep(AGAIN);
      continue;
    }
    if (PASSING.includes(response.status)) {
      say(word("busy"), true);
      await sleep(AGAIN);
      continue;
    }
    sessionStorage.removeItem(PENDING);
    const text = await response.text();
    if (exchange(text)) {
      if (response.ok) checking(ANSWERED[action.split("/").pop()]);
    } else {
      const plain = response.headers.get("Content-Type")?.startsWith("text/plain");
      say(plain ? text : word("no_answer"), true);
    }
    break;
  }
  busy = false;
  document.body.classList.remove("busy");
  if (leaving) document.getElementById("stop").requestSubmit();
}

function submit(event) {
  const form = event.target;
  if (form.id === "stop" && busy) {
    event.preventDefault();
    leaving = true; // once the answer is kept
  }
  if (!["answer", "finer", "fresh", "undo", "renaming"].includes(form.id)) return;
  event.preventDefault();
  if (busy || !shownQuestion().dataset.ready) return refuse();
  const body = new URLSearchParams(new FormData(form, event.submitter)).toString();
  for (const box of document.querySelectorAll("dialog[open]")) box.close();
  const stays = form.id === "undo" || form.id === "renaming";
  if (!stays && location.search) history.replaceState(null, "", `${ROOT}/`);
  send(form.getAttribute("action"), body);
}

// Two groups for one item: shift and a number, shift and a click, or a long touch picks each.
function picked() {
  return [...document.querySelectorAll(".choices [aria-pressed=true]")];
}

function pick(tile) {
  if (busy) return refuse();
  const chosen = tile.getAttribute("aria-pressed") === "true";
  if (chosen) tile.removeAttribute("aria-pressed");
  else tile.setAttribute("aria-pressed", "true");
  const both = picked();
  if (both.length === 2) mix(both);
  else say(both.length ? word("second_group", { group: both[0].dataset.name }) : "");
}

// The slider between two groups fills in the shares that the form sends.
function mix([first, second]) {
  const box = document.getElementById("mix");
  const slider = box.querySelector("input");
  const ends = box.querySelectorAll(".ends b");
  const tell = () => {
    const shares = [100 - Number(slider.value), Number(slider.value)];
    const parts = [first, second].map((tile, place) => {
      const share = word("percent", { n: shares[place] });
      return word("share", { share, group: tile.dataset.name });
    });
    slider.setAttribute("aria-valuetext", parts.join(", "));
    [first, second].forEach((tile, place) => {
      ends[place].textContent = parts[place];
      document.getElementById(tile.value.replace("group", "share")).value = shares[place];
    });
  };
  slider.value = 50;
  slider.oninput = tell;
  slider.onkeydown = (event) => {
    if (event.key !== "Enter" || event.repeat) return;
    event.preventDefault();
    box.querySelector("button.main").click();
  };
  box.onclose = () => {
    for (const tile of picked()) tile.removeAttribute("aria-pressed");
    for (const field of document.querySelectorAll(".portions [name]")) field.value = "";
    if (!busy) say("");
  };
  tell();
  box.showModal();
}

// A slider and a number for each group; together they are 100 % at most, so others give way.
function portion({ target }) {
  const item = target.closest(".portions li");
  if (!item) return;
  const field = (li) => li.querySelector("[name]");
  const show = (li, share) => {
    field(li).value = share || "";
    li.querySelector("[type=range]").value = share;
  };
  const share = Math.min(100, Math.max(0, Number(target.value)));
  const others = [...item.parentElement.children].filter((li) => li !== item);
  const sum = others.reduce((total, li) => total + Number(field(li).value), 0);
  if (sum + share > 100) {
    for (const li of others) show(li, Math.floor((Number(field(li).value) * (100 - share)) / sum));
  }
  if (target.type === "range") field(item).value = share || "";
  else item.querySelector("[type=range]").value = share;
}

// A click with shift, or after a long touch, picks; it does not answer.
function picking() {
  let timer = 0;
  let long = false;
  document.addEventListener("pointerdown", (event) => {
    long = false;
    const tile = event.target.closest(".choices button");
    if (!tile || event.pointerType === "mouse") return;
    timer = setTimeout(() => {
      long = true;
      pick(tile);
    }, LONG);
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => clearTimeout(timer));
  }
  document.addEventListener("contextmenu", (event) => {
    if (long && event.target.closest(".choices")) event.preventDefault();
  });
  document.addEventListener(
    "click",
    (event) => {
      const tile = event.target.closest(".choices button");
      if (!tile || !(long || event.shiftKey)) return;
      event.preventDefault();
      if (!long) pick(tile);
      long = false;
    },
    true,
  );
}

function press(event) {
  // A button that has the focus would be pressed again and again while Enter is held.
  if (event.repeat && event.key === "Enter") event.preventDefault();
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input:not([type=range]), textarea, select");
  if (typing || document.querySelector("dialog[open]")) return;
  if (event.key === "?") {
    event.preventDefault();
    document.getElementById("keys").showModal();
    return;
  }
  if (event.key === "/" && document.getElementById("seek")) {
    event.preventDefault();
    document.getElementById("seek").focus();
    return;
  }
  if (localStorage.getItem(KEYS) === "off") return;
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  if (event.shiftKey && digit && event.key !== digit) {
    const tile = document.querySelector(`.choices button[data-key="${digit}"]`);
    if (tile) pick(tile);
    return;
  }
  if (event.key === "Escape") for (const tile of picked()) pick(tile);
  const key = event.key.toLowerCase();
  const button = [...document.querySelectorAll("button[data-key], a[data-key]")].find(
    (candidate) => candidate.dataset.key === key && candidate.offsetParent !== null,
  );
  if (!button || button.disabled) return;
  event.preventDefault();
  if (button.form && button.type === "submit") button.form.requestSubmit(button);
  else button.click();
}

// What a button opens.
function opening(event) {
  const button = event.target.closest("[data-opens]");
  if (button) document.getElementById(button.dataset.opens).showModal();
  const link = event.target.closest("a[data-rename]");
  if (!link) return;
  event.preventDefault();
  const form = document.getElementById("renaming");
  form.elements.cluster.value = link.dataset.rename;
  form.elements.name.value = link.closest("li").querySelector("button").dataset.name;
  document.getElementById("rename").showModal();
  form.elements.name.select();
}

// Many groups are found by typing a part of their names; Enter takes the first.
function seek() {
  const field = document.getElementById("seek");
  if (!field) return;
  const tiles = [...document.querySelectorAll(".choices li")];
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const tile of tiles) tile.hidden = !tile.dataset.name.includes(wanted);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      field.dispatchEvent(new Event("input"));
      field.blur();
    }
    if (event.key !== "Enter" || event.repeat) return;
    event.preventDefault();
    const first = tiles.find((tile) => !tile.hidden);
    if (field.value.trim() && first) first.querySelector("button").click();
  });
}

// Look again by itself where there is nothing to answer now.
let watching = 0;
function watch() {
  clearTimeout(watching);
  if (shownQuestion().dataset.question) return;
  watching = setTimeout(async () => {
    let text = "";
    try {
      text = await (await fetch(`${ROOT}/`, { headers: { "X-Askmeans": "part" } })).text();
    } catch {
      // The server may come back: look again.
    }
    if (!text || busy || !renew(text)) watch();
  }, LOOK);
}

function zoom(event) {
  const link = event.target.closest("a[data-zoom]");
  const box = document.getElementById("zoom");
  if (!link || !box) return;
  event.preventDefault();
  const image = box.querySelector("img");
  image.src = link.href;
  image.alt = link.querySelector("img").alt;
  box.showModal();
}

// The slider begins in the middle for every question.
function centre() {
  const slider = document.getElementById("fine");
  if (!slider) return; // groups have none
  slider.value = slider.defaultValue;
  slider.dispatchEvent(new Event("input"));
}

// Who sits here, as the server wants to know it.
function seat() {
  return new URLSearchParams(new FormData(document.getElementById("stop")));
}

// Say now and then that the page is open, as long as somebody is there.
function stay() {
  let used = Date.now();
  for (const kind of ["pointermove", "pointerdown", "keydown", "scroll"]) {
    document.addEventListener(kind, () => (used = Date.now()), { capture: true, passive: true });
  }
  const beat = () => {
    if (!shownQuestion().dataset.question || Date.now() - used > IDLE) return;
    fetch(`${ROOT}/renew`, { method: "POST", body: seat() }).catch(() => {});
  };
  beat();
  setInterval(beat, BEAT);
}

// Say that the page is left: a beacon arrives though the page is gone.
function leave() {
  if (busy || !shownQuestion().dataset.question) return; // an answer on its way is for this question
  const told = seat();
  told.set("key", shownQuestion().dataset.key);
  navigator.sendBeacon(`${ROOT}/leave`, told);
}

// Keys may be turned off, for those whose words or hands press them unasked.
function choose() {
  const box = document.getElementById("use-keys");
  box.checked = localStorage.getItem(KEYS) !== "off";
  box.closest("p").hidden = false;
  box.addEventListener("change", () => localStorage.setItem(KEYS, box.checked ? "on" : "off"));
}

function answering() {
  document.addEventListener("submit", submit);
  document.addEventListener("keydown", press);
  // The second click of a double click is none.
  document.addEventListener(
    "click",
    (event) => {
      const button = event.detail > 1 && event.target.closest("button");
      if (!button) return;
      event.preventDefault();
      if (button.form && button.type === "submit") refuse();
    },
    true,
  );
  const slider = document.getElementById("fine");
  const output = document.querySelector("output[for=fine]");
  const tell = () => {
    output.textContent = Number(slider.value).toLocaleString(LOCALE, DECIMALS);
    slider.setAttribute("aria-valuetext", output.textContent);
  };
  if (slider) {
    slider.addEventListener("input", tell);
    tell();
  }
  document.addEventListener("click", opening);
  document.addEventListener("input", portion);
  picking();
  seek();
  fill();
  centre();
  choose();
  checking();
  settle();
  watch();
  stay();
  addEventListener("pagehide", leave);
  // A page that a browser kept and shows again has let its question go.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  const pending = sessionStorage.getItem(PENDING);
  if (pending) send(...JSON.parse(pending));
}

document.addEventListener("click", zoom);
if (shownQuestion()) answering();
if (document.getElementById("result")) {
  follow();
  legend();
  preview();
  import("./items.js").then(({ lasso }) => lasso(ROOT), () => {}); // the page was left
}
if (!shownQuestion()) document.addEventListener("keydown", shortcuts);
