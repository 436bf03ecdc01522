public import Tether

/// An audit of many observers as a page for a browser.
///
/// *Representation*: the audit's JSON in a script element that is not run, and a script that
/// builds the tables from it. The script sets texts, never markup, and the page's policy refuses
/// every address. So a name is shown as it is, whatever it contains.
extension Audit {
    /// The audit as one page of HTML, for hundreds of observers and more: write it to a file, and
    /// open the file in a browser.
    ///
    /// A matrix of the types of owners and the names has the numbers of observers. Yellow stands
    /// for pending deliveries, red for dropped ones. A click on a number shows its observers alone,
    /// the field filters them, and a click on a title sorts them.
    ///
    /// ```swift
    /// func writeAudit() throws {
    ///     let page = Audit.process().html()
    ///     try page.write(toFile: "audit.html", atomically: true, encoding: .utf8)
    /// }
    /// ```
    public func html() -> String {
        // JSON has this character in strings only.
        let data = json().replacing("<", with: "\\u003c")
        return Audit.page.replacing("AUDIT", with: data, maxReplacements: 1)
    }

    private static let page = #"""
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy"
            content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>Observers</title>
        <style>
        :root { color-scheme: light dark }
        body { font: 14px Helvetica, Arial, sans-serif; margin: 20px }
        h1 { font-size: 20px }
        input { font: inherit; padding: 4px 8px; width: min(24em, 100%) }
        .wide { overflow-x: auto; margin: 12px 0 }
        table { border-collapse: collapse }
        td, th { padding: 3px 8px; text-align: left; border-bottom: 1px solid #8884; unicode-bidi: isolate }
        #rows th, #matrix td, #choice { cursor: pointer }
        #rows td, #matrix th { overflow-wrap: anywhere; min-width: 6em }
        #matrix td { text-align: center; border: 1px solid #8883; min-width: 26px }
        #matrix thead th { writing-mode: vertical-rl; transform: rotate(180deg); padding: 8px 2px; height: 16em; min-width: 0 }
        #matrix th { font-weight: 500 }
        .waits { background: #e3b34166 }
        .dropped { background: #c3344466 }
        .muted { background: #8885 }
        .chosen { outline: 2px solid #2a7fb8 }
        </style>
        <h1></h1>
        <p><input type="search" placeholder="owner, name, sender, target or file">
        <span id="count"></span> <span id="choice"></span></p>
        <div class="wide"><table id="matrix"></table></div>
        <div class="wide"><table id="rows"></table></div>
        <script type="application/json" id="audit">AUDIT</script>
        <script>
        "use strict";
        const byId = id => document.getElementById(id);
        const field = document.querySelector("input");
        const mostNames = 40, mostRows = 500;

        const all = JSON.parse(byId("audit").textContent).observers.map(row => ({
            type: row.owner === undefined ? "no owner" : row.owner.replace(/ 0x[0-9a-f]+$/, ""),
            owner: row.owner ?? "none",
            name: row.name ?? "any",
            sender: row.sender ?? "any",
            target: row.target,
            "registered at": row.file + ":" + row.line,
            pending: row.pending,
            dropped: row.dropped,
            notes: [row.isOnce ? "once" : "", row.key === undefined ? "" : "key " + row.key,
                row.muteCount > 0 ? "muted" : ""].filter(Boolean).join(", "),
        }));
        const titles = ["owner", "name", "sender", "target", "registered at", "pending", "dropped", "notes"];
        let sorting = { title: "owner", sign: 1 };
        let choice = null;

        function add(parent, tag, text = "") {
            const child = parent.appendChild(document.createElement(tag));
            child.textContent = text;
            return child;
        }

        const stateOf = rows =>
            rows.some(row => row.dropped > 0) ? "dropped" : rows.some(row => row.pending > 0) ? "waits" : "";

        /// The names with the most observers first; the others are one column.
        function columnsOf(rows) {
            const numbers = new Map();
            for (const row of rows) numbers.set(row.name, (numbers.get(row.name) ?? 0) + 1);
            const names = [...numbers.keys()].sort((a, b) => numbers.get(b) - numbers.get(a));
            const columns = names.slice(0, mostNames).map(name => ({ title: name, names: new Set([name]) }));
            const others = names.slice(mostNames);
            if (others.length > 0) columns.push({ title: others.length + " other names", names: new Set(others) });
            return columns;
        }

        function drawMatrix(rows) {
            const matrix = byId("matrix");
            matrix.replaceChildren();
            const columns = columnsOf(rows);
            const head = add(add(matrix, "thead"), "tr");
            add(head, "td");
            for (const column of columns) add(head, "th", column.title);
            const body = add(matrix, "tbody");
            for (const type of [...new Set(rows.map(row => row.type))].sort()) {
                const ofType = rows.filter(row => row.type === type);
                const owners = new Set(ofType.map(row => row.owner)).size;
                const line = add(body, "tr");
                add(line, "th", owners > 1 ? type + " × " + owners : type);
                for (const column of columns) {
                    const found = ofType.filter(row => column.names.has(row.name));
                    const cell = add(line, "td", found.length || "");
                    if (found.length === 0) continue;
                    cell.className = stateOf(found);
                    cell.onclick = () => { choice = { type, column }; draw(); };
                }
            }
        }

        function drawRows(rows) {
            const table = byId("rows");
            table.replaceChildren();
            const head = add(table, "tr");
            for (const title of titles) {
                const arrow = title === sorting.title ? (sorting.sign > 0 ? " ▴" : " ▾") : "";
                add(head, "th", title + arrow).onclick = () => {
                    sorting = { title, sign: title === sorting.title ? -sorting.sign : 1 };
                    draw();
                };
            }
            const order = new Intl.Collator(undefined, { numeric: true });
            const sorted = [...rows].sort(
                (a, b) => sorting.sign * order.compare(String(a[sorting.title]), String(b[sorting.title])));
            for (const row of sorted.slice(0, mostRows)) {
                const line = add(table, "tr");
                line.className = stateOf([row]) || (row.notes.endsWith("muted") ? "muted" : "");
                for (const title of titles) add(line, "td", row[title]);
            }
            if (sorted.length > mostRows) add(add(table, "tr"), "td", "… " + (sorted.length - mostRows) + " more");
        }

        function draw() {
            const words = field.value.toLowerCase().split(" ").filter(Boolean);
            const found = all.filter(row => {
                const text = titles.map(title => row[title]).join(" ").toLowerCase();
                return words.every(word => text.includes(word));
            });
            const shown = choice === null ? found
                : found.filter(row => row.type === choice.type && choice.column.names.has(row.name));
            byId("count").textContent = shown.length + " shown";
            byId("choice").textContent = choice === null ? "" : choice.type + ", " + choice.column.title + " ✕";
            drawMatrix(found);
            drawRows(shown);
        }

        const owners = new Set(all.filter(row => row.type !== "no owner").map(row => row.owner)).size;
        document.querySelector("h1").textContent = all.length + " observers of " + owners + " owners";
        byId("choice").onclick = () => { choice = null; draw(); };
        field.oninput = draw;
        draw();
        </script>
        </html>

        """#
}
