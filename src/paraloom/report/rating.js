"use strict";
// The page on which pairs are labeled: one at a time, by keys or by pressing, and the sheet saved with the labels.
const cards = [...document.querySelectorAll("article.pair")];
const { sheet, file, columns } = document.body.dataset;
const started = Date.now();
let at = 0, before = 0;

const kept = () => {
  try { return JSON.parse(localStorage.getItem(sheet)) ?? {}; } catch { return {}; }
};
const keep = (labels) => {
  // A browser that keeps nothing still saves the sheet.
  try { localStorage.setItem(sheet, JSON.stringify(labels)); } catch { return; }
};
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

const show = (index) => {
  at = Math.max(0, Math.min(cards.length - 1, index));
  cards.forEach((card, number) => { card.hidden = number !== at; });
  const current = unanswered(cards[at]);
  questions(cards[at]).forEach((question) => question.classList.toggle("current", question === current));
  document.querySelector(".progress").textContent = `Pair ${at + 1}. ${remaining()}`;
};

const store = () => {
  const labels = {};
  for (const card of cards) labels[card.dataset.number] = questions(card).map(label);
  keep(labels);
};

const choose = (value) => {
  const question = unanswered(cards[at]);
  if (!question) return;
  question.querySelector(`input[value="${value}"]`).checked = true;
  store();
  show(unanswered(cards[at]) ? at : at + 1);
};

// As Python's csv module reads it: a cell with a quote or a tab is quoted.
const cell = (text) => /["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
const table = () => [columns.split(" ")].concat(cards.map((card) =>
  [card.dataset.number, card.dataset.reference, card.dataset.translation, ...questions(card).map(label)]
)).map((row) => row.map(cell).join("\t") + "\n").join("");

const save = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([table()], { type: "text/tab-separated-values" }));
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
};

const labels = kept();
for (const card of cards) {
  questions(card).forEach((question, index) => {
    const value = labels[card.dataset.number]?.[index];
    if (["1", "2", "3"].includes(value)) question.querySelector(`input[value="${value}"]`).checked = true;
    question.addEventListener("change", () => { store(); show(at); });
  });
}
before = labeled();
document.querySelector("#back").addEventListener("click", () => show(at - 1));
document.querySelector("#next").addEventListener("click", () => show(at + 1));
document.querySelector("#save").addEventListener("click", save);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const action = { ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1) }[event.key]
    ?? (["1", "2", "3"].includes(event.key) ? () => choose(event.key) : null);
  if (action) { event.preventDefault(); action(); }
});
const first = cards.findIndex(unanswered);
show(first < 0 ? cards.length - 1 : first);
