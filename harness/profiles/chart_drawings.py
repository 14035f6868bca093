"""JavaScript that draws the numbers of Google Charts without the network.

TensorBoard's plugin loads Google Charts from a public host, and its pages stay empty without this library. The script
offers the functions of the library that the plugin calls. It draws tables, bars and lines, and a sentence below each
drawing states that Google Charts would draw it differently.
"""

from typing import Final

SCRIPT: Final = r"""
(() => {
  const COLOURS = ["#3366cc", "#dc3912", "#ff9900", "#109618", "#990099", "#0099c6", "#dd4477", "#66aa00"];
  const MOST = 10;
  const safe = (value) => String(value).replace(/[&<>]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);
  const shown = (value) =>
    typeof value === "number" ? (Math.round(value * 100) / 100).toLocaleString("en-US") : safe(value);
  const block = (width, colour) =>
    `<span style="display:inline-block;height:14px;width:${width}%;background:${colour}"></span>`;

  class DataTable {
    constructor() { this.columns = []; this.rows = []; }
    addColumn(column, name) { this.columns.push(typeof column === "string" ? {type: column, label: name} : column); }
    addRow(row) { this.rows.push(row); }
    addRows(rows) { this.rows.push(...rows); }
    setProperty() {}
    getNumberOfRows() { return this.rows.length; }
    plain() {
      const kept = this.columns.map((column, at) => [column, at]).filter(([column]) => !(column && column.role));
      return {
        heads: kept.map(([column]) => safe((column && (column.label || column.name)) || column || "")),
        rows: this.rows.map((row) => kept.map(([, at]) => row[at])),
      };
    }
  }

  const table = ({heads, rows}) => {
    const cells = (row, tag) => row.map((cell) => `<${tag} style="padding:2px 8px;text-align:left">${cell}</${tag}>`);
    const body = rows.slice(0, MOST).map((row) => `<tr>${cells(row.map(shown), "td").join("")}</tr>`).join("");
    return `<table style="border-collapse:collapse"><tr>${cells(heads, "th").join("")}</tr>${body}</table>`;
  };

  const shares = ({rows}) => {
    const whole = rows.reduce((sum, row) => sum + row[1], 0) || 1;
    const bars = rows.slice(0, MOST).map((row, at) => {
      const bar = block(60 * row[1] / whole, COLOURS[at % COLOURS.length]);
      return `<div>${bar} ${safe(row[0])}: ${shown(row[1])}</div>`;
    });
    return bars.join("");
  };

  const stacked = ({heads, rows}) => {
    const most = Math.max(...rows.map((row) => row.slice(1).reduce((sum, value) => sum + value, 0)), 1e-9);
    const names = heads.slice(1).map((name, at) => `${block(2, COLOURS[at % COLOURS.length])} ${name} `).join("");
    const bars = rows.map((row) => `<div>${safe(row[0])}<br>${row.slice(1).map((value, at) =>
      block(95 * value / most, COLOURS[at % COLOURS.length])).join("")}</div>`).join("");
    return `<div>${names}</div>${bars}`;
  };

  const line = ({heads, rows}) => {
    const [w, h] = [900, 260];
    const end = rows.length ? rows[rows.length - 1][0] : 1;
    const most = Math.max(...rows.map((row) => Math.max(...row.slice(1))), 1e-9);
    const lines = heads.slice(1).map((name, at) => {
      const points = rows.map((row) => `${w * row[0] / end},${h - h * row[at + 1] / most}`).join(" ");
      return `<polyline fill="none" stroke="${COLOURS[at]}" stroke-width="1.5" points="${points}"/>`;
    });
    const ends = `0 to ${shown(end)}: ${heads[0]}; 0 to ${shown(most)}: ${heads.slice(1).join(", ")}`;
    const style = `viewBox="0 0 ${w} ${h}" width="95%" style="border:1px solid #ccc"`;
    return `<svg ${style}>${lines.join("")}</svg><div>${ends}</div>`;
  };

  const DRAWINGS = {
    Table: table, PieChart: shares, LineChart: line,
    ColumnChart: stacked, SteppedAreaChart: stacked, ComboChart: stacked,
  };
  const chart = (kind) => class {
    constructor(element) { this.element = element; }
    draw(data) {
      const drawing = kind in DRAWINGS && data.rows.length ? DRAWINGS[kind](data.plain()) : "";
      const note = drawing ? "drawn by fairclock, not by" : "not drawn, because it needs";
      this.element.innerHTML = `<div style="font:13px sans-serif;line-height:1.5;color:#222">${drawing}` +
        `<i style="color:#777">${kind}: ${note} Google Charts</i></div>`;
    }
    getSelection() { return []; }
    setSelection() {}
    clearChart() { this.element.innerHTML = ""; }
  };
  const visualization = {
    DataTable,
    arrayToDataTable: (rows) => Object.assign(new DataTable(), {columns: rows[0], rows: rows.slice(1)}),
    events: {addListener() {}, removeListener() {}, removeAllListeners() {}},
  };
  for (const kind of [...Object.keys(DRAWINGS), "Timeline"]) visualization[kind] = chart(kind);
  window.google = {charts: {load: () => Promise.resolve()}, visualization};
})();
"""
"""The script. It sets the variable `google`, which the library sets otherwise."""
