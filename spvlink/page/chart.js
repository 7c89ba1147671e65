// How many pipelines have how many Locations, before and after: a small chart.

const SVG = "http://www.w3.org/2000/svg";
const MOST_BARS = 32;

function drawn(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// [first Location, last, pipelines before, after]: so many Locations in one bar that the bars fit.
function bins(entries) {
  const most = entries.length ? entries[entries.length - 1][0] : 0;
  const width = Math.max(1, Math.ceil((most + 1) / MOST_BARS));
  const found = [];
  for (let first = 0; first <= most; first += width) found.push([first, first + width - 1, 0, 0]);
  for (const [locations, before, after] of entries) {
    const bin = found[Math.floor(locations / width)];
    bin[2] += before;
    bin[3] += after;
  }
  return found;
}

const range = (bin) => (bin[0] === bin[1] ? String(bin[0]) : bin[0] + "–" + bin[1]);

function chart(entries) {
  const found = bins(entries);
  const top = Math.max(1, ...found.map((bin) => Math.max(bin[2], bin[3])));
  const [left, right, bottom, height, width] = [52, 8, 20, 190, 720];
  const step = (width - left - right) / found.length;
  const y = (count) => 8 + (height - 8) * (1 - count / top);
  const parts = [drawn("defs", {}, hatch())];
  for (const count of new Set([0, Math.round(top / 2), top])) {
    parts.push(drawn("line", { class: "axis", x1: left, x2: width - right, y1: y(count), y2: y(count) }));
    parts.push(drawn("text", { x: left - 6, y: y(count) + 4, "text-anchor": "end" }, number(count)));
  }
  found.forEach((bin, n) => {
    const x = left + n * step;
    const thick = Math.min(step * 0.4, 40);
    const middle = x + step / 2;
    [["before", bin[2], middle - thick], ["after", bin[3], middle]].forEach(([side, count, at]) => {
      const said = plural(count, "pipeline") + " with " + range(bin) + " Locations " + side;
      parts.push(drawn("rect", { class: side, x: at, width: Math.max(thick - 1, 1), y: y(count),
        height: height - y(count) }, drawn("title", {}, said)));
    });
    parts.push(drawn("text", { x: middle, y: height + 14, "text-anchor": "middle" }, range(bin)));
  });
  return element("div", {},
    element("p", { class: "soft" }, "Pipelines by their number of Locations, all borders together."),
    element("ul", { class: "key" }, ...["before", "after"].map((side) => element("li", {},
      drawn("svg", { class: "chart", viewBox: "0 0 22 16", "aria-hidden": "true" },
        drawn("rect", { class: side, x: 1, y: 1, width: 20, height: 14 })), side))),
    element("div", { class: "wide" }, drawn("svg", { class: "chart", role: "img",
      viewBox: "0 0 " + width + " " + (height + bottom),
      "aria-label": "Pipelines by their number of Locations, before and after; the table below has the numbers" },
      ...parts)),
    element("details", {}, element("summary", {}, "As a table"), table(
      [["Locations", "number"], ["Pipelines before", "number"], ["Pipelines after", "number"]],
      found.filter((bin) => bin[2] || bin[3]).map((bin) => [range(bin), number(bin[2]), number(bin[3])]))));
}

function hatch() {
  return drawn("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)" }, drawn("line", { class: "stripe", x1: 0, y1: 0, x2: 0, y2: 6 }));
}
