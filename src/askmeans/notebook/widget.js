// The page's card in a notebook: a frame with the page's own document and script (card.py).
//
// - What the script would send to a server goes to Python, and the reply goes back into the frame.
// - Keys count while the frame has the focus, and are not the notebook's then.

const REST = 600; // milliseconds without an answer, until the result is drawn anew
const DARK = 'body[data-jp-theme-light="false"], body.vscode-dark, html[theme="dark"]';

function render({ model, el }) {
  const view = Math.random().toString(36); // a widget may be shown in several cells
  const frame = document.createElement("iframe");
  frame.title = "askmeans";
  frame.style.cssText = "width: 100%; height: 34rem; border: 1px solid #8888; resize: vertical";
  frame.style.colorScheme = document.querySelector(DARK) ? "dark" : "light";
  el.append(frame);
  let resting = 0;

  const request = (id, path, body) => model.send({ view, id, path, body });
  const rest = () => {
    clearTimeout(resting);
    resting = setTimeout(() => request("result", "result"), REST);
  };

  function asked({ source, data }) {
    if (source === frame.contentWindow && data.askmeans) request(data.id, data.path, data.body);
  }

  function replied(message) {
    if (message.view !== view) return;
    if (message.id === "document") frame.srcdoc = message.text;
    else frame.contentWindow.postMessage(message, "*");
    if (message.id !== "result") rest();
  }

  addEventListener("message", asked);
  model.on("msg:custom", replied);
  request("document", "document");
  return () => {
    clearTimeout(resting);
    removeEventListener("message", asked);
    model.off("msg:custom", replied);
  };
}

export default { render };
