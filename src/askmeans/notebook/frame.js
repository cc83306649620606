// What the page's script expects of a browser: a server, and places to remember things. Requests go to
// widget.js, which passes them on to Python.

const waiting = new Map();
const kept = () => ({ getItem: () => null, setItem() {}, removeItem() {} });
for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, { value: kept() });
}
navigator.sendBeacon = () => true;
let last = 0;
window.fetch = (path, { body = "" } = {}) => new Promise((resolve) => {
  if (path === "/renew") return resolve(new Response("")); // questions are leased for long here
  waiting.set(++last, resolve);
  parent.postMessage({ askmeans: true, id: last, path, body: String(body) }, "*");
});
addEventListener("message", ({ source, data }) => {
  if (source !== parent) return;
  if (data.id === "result") {
    const place = document.getElementById("result-so-far");
    place[data.kind === "text/html" ? "innerHTML" : "textContent"] = data.text;
    return;
  }
  const headers = { "Content-Type": data.kind };
  waiting.get(data.id)?.(new Response(data.text, { status: data.status, headers }));
  waiting.delete(data.id);
});
for (const kind of ["submit", "click"]) {  // nothing leads to another page
  document.addEventListener(kind, (event) => {
    const link = event.target.closest("a:not([data-zoom], [data-rename])");
    if (link || event.target.id === "stop") event.preventDefault();
  });
}
