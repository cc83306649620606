// The sentences of the scripts in the language of the page, which the server puts into it
// (rendering.py), and how numbers and dates are written there.

const WORDS = JSON.parse(document.getElementById("words").textContent);
const { lang, dir } = document.documentElement;
const tongue = (code) => code.split("-")[0];

// What the browser's user prefers within the page's language: British dates, for example.
const preferred = navigator.languages.find((each) => tongue(each) === tongue(lang)) ?? lang;
export const LOCALE = `${preferred}-u-nu-latn`;

function shown(value) {
  if (typeof value === "number") return value.toLocaleString(LOCALE);
  return dir === "rtl" ? `\u2068${value}\u2069` : value; // a name does not turn the sentence around
}

export function word(name, values = {}) {
  const text = WORDS[name];
  const chosen = text.other ? (text[new Intl.PluralRules(lang).select(values.n)] ?? text.other) : text;
  return chosen.replace(/\{(\w+)\}/g, (_, key) => shown(values[key]));
}
