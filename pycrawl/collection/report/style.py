"""The looks of a report: dark or light as the reader's system is, on wide screens, on telephones and on paper."""

STYLE = """
:root { color-scheme: light dark; --back: #f5f6f8; --card: #fff; --ink: #1c2230; --soft: #5d6678; --line: #e1e4ea;
  --rail: #edf0f4; --fill: #3566c9; --bad: #c2513d; --good: #2f8a5b; }
@media (prefers-color-scheme: dark) { :root { --back: #12151b; --card: #1b2029; --ink: #e6e9ef; --soft: #9aa4b5;
  --line: #2c3340; --rail: #262c37; --fill: #7aa5ff; --bad: #f08a76; --good: #6fcf9b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 20px 48px; }
header h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
header p { margin: 0 0 20px; color: var(--soft); }
.small { columns: 3 350px; column-gap: 16px; margin-bottom: 16px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px;
  margin: 0 0 16px; break-inside: avoid; overflow: hidden; }
h2 { font-size: 15px; margin: 0 0 12px; }
.note { color: var(--soft); font-size: 13px; margin: 12px 0 0; }
.none { color: var(--soft); font-size: 13px; margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(96px, 1fr)); gap: 14px 18px; }
.tiles div { display: flex; flex-direction: column; min-width: 0; }
.tiles b { font-size: 22px; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.tiles span { color: var(--soft); font-size: 13px; }
.tiles + .bars, .bars + .scroll { margin-top: 16px; }
.bars { list-style: none; margin: 0; padding: 0; display: grid; gap: 7px; }
.bars li { display: grid; grid-template-columns: minmax(0, 40%) minmax(30px, 1fr) 112px; gap: 10px;
  align-items: center; }
.bars .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 14px; }
.bars .value { text-align: right; font-variant-numeric: tabular-nums; font-size: 13px; color: var(--soft);
  white-space: nowrap; }
.bar { width: 100%; height: 10px; border-radius: 5px; display: block; }
.rail { fill: var(--rail); } .fill { fill: var(--fill); } .bad .fill { fill: var(--bad); }
.columns { margin: 0; display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 8px; }
.columns svg { width: 100%; height: 170px; display: block; }
.columns .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; font-size: 12px;
  line-height: 1; color: var(--soft); font-variant-numeric: tabular-nums; }
.below { grid-column: 2; display: flex; justify-content: space-between; gap: 8px; font-size: 12px;
  color: var(--soft); }
.below span:last-child:not(:first-child) { text-align: right; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 13px; padding: 0 12px 6px 0; }
td { border-top: 1px solid var(--line); padding: 6px 12px 6px 0; vertical-align: top; overflow-wrap: anywhere; }
thead + tbody tr:first-child td, table > tbody:first-child tr:first-child td { border-top: 1px solid var(--line); }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; padding-right: 0; }
td .soft, .url { color: var(--soft); font-size: 13px; }
.url, code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 12.5px;
  overflow-wrap: anywhere; }
dl { margin: 0; display: grid; grid-template-columns: minmax(120px, 34%) minmax(0, 1fr); gap: 6px 14px;
  font-size: 14px; }
dt { color: var(--soft); overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; }
.good { color: var(--good); } .warn { color: var(--bad); }
@media (max-width: 480px) {
  main { padding: 18px 12px 32px; } .card { padding: 14px; } header h1 { font-size: 22px; }
  dl { grid-template-columns: 1fr; gap: 0; } dt { margin-top: 8px; } .columns svg { height: 130px; }
  .bars li { grid-template-columns: minmax(0, 40%) minmax(24px, 1fr) 104px; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); } td:first-child { min-width: 7.5em; }
}
@media print {
  :root { color-scheme: light; --back: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --rail: #eee;
    --fill: #3566c9; --bad: #c2513d; --good: #2f8a5b; }
  main { max-width: none; padding: 0; } .small { columns: 2 250px; } tr { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  @page { margin: 14mm; }
}
"""
