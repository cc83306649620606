// The card in a notebook: draws what Python shows, and sends back what is pressed.
//
// Rules of this file:
// - What comes from data goes in as text, never as HTML; a drawing is an image, so that nothing in
//   it runs.
// - One answer is under way at a time, and none is taken before the card could be read: the card says
//   so where one was pressed.
// - Keys count while the card has the focus, and are not the notebook's then.

const SETTLE = 250; // milliseconds in which nobody reads a question: a second click, a bouncing key
const REST = 600; // without an answer, until the result is drawn anew

const KEYS = [
  ["1 to 9", "the group or the answer with that number"],
  ["shift and 1", "the first of two groups; shift and another number adds the second"],
  ["0", "none of these"],
  ["n", "a new group of this item"],
  ["c", "cannot say: you looked, and it cannot be told"],
  ["s", "skip: ask me later, or somebody else"],
  ["z", "undo your last answer or skip"],
  ["g", "the guidelines, where the owner wrote some"],
  ["?", "this list"],
];

function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "data") Object.assign(node.dataset, value);
    else if (name.startsWith("aria") || name === "role") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function render({ model, el }) {
  const images = new Map(); // of rows, once they came
  let busy = false;
  let ready = false;
  let early = ""; // what is said of an answer that came before the card could be read
  let picked = [];
  let resting = 0;
  let helping = false;
  let ruling = false;

  const root = make("div", { className: "askmeans", tabIndex: 0, role: "group", "aria-label": "askmeans" });
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys: c would copy the cell
  const card = make("div", { className: "card" });
  const beside = make("div", { className: "result" });
  root.append(card, beside);
  el.append(root);

  const shown = () => model.get("shown");

  function send(message) {
    if (busy || !ready) return refuse();
    early = "";
    busy = true;
    clearTimeout(resting);
    model.send(message);
  }

  function refuse() {
    early = " Too early for this card, so it was not taken: press it again.";
    say(shown().said, shown().failed);
  }

  function answer(value) {
    const { question, key } = shown();
    if (question !== null) send({ do: "answer", question, key, value });
  }

  function undo() {
    if (shown().undoable) send({ do: "undo", key: shown().undo_key });
  }

  function button(key, word, press, className = "plain") {
    const label = [key ? make("kbd", {}, key) : null, " ", make("span", {}, word)];
    return make("button", { type: "button", className, data: { key }, onclick: press }, ...label);
  }

  function image(row, alt) {
    const node = make("img", { alt, data: { row } });
    if (images.has(row)) node.src = images.get(row) ?? "";
    return node;
  }

  function cells(listed) {
    const rows = listed.map(([name, value, differs]) =>
      make("div", { className: differs ? "differs" : "" }, make("dt", {}, name),
        make("dd", {}, differs ? `≠ ${value}` : value)));
    return rows.length ? make("dl", {}, ...rows) : null;
  }

  function article(item, className, note = "") {
    const more = cells(item.more);
    return make(
      "article",
      { className: `item ${className}` },
      note ? make("p", { className: "note" }, note) : null,
      item.text ? null : make("h3", {}, item.name),
      item.image ? image(item.row, `Image of ${item.name}`) : null,
      item.text ? make("p", { className: "text" }, item.text) : null,
      cells(item.cells),
      more ? make("details", {}, make("summary", {}, `${item.more.length} more`), more) : null,
    );
  }

  function tile(choice) {
    const examples = choice.typical.map((item) =>
      item.image ? image(item.row, item.name) : make("span", { className: "first" }, item.line));
    if (choice.guessed) examples.unshift(make("small", {}, "our guess"));
    if (!examples.length) examples.push(make("span", { className: "first" }, "No example yet"));
    const node = make(
      "button",
      { type: "button", className: "tile", data: { key: choice.key, group: choice.group } },
      make("span", { className: "title" }, choice.key ? make("kbd", {}, choice.key) : null,
        make("span", { className: "word" }, choice.name)),
      make("span", { className: choice.guessed ? "examples guessed" : "examples" }, ...examples),
    );
    node.style.borderLeftColor = choice.color;
    node.onclick = (event) => (event.shiftKey ? pick(choice) : answer({ [choice.group]: 1 }));
    return node;
  }

  // Two groups for one item: shift and a number, or shift and a click, picks each.
  function pick(choice) {
    picked = picked.includes(choice) ? picked.filter((each) => each !== choice) : [...picked, choice];
    for (const node of card.querySelectorAll(".tile")) {
      const chosen = picked.some((each) => String(each.group) === node.dataset.group);
      node.setAttribute("aria-pressed", String(chosen));
    }
    card.querySelector(".mix")?.remove();
    if (picked.length === 1) say(`${picked[0].name}, and which other group?`);
    if (picked.length === 2) mix(...picked);
  }

  function mix(first, second) {
    const slider = make("input", { type: "range", min: 0, max: 100, step: 5, value: 50 });
    slider.setAttribute("aria-label", "How much of each");
    const told = make("output", {});
    const tell = () => {
      const share = Number(slider.value);
      told.textContent = `${100 - share} % ${first.name}, ${share} % ${second.name}`;
    };
    const save = () => {
      const share = Number(slider.value) / 100;
      answer({ [first.group]: 1 - share, [second.group]: share });
    };
    slider.oninput = tell;
    slider.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.repeat) save();
    });
    tell();
    const line = make("p", { className: "mix" }, slider, told, button("", "Save", save, "main"));
    card.querySelector(".choices").after(line);
    say("How much of each?");
    slider.focus();
  }

  function unpick() {
    picked = [];
    for (const node of card.querySelectorAll(".mix, .fresh")) node.remove();
    for (const node of card.querySelectorAll(".tile")) node.removeAttribute("aria-pressed");
    say("");
    root.focus();
  }

  // A new group: its name, and Enter puts the item there.
  function found() {
    if (card.querySelector(".fresh")) return;
    const name = make("input", { type: "text", maxLength: 80, placeholder: "Name" });
    name.setAttribute("aria-label", "Name of the new group");
    const save = () => {
      const { question, key } = shown();
      if (name.value.trim()) send({ do: "new", question, key, name: name.value });
    };
    name.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.repeat) save();
    });
    card.querySelector(".others").after(make("p", { className: "fresh" }, name, button("", "Add it, and put this there", save, "main")));
    name.focus();
  }

  function fine(step) {
    const slider = make("input", { type: "range", min: 0, max: 1, step, value: 0.5 });
    slider.setAttribute("aria-label", "How much, from 0 to 1");
    const told = make("output", {}, "0.50");
    slider.oninput = () => (told.textContent = Number(slider.value).toFixed(2));
    const save = () => answer(Number(slider.value));
    return make("p", { className: "fine" }, slider, told, button("", "Save", save));
  }

  function say(text, failed = false) {
    const said = card.querySelector(".said");
    said.textContent = text + early;
    said.classList.toggle("failed", failed);
  }

  function others(view) {
    const listed = [];
    if (view.question !== null) {
      if (view.choices.length) listed.push(button("0", "None of these", () => answer("none")));
      if (view.regroup) listed.push(button("n", "New group", found));
      listed.push(button("c", "Cannot say", () => answer("unsure")));
      listed.push(button("s", "Skip", () => answer("skip")));
    }
    const back = button("z", "Undo", undo);
    back.disabled = !view.undoable;
    if (view.guidelines) listed.push(button("g", "Guidelines", rules));
    return make("p", { className: "others" }, ...listed, back, button("?", "Keys", help));
  }

  function help() {
    helping = !helping;
    card.querySelector(".keys").hidden = !helping;
  }

  function rules() {
    ruling = !ruling;
    card.querySelector(".rules").hidden = !ruling;
  }

  function draw() {
    const view = shown();
    const focused = root.contains(document.activeElement);
    picked = [];
    busy = ready = false;
    const of = view.budget === null ? "" : ` of at most ${view.budget}`;
    const left = view.left ? ` · about ${view.left} left` : "";
    const asked = view.question !== null;
    const parts = [
      make("p", { className: "counts" }, make("strong", {}, String(view.answered)), ` answered${of}${left}`),
      make("h2", {}, ...view.heading.map((part, place) => (place % 2 ? make("b", {}, part) : part))),
      view.meaning ? make("p", { className: "meaning" }, view.meaning) : null,
    ];
    if (asked) {
      const isAsked = (place) => view.asked === null || view.asked === place;
      const items = view.items.map((item, place) => article(item, isAsked(place) ? "asked" : ""));
      const why = view.guessed ? `our guess for ${view.group}` : `typical of ${view.group}`;
      const typical = view.typical.map((item) => article(item, view.guessed ? "guessed" : "", why));
      const tiles = view.choices.map(tile);
      parts.push(make(
        "div",
        { className: tiles.length ? "grouping" : "side" },
        make("div", { className: "asking" }, ...items, ...typical),
        tiles.length ? make("div", { className: "choices" }, ...tiles) : null,
      ));
      const points = view.points.map(([key, value, word]) => button(key, word, () => answer(value), "point"));
      if (points.length) parts.push(make("p", { className: "scale" }, ...points));
      if (view.step) parts.push(fine(view.step));
    }
    parts.push(others(view), make("p", { className: "said", role: "status" }));
    const listed = KEYS.map(([key, word]) => make("div", {}, make("dt", {}, key), make("dd", {}, word)));
    parts.push(make("dl", { className: "keys", hidden: !helping }, ...listed));
    if (view.guidelines) parts.push(make("p", { className: "rules", hidden: !ruling }, view.guidelines));
    card.replaceChildren(...parts.filter(Boolean));
    say(view.said, view.failed);
    if (focused) root.focus();
    fetchImages();
    root.dataset.question = asked ? view.question : "";
    root.dataset.turn = view.turn;
    delete root.dataset.ready;
    setTimeout(() => {
      ready = true;
      root.dataset.ready = "1";
    }, SETTLE);
    clearTimeout(resting);
    resting = setTimeout(() => model.send({ do: "picture" }), REST);
  }

  function drawResult() {
    const { svg, groups, wrong, failed } = model.get("beside");
    if (!svg) return beside.replaceChildren(failed ?? "");
    const picture = make("img", { alt: "The items, coloured by group" });
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    const legend = groups.map(([name, color, share]) => {
      const dot = make("i", {});
      dot.style.background = color;
      return make("li", {}, dot, `${name} ${Math.round(share * 100)} %`);
    });
    const sentence = wrong === null ? [] : [make("p", { className: "counts" }, wrong)];
    beside.replaceChildren(picture, make("ul", {}, ...legend), ...sentence);
  }

  function fetchImages() {
    const rows = [...card.querySelectorAll("img[data-row]")].map((node) => Number(node.dataset.row));
    const missing = [...new Set(rows)].filter((row) => !images.has(row));
    if (missing.length) model.send({ do: "images", rows: missing });
  }

  function received(message) {
    for (const [row, url] of Object.entries(message.images ?? {})) images.set(Number(row), url);
    for (const node of card.querySelectorAll("img[data-row]")) {
      const url = images.get(Number(node.dataset.row));
      if (url && node.src !== url) node.src = url;
    }
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return;
    event.stopPropagation(); // nor is it a key of VS Code's or Colab's
    if (event.repeat) return;
    if (event.key === "Escape") return unpick();
    if (event.target.type === "text") return; // a name is being written
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
    if (event.shiftKey && digit && event.key !== digit) {
      const choice = shown().choices?.find((each) => each.key === digit);
      if (choice && ready) pick(choice);
      return event.preventDefault();
    }
    const wanted = event.key.toLowerCase();
    const found = [...card.querySelectorAll("button")].find((node) => node.dataset.key === wanted);
    if (!wanted || !found || found.disabled) return;
    event.preventDefault();
    found.click();
  }

  root.addEventListener("keydown", press);
  root.addEventListener("click", (event) => {
    if (!event.target.closest("button, input, summary")) root.focus();
  });
  model.on("change:shown", draw);
  model.on("change:beside", drawResult);
  model.on("msg:custom", received);
  draw();
  drawResult();
  return () => {
    clearTimeout(resting);
    model.off("change:shown", draw);
    model.off("change:beside", drawResult);
    model.off("msg:custom", received);
  };
}

export default { render };
