// The list of all pipelines: a page of rows at a time, made when it is looked at; a search box; the
// picture of a pipeline under its row.

const ROWS = 50;
const ORDERS = {
  "as in the input": null,
  "most Locations saved": (a, b) => saved(b) - saved(a),
  "least Locations saved": (a, b) => saved(a) - saved(b),
  "most Locations before": (a, b) => figuresOf(b)[2] - figuresOf(a)[2],
  "most Locations after": (a, b) => figuresOf(b)[3] - figuresOf(a)[3],
};
const figuresOf = (index) => figures(data.pipelines[index][1], data.pipelines[index][5] === 1);
const saved = (index) => { const all = figuresOf(index); return all[2] - all[3]; };

// What is listed, and how.
const list = { words: "", kind: "", reason: null, order: "as in the input", first: 0, found: [], open: -1 };

// Whether a pipeline has all words, in its name, files, reason, or what its varyings are called and
// became. Texts are asked once each, and jobs once each.
function matcher(words) {
  const hits = words.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const texts = new Uint8Array(data.texts.length);
    data.texts.forEach((one, n) => { texts[n] = one.toLowerCase().includes(word) ? 1 : 0; });
    const remarks = data.remarks.map((one) =>
      texts[one[1]] === 1 || texts[one[4]] === 1 || data.actions[one[3]].includes(word));
    const jobs = data.jobs.map((one) =>
      texts[one[1]] === 1 || (one[4] || []).some((n) => remarks[n]));
    return (row) => row[0].toLowerCase().includes(word) || (row[1] >= 0 && jobs[row[1]])
      || row[2].some((file) => texts[file] === 1) || texts[row[4]] === 1;
  });
  return (row) => hits.every((hit) => hit(row));
}

function find() {
  const matches = matcher(list.words);
  list.found = [];
  for (let index = 0; index < data.pipelines.length; ++index) {
    const one = list.kind !== "" || list.reason !== null ? pipeline(index) : null;
    if (list.kind !== "" && data.kinds[one.kind] !== list.kind) continue;
    if (list.reason !== null && (one.group !== list.reason[1] || one.kind !== list.reason[0])) continue;
    if (matches(data.pipelines[index])) list.found.push(index);
  }
  if (ORDERS[list.order]) list.found.sort((a, b) => ORDERS[list.order](a, b) || a - b);
  list.first = 0;
}

function pipelineRow(index, parts) {
  const one = pipeline(index);
  const [c0, c1, l0, l1] = figures(one.at, one.own);
  const id = "picture" + index;
  const open = list.open === index;
  const kind = data.kinds[one.kind];
  const row = element("tr", { class: open ? "open" : null },
    element("td", { class: "name" }, element("button", {
      class: "plain", type: "button", "aria-expanded": String(open), "aria-controls": id,
      "data-pipeline": index,
      onclick: () => { openPipeline(open ? -1 : index, parts); },
    }, one.id || "(no name)")),
    element("td", { class: "number" }, one.at < 0 ? "" : change(l0, l1),
      element("span", { class: "optional soft" }, one.at < 0 ? "" : " (" + change(c0, c1) + ")")),
    element("td", {}, kind + (one.reason >= 0 ? ": " + text(one.reason) : "")));
  if (!open) return [row];
  const cell = element("td", { colspan: 3, id }, picture(one.at, one.own, one.files));
  return [row, element("tr", {}, cell)];
}

function showRows(parts) {
  const shown = list.found.slice(list.first, list.first + ROWS);
  parts.body.replaceChildren(...shown.flatMap((index) => pipelineRow(index, parts)));
  const last = list.first + shown.length;
  parts.count.textContent = list.found.length === 0 ? "No pipeline is like that."
    : number(list.first + 1) + " to " + number(last) + " of " + plural(list.found.length, "pipeline");
  parts.back.disabled = list.first === 0;
  parts.next.disabled = last >= list.found.length;
  parts.reason.replaceChildren();
  if (list.reason !== null) {
    parts.reason.append("Only: " + data.kinds[list.reason[0]] + ", " + text(list.reason[1]) + " ",
      element("button", { type: "button", onclick: () => { list.reason = null; again(parts); } }, "Show all pipelines"));
  }
}

function again(parts) {
  find();
  showRows(parts);
}

// Open the picture of a pipeline, on whatever page it is; -1 closes.
function openPipeline(index, parts) {
  const was = list.open;
  list.open = index;
  if (index >= 0 && !list.found.includes(index)) {
    Object.assign(list, { words: "", kind: "", reason: null, order: "as in the input" });
    parts.search.value = parts.kind.value = "";
    parts.order.value = list.order;
    find();
  }
  if (index >= 0) list.first = Math.floor(list.found.indexOf(index) / ROWS) * ROWS;
  showRows(parts);
  const button = parts.body.querySelector('[data-pipeline="' + (index >= 0 ? index : was) + '"]');
  if (button !== null) button.focus();
  return button;
}

function pipelines() {
  const parts = {};
  const changed = () => {
    list.words = parts.search.value;
    list.kind = parts.kind.value;
    list.order = parts.order.value;
    list.open = -1;
    again(parts);
  };
  const turn = (by) => () => { list.first += by * ROWS; list.open = -1; showRows(parts); };
  const option = (value, words) => element("option", { value }, words);
  parts.search = element("input", { type: "search", id: "search", oninput: changed,
    placeholder: "name, file, varying, reason" });
  parts.kind = element("select", { id: "kind", onchange: changed },
    option("", "all"), ...data.kinds.map((kind) => option(kind, kind)));
  parts.order = element("select", { id: "order", onchange: changed },
    ...Object.keys(ORDERS).map((order) => option(order, order)));
  parts.back = element("button", { type: "button", id: "back", onclick: turn(-1) }, "Back");
  parts.next = element("button", { type: "button", id: "next", onclick: turn(1) }, "Next");
  parts.count = element("span", { id: "count", role: "status" });
  parts.reason = element("p", { id: "only" });
  parts.body = element("tbody", { id: "rows" });
  const heads = [["Pipeline"], ["Locations", "number", " (components)"], ["Result"]];
  parts.section = section("All pipelines",
    element("div", { class: "tools" },
      element("label", { class: "grow" }, "Search ", parts.search),
      element("label", {}, "Show ", parts.kind),
      element("label", {}, "Order ", parts.order)),
    parts.reason,
    element("div", { class: "tools" }, parts.back, parts.next, parts.count),
    element("div", { class: "wide" }, element("table", { class: "list" },
      element("thead", {}, element("tr", {}, ...heads.map(([name, css, more]) =>
        element("th", { scope: "col", class: css || null }, name,
          more ? element("span", { class: "optional" }, more) : null)))),
      parts.body)),
    data.more ? element("p", { class: "soft" }, plural(data.more, "more pipeline") +
      " in the totals above, but not listed: the report (--report) has them all.") : null);
  again(parts);
  return parts;
}
