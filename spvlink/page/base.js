"use strict";
// What the other scripts share: the page's data (described in data.py) and how elements are made.
// Every text goes in as a text node or an attribute that no code is read from.

const data = JSON.parse(document.getElementById("data").textContent);
const LINKED = "linked";

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const text = (index) => (index < 0 ? "" : data.texts[index]);
const number = (value) => value.toLocaleString("en");
const change = (before, after) =>
  before === after ? number(before) : number(before) + " → " + number(after);
const plural = (count, word) => number(count) + " " + word + (count === 1 ? "" : "s");

// A job, with names for the numbers of its row.
function job(index) {
  if (index < 0) return null;
  const [kind, reason, stages, borders, remarks] = data.jobs[index];
  return { kind, reason, stages, borders, remarks };
}

// A pipeline: what its row leaves out is as its job says.
function pipeline(index) {
  const [id, at, files, kind, reason, own] = data.pipelines[index];
  const done = job(at);
  const group = done && !own ? done.reason : reason;
  return {
    id, at, files, group, own: own === 1,
    kind: kind === undefined ? done.kind : kind,
    reason: reason === undefined ? done.reason : reason,
  };
}

// Sums over the borders of each job: [components before, after, Locations before, after].
const sums = data.jobs.map((row) =>
  [2, 3, 4, 5].map((n) => row[3].reduce((sum, border) => sum + border[n], 0)));

function figures(at, own) {
  if (at < 0) return [0, 0, 0, 0];
  const [c0, c1, l0, l1] = sums[at];
  return own ? [c0, c0, l0, l0] : [c0, c1, l0, l1];
}

function section(title, ...children) {
  return element("section", {}, element("h2", {}, title), ...children);
}

function table(heads, rows) {
  const head = element("tr", {}, ...heads.map(([name, css]) =>
    element("th", { scope: "col", class: css || null }, name)));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, n) =>
    element("td", { class: heads[n][1] || null }, cell))));
  return element("div", { class: "wide" },
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}
