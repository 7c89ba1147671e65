// The picture of a pipeline: for each border its Locations before and after, a row of four
// components each.

// Signs beside the colours, for those who do not tell these apart.
const SIGNS = {
  "removed": "×", "undefined": "?", "propagated": "=", "merged": "≡", "moved-backward": "←",
  "moved-forward": "→", "flattened": "▬", "packed": "↕", "kept": "•",
};
const MEANINGS = {
  "removed": "nobody needs it", "undefined": "nobody wrote it",
  "propagated": "the next stage knows or computes it", "merged": "the same as another one",
  "moved-backward": "code moved to the earlier stage", "moved-forward": "code moved to the later stage",
  "flattened": "equal for the whole primitive", "packed": "in another place", "kept": "as it was",
};

const MOST_ROWS = 256;  // of a grid: more than any device has

function remark(index) {
  const [border, name, slot, action, why, before, after] = data.remarks[index];
  return { border, name: text(name), slot: text(slot), action: data.actions[action], why: text(why),
           sides: [before, after] };
}

const sentence = (told) => told.name + " " + told.slot + ": " + told.action + ". " + told.why;

function legend() {
  return element("ul", { class: "key" }, ...data.actions.map((action) => element("li", {},
    element("span", { class: "badge " + action }, SIGNS[action] + " " + action),
    element("span", { class: "soft" }, MEANINGS[action]))));
}

function picture(at, own, files) {
  const done = job(at);
  const all = element("div", { class: "borders" });
  if (done === null) {
    all.append(element("p", { class: "soft" }, "It was not linked, so nothing is known of its interface."));
    return all;
  }
  if (own) {
    all.append(element("p", {}, "Its job was linked as the pictures show, but it kept its modules."));
  }
  if (done.remarks === null) {
    all.append(element("p", { class: "soft" },
      "There are too many jobs for a picture of each. The report (--report) has them all."));
  }
  if (done.borders.length === 0) {
    all.append(element("p", { class: "soft" }, "There is no interface between its stages to be seen."));
  }
  const told = (done.remarks || []).map(remark);
  for (const border of done.borders) all.append(borderPicture(border, told));
  all.append(stageTable(done.stages, files));
  return all;
}

function stageTable(stages, files) {
  return table(
    [["Stage", "short"], ["File"], ["Instructions", "number"], ["Bytes", "number"]],
    stages.map(([stage, index, i0, i1, b0, b1]) =>
      [text(stage), text(files[index] === undefined ? -1 : files[index]), change(i0, i1), change(b0, b1)]));
}

function borderPicture(border, all) {
  const [producer, consumer, c0, c1, l0, l1, v0, v1, p0, p1, t0, t1] = border;
  const name = text(producer) + "->" + text(consumer);
  const told = all.filter((one) => text(one.border) === name);
  const memory = text(producer) === "task";
  const said = element("p", { class: "said soft", role: "status" },
    told.length ? "Point at a component, or go there with Tab and the arrow keys." : "");
  const rows = told.map((one) => element("tr", {},
    element("td", { class: "name" }, one.name || "(no name)"),
    element("td", { class: "short" }, one.slot),
    element("td", {}, element("span", { class: "badge " + one.action }, SIGNS[one.action] + " " + one.action)),
    element("td", {}, one.why)));
  const marked = [];
  const show = (which) => {
    for (const cell of marked) cell.element.classList.toggle("same", cell.told.some((n) => which.includes(n)));
    rows.forEach((row, n) => row.classList.toggle("shown", which.includes(n)));
    if (which.length) said.replaceChildren(...which.map((n) => element("span", {}, sentence(told[n]) + " ")));
  };
  const sides = [0, 1].map((side) => grid(told, side, memory, marked, show));
  const places = memory ? "" : " in " + change(l0, l1) + (l1 === 1 ? " Location" : " Locations");
  const bytes = (v0 || v1 ? ["Bytes a vertex: " + change(v0, v1) + ", of these for position: " + change(p0, p1) + "."] : [])
    .concat(t0 || t1 ? ["Bytes a primitive: " + change(t0, t1) + "."] : []);
  return element("div", {},
    element("h3", {}, text(producer) + " → " + text(consumer) + ": " + change(c0, c1)
      + (memory ? " words of the payload" : c1 === 1 ? " component" : " components") + places),
    bytes.length ? element("p", { class: "soft" }, bytes.join(" ")) : null,
    told.length ? element("div", { class: "sides" }, ...sides) : null,
    told.length ? said : null,
    told.length ? element("details", {}, element("summary", {}, "As a table: " + plural(told.length, "remark")),
      element("div", { class: "wide" }, element("table", {},
        element("thead", {}, element("tr", {}, ...["Varying", "Place", "Became", "Why"].map((head) =>
          element("th", { scope: "col" }, head)))),
        element("tbody", {}, ...rows)))) : null);
}

// Location -> four lists of remarks, one for each component.
function cellsOf(told, side) {
  const found = new Map();
  told.forEach((one, index) => {
    const runs = one.sides[side];
    for (let n = 0; n < runs.length; n += 2) {
      for (let cell = runs[n]; cell < runs[n] + runs[n + 1]; ++cell) {
        const location = Math.floor(cell / 4);
        if (!found.has(location)) found.set(location, [[], [], [], []]);
        found.get(location)[cell % 4].push(index);
      }
    }
  });
  return [...found].sort((a, b) => a[0] - b[0]);
}

function grid(told, side, memory, marked, show) {
  const title = side === 0 ? "Before" : "After";
  const own = [];
  const box = element("div", { role: "group", "aria-label": title }, element("h4", {}, title));
  box.append(element("div", { class: "row head", "aria-hidden": "true" },
    ...["", "x", "y", "z", "w"].map((name) => element("span", {}, name))));
  const every = cellsOf(told, side);
  const found = every.slice(0, MOST_ROWS);
  if (!found.length) box.append(element("p", { class: "soft" }, "nothing"));
  let last = found.length ? found[0][0] : 0;
  for (const [location, lanes] of found) {
    if (location > last + 1) box.append(element("div", { class: "row gap", title: "free Locations" }));
    last = location;
    const row = element("div", { class: "row" }, element("span", { class: "at" },
      memory ? "word " + location * 4 : String(location)));
    for (let lane = 0; lane < 4; ) {
      let end = lane + 1;
      while (end < 4 && String(lanes[end]) === String(lanes[lane])) ++end;
      row.append(cellElement(told, lanes[lane], end - lane, own, show));
      lane = end;
    }
    box.append(row);
  }
  if (every.length > MOST_ROWS) {
    box.append(element("p", { class: "soft" }, plural(every.length - MOST_ROWS, "more Location")));
  }
  marked.push(...own);
  if (own.length) own[0].element.tabIndex = 0;
  box.addEventListener("keydown", (event) => walk(event, own));
  return box;
}

function cellElement(told, which, width, own, show) {
  const place = "span " + width;
  if (!which.length) {
    const none = element("span", { class: "none", title: "free" });
    none.style.gridColumn = place;
    return none;
  }
  const words = which.map((n) => sentence(told[n])).join("\n");
  const two = which.length > 1;
  const made = element("div", {
    class: "cell " + told[which[0]].action + (two ? " two" : ""), title: words, tabindex: -1,
    role: "img", "aria-label": words,
    onmouseenter: () => show(which), onfocus: () => show(which), onclick: () => show(which),
  }, ...which.map((n) => element("span", {}, element("b", {}, SIGNS[told[n].action]), told[n].name)));
  made.style.gridColumn = place;
  own.push({ element: made, told: which });
  return made;
}

// One Tab stop for each grid; the arrow keys go from component to component.
function walk(event, cells) {
  const at = cells.findIndex((cell) => cell.element === document.activeElement);
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  let to = event.key in steps ? at + steps[event.key] : -1;
  if (event.key === "Home") to = 0;
  if (event.key === "End") to = cells.length - 1;
  if (at < 0 || to < 0 || to >= cells.length) return;
  event.preventDefault();
  cells[at].element.tabIndex = -1;
  cells[to].element.tabIndex = 0;
  cells[to].element.focus();
}
