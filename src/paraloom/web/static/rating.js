"use strict";
// The page on which pairs are labeled: one at a time, by keys or by pressing, and the sheet saved with the labels.
const cards = [...document.querySelectorAll("article.pair")];
const { sheet, file, columns } = document.body.dataset;
let started = Date.now();
let at = 0, before = 0;
let asked = 0; // The question that a key answers; behind the last one, none.

const kept = () => {
  try { return JSON.parse(localStorage.getItem(sheet)) ?? {}; } catch { return {}; }
};
const keep = (labels) => {
  // A browser that keeps nothing still saves the sheet.
  try { localStorage.setItem(sheet, JSON.stringify(labels)); } catch { return; }
};
const isAnswer = (text) => /^[0-3]$/.test(text);
const questions = (card) => [...card.querySelectorAll("fieldset")];
const label = (question) => question.querySelector("input:checked")?.value ?? "";
const unanswered = (card) => questions(card).find((question) => !label(question));
const labeled = () => cards.filter((card) => !unanswered(card)).length;

const remaining = () => {
  const done = labeled() - before, left = cards.length - labeled();
  if (!left) return "All pairs are labeled: save the sheet.";
  const minutes = done > 0 ? Math.ceil((Date.now() - started) / done * left / 60000) : 0;
  return `${labeled()} of ${cards.length} labeled` + (minutes ? `, ${minutes} min left` : "");
};

const mark = (all) => all.forEach((question, index) => question.classList.toggle("current", index === asked));

const show = (index) => {
  at = Math.max(0, Math.min(cards.length - 1, index));
  cards.forEach((card, number) => { card.hidden = number !== at; });
  const all = questions(cards[at]);
  asked = Math.max(0, all.indexOf(unanswered(cards[at])));
  mark(all);
  document.querySelector(".progress").textContent = `Pair ${at + 1}. ${remaining()}`;
};

const store = () => {
  const labels = {};
  for (const card of cards) labels[card.dataset.number] = questions(card).map(label);
  keep(labels);
};

const choose = (value) => {
  const all = questions(cards[at]);
  if (asked === all.length) return;
  const input = all[asked].querySelector(`input[value="${value}"]`);
  if (!input) return;
  // A pair that has all labels gets others, from the first question on.
  const next = unanswered(cards[at]) ? all.length : asked + 1;
  input.checked = true;
  store();
  if (unanswered(cards[at])) return show(at);
  if (next === all.length && at + 1 < cards.length) return show(at + 1);
  show(at);
  asked = next;
  mark(all);
};

// As Python's csv module reads it: a cell with a quote or a tab is quoted.
const cell = (text) => /["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
const table = () => [columns.split(" ")].concat(cards.map((card) =>
  [card.dataset.number, card.dataset.reference, card.dataset.translation, ...questions(card).map(label)]
)).map((row) => row.map(cell).join("\t") + "\n").join("");

const clear = () => {
  if (!confirm("Remove all labels, for another rater?")) return;
  try { localStorage.removeItem(sheet); } catch { /* Nothing is kept. */ }
  for (const input of document.querySelectorAll("input:checked")) input.checked = false;
  before = 0;
  started = Date.now();
  show(0);
};

const save = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([table()], { type: "text/tab-separated-values" }));
  link.download = file;
  link.click();
  // Some browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};

const labels = kept();
for (const card of cards) {
  questions(card).forEach((question, index) => {
    const value = labels[card.dataset.number]?.[index];
    const input = isAnswer(value) && question.querySelector(`input[value="${value}"]`);
    if (input) input.checked = true;
    question.addEventListener("change", () => { store(); show(at); });
  });
}
before = labeled();
document.querySelector("#back").addEventListener("click", () => show(at - 1));
document.querySelector("#next").addEventListener("click", () => show(at + 1));
document.querySelector("#save").addEventListener("click", save);
document.querySelector("#clear").addEventListener("click", clear);
document.addEventListener("keydown", (event) => {
  // A key that is held would label further pairs.
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  const action = { ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1) }[event.key]
    ?? (isAnswer(event.key) ? () => choose(event.key) : null);
  if (action) { event.preventDefault(); action(); }
});
const first = cards.findIndex(unanswered);
show(first < 0 ? cards.length - 1 : first);
