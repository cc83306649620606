// Lists of answers and invitations: times of where one sits, filters that act at once, a button that
// saves where something was changed, a link that is copied. Everything works without it.

import { LOCALE, word } from "./words.js";

for (const time of document.querySelectorAll("time")) {
  const at = new Date(time.dateTime);
  const year = at.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  const options = { year, month: "short", day: "numeric", hour: "numeric", minute: "2-digit" };
  time.textContent = at.toLocaleString(LOCALE, options);
}

for (const form of document.querySelectorAll("form[data-filter]")) {
  for (const select of form.querySelectorAll("select")) {
    select.addEventListener("change", () => form.requestSubmit());
  }
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (!value) formData.delete(name);
  });
}

for (const form of document.querySelectorAll("form.change")) {
  const select = form.querySelector("select");
  const before = select.value;
  const show = () => form.classList.toggle("changed", select.value !== before);
  select.addEventListener("change", show);
  form.classList.add("scripted");
  show();
}

// While a model answers, look again how far it is.
async function look() {
  if (!document.querySelector("#run [data-running]")) return;
  try {
    const text = await (await fetch(location.pathname)).text();
    const part = new DOMParser().parseFromString(text, "text/html").getElementById("run");
    if (!part) return;
    if (!part.querySelector("[data-running]")) return location.replace(location.pathname);
    document.getElementById("run").replaceWith(part);
  } catch {
    // The server may come back.
  }
  setTimeout(look, 1500);
}
setTimeout(look, 1500);

for (const button of document.querySelectorAll("button[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copies);
    field.select();
    await navigator.clipboard.writeText(field.value);
    document.getElementById("copied").textContent = word("copied");
  });
}
