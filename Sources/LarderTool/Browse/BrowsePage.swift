import LarderTerminal

/// The frame of the page that `browse` writes: its style, its script, and the places of the content.
enum BrowsePage {
  /// - Parameters:
  ///   - picture: the schema as SVG.
  ///   - data: the content as JSON in which no `<` occurs.
  static func html(title: String, picture: String, data: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title.printable.escapedForHTML)</title>
    <style>
    \(style)
    </style>
    </head>
    <body>
    <nav id="list"><input id="find" type="search" placeholder="Find a table" aria-label="Find a table"></nav>
    <main id="content"></main>
    <div id="picture" hidden>\(picture)</div>
    <script type="application/json" id="data">\(data)</script>
    <script>
    \(script)
    </script>
    </body>
    </html>

    """
  }

  private static let style = """
    :root { color-scheme: light dark; --line: #8885; --dim: #666; --mark: #33619a }
    * { box-sizing: border-box }
    [hidden] { display: none !important }
    body { margin: 0; display: flex; height: 100vh; font: 14px system-ui, sans-serif }
    nav { width: 240px; overflow: auto; padding: 12px; border-right: 1px solid var(--line) }
    input { margin-bottom: 8px }
    nav input { width: 100% }
    nav button { display: flex; width: 100%; gap: 8px; justify-content: space-between; border: 0;
      padding: 4px 6px; background: none; color: inherit; font: inherit; text-align: left; cursor: pointer }
    nav button[aria-current=true] { background: var(--mark); color: #fff; border-radius: 4px }
    nav small { color: var(--dim) }
    nav button[aria-current=true] small { color: inherit }
    main { flex: 1; overflow: auto; padding: 16px; min-width: 0 }
    .frame { border: 1px solid var(--line); height: calc(100vh - 110px); overflow: hidden; background: #fff;
      cursor: grab; touch-action: none }
    .frame svg { width: 100%; height: 100% }
    .rows { border-collapse: collapse; font: 12px ui-monospace, monospace }
    .rows th, .rows td { border: 1px solid var(--line); padding: 3px 8px; text-align: left; max-width: 420px;
      overflow: hidden; text-overflow: ellipsis; white-space: pre }
    .rows th { cursor: pointer; position: sticky; top: -16px; background: Canvas }
    .rows td.amount { text-align: right }
    .rows td.none, .dim { color: var(--dim) }
    .finding { border-left: 4px solid var(--dim); padding: 4px 12px; margin: 12px 0 }
    .finding.error { border-color: #b03a2e }
    .finding.warning { border-color: #b9770e }
    pre { white-space: pre-wrap; font: 12px ui-monospace, monospace }
    @media (prefers-color-scheme: dark) {
      :root { --dim: #a0a0a0 }
      .frame { background: none }
      .frame svg { filter: invert(0.92) hue-rotate(180deg) }
    }
    """

  private static let script = #"""
    "use strict";
    const data = JSON.parse(document.getElementById("data").textContent);
    const list = document.getElementById("list"), content = document.getElementById("content");
    const picture = document.getElementById("picture");

    function make(name, text, style) {
      const element = document.createElement(name);
      if (text !== undefined) element.textContent = text;
      if (style) element.className = style;
      return element;
    }

    // Values: a number, a text, or an object for what a script's values don't hold.
    function shown(value) {
      if (value === null) return "NULL";
      if (typeof value !== "object") return String(value);
      if ("integer" in value) return value.integer;
      if ("blob" in value) return `${value.blob}${value.bytes > 16 ? "…" : ""} (${value.bytes} bytes)`;
      return `${value.text}… (${value.length} characters)`;
    }
    function isNumber(value) {
      return typeof value === "number" || value !== null && typeof value === "object" && "integer" in value;
    }
    function rank(value) {
      if (value === null) return 0;
      if (isNumber(value)) return 1;
      return typeof value === "object" && "blob" in value ? 3 : 2;
    }
    function compare(a, b) {
      if (rank(a) !== rank(b)) return rank(a) - rank(b);
      if (rank(a) === 1) {
        const [x, y] = [a, b].map(value => typeof value === "number" ? value : BigInt(value.integer));
        return x < y ? -1 : x > y ? 1 : 0;
      }
      const [x, y] = [shown(a), shown(b)];
      return x < y ? -1 : x > y ? 1 : 0;
    }
    function sorted(rows, column, isDescending) {
      const order = rows.slice().sort((a, b) => compare(a[column], b[column]));
      return isDescending ? order.reverse() : order;
    }

    function showTable(table) {
      content.append(make("h2", table.name));
      const count = table.rowCount === undefined ? "" : `${table.rowCount} rows, `;
      const about = make("p", `${table.kind}, ${count}${table.rows.length} shown`, "dim");
      const search = make("input");
      search.type = "search";
      search.placeholder = "Find in these rows";
      content.append(about, search);
      if (table.problem) content.append(make("p", table.problem));
      const grid = make("table", undefined, "rows"), head = make("tr"), body = make("tbody");
      let column = -1, isDescending = false;
      table.columns.forEach((each, index) => {
        const cell = make("th", each.name);
        cell.title = each.type;
        cell.onclick = () => {
          isDescending = column === index && !isDescending;
          column = index;
          fill();
        };
        head.append(cell);
      });
      function fill() {
        const text = search.value.toLowerCase();
        const rows = column < 0 ? table.rows : sorted(table.rows, column, isDescending);
        body.replaceChildren(...rows.filter(row =>
          !text || row.some(value => shown(value).toLowerCase().includes(text))
        ).map(row => {
          const line = make("tr");
          for (const value of row) {
            const style = value === null ? "none" : isNumber(value) ? "amount" : undefined;
            line.append(make("td", shown(value), style));
          }
          return line;
        }));
        [...head.children].forEach((cell, index) => {
          const mark = index !== column ? "" : isDescending ? " ▼" : " ▲";
          cell.textContent = table.columns[index].name + mark;
        });
      }
      search.oninput = fill;
      const top = make("thead");
      top.append(head);
      grid.append(top, body);
      fill();
      content.append(grid);
      if (table.sql) content.append(make("h3", "Declaration"), make("pre", table.sql));
    }

    function showPicture() {
      content.append(make("h2", data.file), make("p", "Drag to move, turn the wheel to zoom.", "dim"));
      const frame = make("div", undefined, "frame"), svg = picture.firstElementChild.cloneNode(true);
      frame.append(svg);
      content.append(frame);
      let [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
      svg.removeAttribute("width");
      svg.removeAttribute("height");
      const move = () => svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
      const scale = () => Math.max(width / frame.clientWidth, height / frame.clientHeight);
      frame.onwheel = event => {
        event.preventDefault();
        const factor = event.deltaY < 0 ? 0.85 : 1 / 0.85;
        x += width * (1 - factor) / 2;
        y += height * (1 - factor) / 2;
        width *= factor;
        height *= factor;
        move();
      };
      frame.onpointerdown = event => frame.setPointerCapture(event.pointerId);
      frame.onpointermove = event => {
        if (!event.buttons) return;
        x -= event.movementX * scale();
        y -= event.movementY * scale();
        move();
      };
    }

    function showFindings() {
      content.append(make("h2", "Findings"));
      if (!data.findings.length) content.append(make("p", "Nothing was found."));
      for (const finding of data.findings) {
        const box = make("div", undefined, `finding ${finding.severity}`), evidence = finding.evidence;
        const place = [evidence.table, evidence.columns.join(", "), evidence.object];
        box.append(make("b", `${finding.severity}: ${finding.rule}`), make("div", place.filter(Boolean).join(" · ")));
        box.append(make("p", finding.reason), make("p", `Found: ${evidence.found}`));
        box.append(make("p", `To do: ${evidence.advice}`));
        if (evidence.sql.length) box.append(make("pre", evidence.sql.map(text => text + ";").join("\n")));
        content.append(box);
      }
      for (const remark of data.remarks) content.append(make("p", `Not in full: ${remark}`, "dim"));
    }

    const pages = [["Schema", "", showPicture], ["Findings", data.findings.length, showFindings]];
    for (const table of data.tables) {
      pages.push([table.name, table.rowCount || "", () => showTable(table)]);
    }
    const buttons = pages.map(([name, count, show]) => {
      const button = make("button", name);
      button.append(make("small", count));
      button.onclick = () => {
        for (const each of buttons) each.setAttribute("aria-current", each === button);
        content.replaceChildren();
        location.hash = encodeURIComponent(name);
        show();
      };
      list.append(button);
      return button;
    });
    document.getElementById("find").oninput = event => {
      const text = event.target.value.toLowerCase();
      buttons.slice(2).forEach((button, index) => {
        button.hidden = !data.tables[index].name.toLowerCase().includes(text);
      });
    };
    // The address of a table can be kept, and opened again.
    const chosen = pages.findIndex(([name]) => "#" + encodeURIComponent(name) === location.hash);
    buttons[Math.max(0, chosen)].click();
    """#
}

extension String {
  fileprivate var escapedForHTML: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
