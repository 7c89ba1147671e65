// Puts the page together: of a batch totals, chart, lists and all pipelines; of one pipeline its
// picture. "#12" in the address opens the pipeline with that number.

function tiles() {
  const all = data.totals;
  const entries = [
    ["Pipelines", number(all.pipelines)],
    ["Distinct jobs", number(all.jobs)],
    ["Distinct modules", change(...all.modules)],
    ["Locations", change(...all.locations)],
    ["Components", change(...all.components)],
    ["Bytes a vertex", change(...all.vertex_bytes)],
    ["Linked", number(all.linked)],
    ["Nothing to gain", number(all.unchanged)],
    ["Passed through", number(all.passed_through)],
    ["Failed", number(all.failed)],
  ];
  return element("dl", { class: "tiles" }, ...entries.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function best(open) {
  if (!data.most.length) return element("p", {}, "No pipeline was linked.");
  return element("div", { class: "two-lists" },
    gains("Most", data.most, open), gains("Least of the others that were linked", data.least, open));
}

function gains(title, entries, open) {
  if (!entries.length) return null;
  return element("div", {}, element("h3", {}, title), table(
    [["Pipeline"], ["Locations", "number"], ["Components", "number"], ["Like it", "number optional"]],
    entries.map(([at, first, count]) => {
      const [c0, c1, l0, l1] = figures(at, false);
      const row = data.pipelines[first];
      const name = row ? element("button", { class: "plain", type: "button", onclick: () => open(first) },
        row[0] || "(no name)") : "pipeline " + number(first + 1);
      return [name, change(l0, l1), change(c0, c1), count > 1 ? "+" + number(count - 1) : ""];
    })));
}

function reasons(only) {
  if (!data.reasons.length) return element("p", {}, "Every pipeline was linked.");
  return table([["Pipelines", "number"], ["Kind", "short"], ["Reason"], [""]],
    data.reasons.map(([kind, reason, count]) => [number(count), data.kinds[kind], text(reason),
      element("button", { type: "button", onclick: () => only(kind, reason) }, "List them")]));
}

function unknown() {
  return data.unknown.length === 0 ? [] : [section("Not known to spvlink",
    element("p", {}, "What has one of these stays as it is. A newer spvlink may know it."),
    table([["Pipelines", "number"], ["Structure, flag or dynamic state"]],
      data.unknown.map(([what, count]) => [number(count), what])))];
}

function batchPage(main) {
  const parts = pipelines();
  const open = (index) => {
    const button = openPipeline(index, parts);
    if (button !== null) button.scrollIntoView({ block: "start" });
  };
  const only = (kind, reason) => {
    Object.assign(list, { words: "", kind: "", reason: [kind, reason], open: -1 });
    parts.search.value = parts.kind.value = "";
    again(parts);
    parts.section.scrollIntoView();
    parts.search.focus();
  };
  main.append(
    section("Totals", tiles()),
    section("Locations", chart(data.chart)),
    section("What gained most and least", best(open)),
    section("Not linked, by reason", reasons(only)),
    ...unknown(),
    section("What the colours say", legend()),
    parts.section);
  const fromAddress = () => {
    const wanted = /^#(\d{1,9})$/.exec(location.hash);
    if (wanted && Number(wanted[1]) < data.pipelines.length) open(Number(wanted[1]));
  };
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
}

function linkPage(main) {
  const one = pipeline(0);
  document.getElementById("line").textContent = one.id;
  if (one.reason >= 0) main.append(element("p", {}, "Passed through unchanged: " + text(one.reason)));
  main.append(picture(one.at, one.own, one.files), section("What the colours say", legend()));
}

(data.totals ? batchPage : linkPage)(document.getElementById("main"));
document.getElementById("footer").textContent = "Made by spvlink " + data.spvlink + ".";
