// Keys, live results, dragging and copying. Everything also works without this file, with links and forms.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

document.documentElement.classList.add("js");

// ---- Results are replaced while the state changes; the address always names what is shown.

let request = null;
let timer = 0;

async function show(url, { push = true, focus = null } = {}) {
  if (request) request.abort();
  const current = (request = new AbortController());
  const target = new URL(url, location.href);
  const fragment = new URL(target);
  fragment.searchParams.set("fragment", "results");
  const results = $("#results");
  results.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(fragment, { signal: current.signal });
    const text = await response.text();
    if (current !== request) return;
    if (response.status === 403) throw new Error(text);
    results.innerHTML = text;
    if (target.href !== location.href) {
      if (push) history.pushState(null, "", target);
      else history.replaceState(null, "", target);
    }
    follow();
    arrive();
    if (focus) ($(focus) || results).focus();
    const total = $(".summary");
    $("#announcer").textContent = total ? total.textContent : "";
  } catch (error) {
    if (error.name === "AbortError") return;
    results.innerHTML = "<p class=\"alert\" role=\"alert\">The server does not answer: is paraloom explore still running?</p>";
  } finally {
    if (current === request) {
      results.removeAttribute("aria-busy");
      request = null;
    }
  }
}

// The filter, the navigation and the threshold keep the condition that a link has set.
function follow() {
  const query = new URLSearchParams(location.search);
  for (const name of ["where", "search"]) {
    for (const input of $$(`form input[name="${name}"]`)) {
      if (input !== document.activeElement) input.value = query.get(name) || "";
    }
  }
  for (const link of $$("header nav a")) {
    const target = new URL(link.href);
    if (target.pathname === "/run") continue;
    for (const name of ["corpus", "where", "search", "sort"]) {
      if (query.get(name)) target.searchParams.set(name, query.get(name));
      else target.searchParams.delete(name);
    }
    link.href = target;
  }
}

function address(form, without = []) {
  const target = new URL(form.getAttribute("action"), location.href);
  for (const [name, value] of new FormData(form)) {
    if (value && !without.includes(name)) target.searchParams.append(name, value);
  }
  return target;
}

function later(action, wait) {
  clearTimeout(timer);
  timer = setTimeout(action, wait);
}

document.addEventListener("input", (event) => {
  const filter = event.target.closest("#filter");
  if (filter && event.target.tagName === "INPUT") {
    later(() => show(filterAddress(filter), { push: false }), 220);
  }
});

// Other pages than the table have parameters of their own, which the form of the filter keeps.
function filterAddress(filter) {
  const target = address(filter);
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (["score", "at", "keep", "by", "other"].includes(name)) target.searchParams.set(name, value);
  }
  return target;
}

document.addEventListener("submit", (event) => {
  if (event.target.id === "filter") {
    event.preventDefault();
    show(filterAddress(event.target));
  } else if (event.target.id === "threshold") {
    event.preventDefault();
    show(address(event.target));
  }
});

document.addEventListener("change", (event) => {
  if (event.target.matches("#filter select")) {
    location.assign(new URL(`${$("#filter").getAttribute("action")}?corpus=${encodeURIComponent(event.target.value)}`, location.href));
  }
  if (event.target.matches("#threshold select")) location.assign(address(event.target.form, ["at", "keep"]));
  if (event.target.matches("#threshold input[type=radio]")) show(address(event.target.form));
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-live]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    show(link.getAttribute("href"), { focus: link.closest(".pager") ? "#results" : null });
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) copyText(copy);
  if (event.target.closest("#show-keys")) $("#keys").showModal();
});

addEventListener("popstate", () => location.reload());

async function copyText(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    getSelection().selectAllChildren($("code", button.parentElement));
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

// ---- The threshold is dragged, or moved by the arrow keys.

const range = $("#threshold-range");
const exact = $("#threshold-number");
if (range && exact) {
  let waiting = false;
  const moved = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(async () => {
      waiting = false;
      await show(address(exact.form), { push: false });
    });
  };
  range.addEventListener("input", () => {
    exact.value = range.value;
    moved();
  });
  exact.addEventListener("input", () => {
    if (exact.value === "") return;
    range.value = exact.value;
    later(moved, 150);
  });
}

// ---- What results need when they arrive: one tab stop per histogram, and searches that are not complete.

let poll = 0;

function arrive() {
  for (const bars of $$("[data-bars]")) {
    $$("a", bars).forEach((bar, i) => bar.setAttribute("tabindex", i ? "-1" : "0"));
  }
  $$("table.rows .open").forEach((link, i) => link.setAttribute("tabindex", i ? "-1" : "0"));
  clearTimeout(poll);
  const summary = $("[data-continue]");
  if (summary) poll = setTimeout(() => proceed(summary), 250);
  const live = $("[data-refresh]");
  if (live) poll = setTimeout(refresh, 2000);
}

async function proceed(summary) {
  const response = await fetch(summary.dataset.continue);
  if (!response.ok || !summary.isConnected) return;
  const holder = document.createElement("div");
  holder.innerHTML = await response.text();
  const next = $(".summary", holder);
  if (!next) return;
  // A search in the order of a score finds better rows until its end.
  const changes = "sorted" in next.dataset || $$("table.rows tbody tr").length < 25;
  summary.replaceWith(next);
  if (next.dataset.continue) poll = setTimeout(() => proceed(next), 250);
  else if (changes) show(location.href, { push: false });
}

async function refresh() {
  if (document.hidden) {
    poll = setTimeout(refresh, 2000);
    return;
  }
  const opened = $$("#results details[open]").map((details) => details.id);
  await show(location.href, { push: false });
  for (const id of opened) if (id && $(`#${CSS.escape(id)}`)) $(`#${CSS.escape(id)}`).open = true;
}

// ---- Keys.

function move(items, step) {
  const at = items.indexOf(document.activeElement);
  const next = items[at < 0 ? (step > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, at + step))];
  if (!next) return;
  for (const item of items) item.setAttribute("tabindex", item === next ? "0" : "-1");
  next.focus();
  (next.closest("tr") || next).scrollIntoView({ block: "nearest" });
}

function press(selector) {
  const target = $(selector);
  if (target) target.click();
  return Boolean(target);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const field = event.target.closest("input, select, textarea");
  if ($("#keys").open) return;
  if (event.key === "Escape") {
    if (field) field.blur();
    else press("a[data-back]");
    return;
  }
  if (field && !(field.type === "radio" || field.type === "checkbox")) return;
  const bars = event.target.closest("[data-bars]");
  if (bars && ["ArrowRight", "ArrowLeft", "Home", "End"].includes(event.key)) {
    const items = $$("a", bars);
    const far = event.key === "Home" ? -items.length : event.key === "End" ? items.length : 0;
    move(items, far || (event.key === "ArrowRight" ? 1 : -1));
    event.preventDefault();
    return;
  }
  if (field) return;
  const rows = $$("table.rows .open");
  const actions = {
    "/": () => $("#filter input[name=search]")?.select(),
    w: () => $("#filter input[name=where]")?.select(),
    "?": () => $("#keys").showModal(),
    j: () => move(rows, 1),
    k: () => move(rows, -1),
    ArrowDown: () => rows.length && move(rows, 1),
    ArrowUp: () => rows.length && move(rows, -1),
    n: () => press("a[rel=next]"),
    p: () => press("a[rel=prev]"),
    ArrowRight: () => press("a[rel=next]"),
    ArrowLeft: () => press("a[rel=prev]"),
  };
  const judged = /^[0-5]$/.test(event.key) && $(`button[data-key="${event.key}"]`);
  if (judged) judged.click();
  else if (!actions[event.key] || actions[event.key]() === 0) return;
  event.preventDefault();
});

follow();
arrive();
