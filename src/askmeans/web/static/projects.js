// New projects: a file is sent as soon as it is chosen or dropped, rows for groups grow as they are
// filled in, and a page that waits looks again. Everything works without it.

import { LOCALE, word } from "./words.js";

const LOOK = 700; // milliseconds between two looks at what is being done

// Send a form with a file, and show how much of it has arrived.
function send(form) {
  const said = document.getElementById("said");
  const sent = document.getElementById("sent");
  const request = new XMLHttpRequest();
  const file = form.elements.file.files[0];
  const show = (sending) => {
    document.getElementById("drop").hidden = sending;
    sent.hidden = !sending;
  };
  const refuse = (text) => {
    show(false);
    form.reset();
    const place = said ?? Object.assign(document.createElement("p"), { id: "said" });
    place.className = "failed trouble";
    place.role = "alert";
    place.hidden = false;
    place.textContent = text;
    if (!said) form.before(place);
  };
  sent.querySelector("span").textContent = word("sending", { file: file.name });
  show(true);
  request.upload.onprogress = (event) => {
    if (event.lengthComputable) sent.querySelector("progress").value = event.loaded / event.total;
  };
  request.onload = () => {
    const plain = request.getResponseHeader("Content-Type")?.startsWith("text/plain");
    if (plain) refuse(request.responseText);
    else location.assign(request.responseURL); // also where it was read and refused by then
  };
  request.onerror = () => refuse(word("not_arrived"));
  request.open("POST", form.getAttribute("action"));
  request.setRequestHeader("X-Askmeans", "part");
  request.send(new FormData(form));
}

function sending(form) {
  const field = form.elements.file;
  const drop = document.getElementById("drop");
  document.body.classList.add("scripted");
  field.addEventListener("change", () => field.files.length && send(form));
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragenter" || kind === "dragover");
    });
  }
  drop.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    send(form);
  });
}

// Where something is being done, look again until it is done.
async function look() {
  try {
    const response = await fetch(location.href);
    const text = await response.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const part = page.getElementById("making");
    if (!part) return location.replace(response.url);
    const stage = part.querySelector("strong").textContent;
    const shown = document.querySelector("#making strong");
    if (shown.textContent !== stage) document.getElementById("making").replaceWith(part);
    else document.getElementById("share").replaceWith(page.getElementById("share"));
  } catch {
    // The server may come back.
  }
  setTimeout(look, LOOK);
}

// One empty row more than there are groups; a list that is pasted fills as many as it has lines.
function rows(list) {
  const all = () => [...list.querySelectorAll("li")];
  const more = () => {
    const last = all().at(-1);
    const number = all().length;
    const copy = last.cloneNode(true);
    for (const field of copy.querySelectorAll("[id], [for]")) {
      for (const name of ["id", "name", "for"]) {
        const value = field.getAttribute(name);
        if (value) field.setAttribute(name, value.replace(/\d+$/, number));
      }
      if (field.matches("input")) field.value = "";
      else field.textContent = field.textContent.replace(/\d+/, number + 1);
    }
    last.after(copy);
  };
  const tidy = () => {
    const filled = all().findLastIndex((row) => row.querySelector("input").value.trim());
    while (all().length < filled + 2) more();
    all().forEach((row, place) => (row.hidden = place > Math.max(filled + 1, 2)));
  };
  list.addEventListener("input", tidy);
  // Enter goes on to the next field; in an empty name, which is the last, it starts.
  list.addEventListener("keydown", (event) => {
    const isLast = event.target.matches("[name^=group]") && !event.target.value.trim();
    if (event.key !== "Enter" || isLast) return;
    event.preventDefault();
    const fields = [...list.querySelectorAll("input")];
    fields[fields.indexOf(event.target) + 1].focus();
  });
  list.addEventListener("paste", (event) => {
    const lines = event.clipboardData.getData("text").split(/\r?\n/).filter((line) => line.trim());
    if (lines.length < 2) return;
    event.preventDefault();
    const start = all().indexOf(event.target.closest("li"));
    lines.forEach((line, place) => {
      while (all().length <= start + place) more();
      const [, name, about] = /^\s*(?:[-*]\s*)?([^:\t]*)[:\t]?(.*)$/.exec(line);
      const [first, second] = all()[start + place].querySelectorAll("input");
      first.value = name.trim();
      second.value = about.trim();
    });
    tidy();
    all()[start + lines.length]?.querySelector("input").focus();
  });
  tidy();
}

for (const time of document.querySelectorAll("time")) {
  const options = { dateStyle: "medium", timeStyle: "short" };
  time.textContent = new Date(time.dateTime).toLocaleString(LOCALE, options);
}
const form = document.getElementById("sending");
if (form) sending(form);
if (document.getElementById("making")) setTimeout(look, LOOK);
const list = document.getElementById("group-rows");
if (list) rows(list);
