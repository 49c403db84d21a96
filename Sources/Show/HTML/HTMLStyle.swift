/// The style of the HTML report: light and dark, wide and narrow, in colours that most people can
/// distinguish.
package enum HTMLStyle {
    package static let sheet = """
        :root {
          --ground: #ffffff; --text: #1d2329; --faint: #5b6670; --line: #d6dce1; --card: #f4f6f8;
          --good: #006b52; --wait: #8a5a00; --bad: #b3261e;
          --search: #9aa4ad; --connect: #56b4e9; --transfer: #0072b2; --settle: #e69f00;
          --interrupted: #d55e00; --taken: #d3dde6;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #14181c; --text: #e6eaee; --faint: #9aa6b1; --line: #333c45; --card: #1d2329;
            --good: #4fd1a5; --wait: #f0b94a; --bad: #ff8a80;
            --search: #6b7680; --connect: #7cc7f2; --transfer: #3d9bdc; --settle: #e8ab2a;
            --interrupted: #f0783c; --taken: #34424f;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--text);
          font: 15px/1.45 system-ui, sans-serif; }
        main { max-width: 1180px; margin: 0 auto; padding: 20px 16px 48px; }
        h1 { font-size: 1.6rem; margin: 0 0 4px; overflow-wrap: anywhere; }
        h2 { font-size: 1.1rem; margin: 32px 0 10px; }
        ul { margin: 0; padding: 0; list-style: none; }
        small, .facts, figcaption, .axis { color: var(--faint); }
        .facts { margin: 0 0 10px; overflow-wrap: anywhere; }
        .exit { margin: 0 0 14px; padding: 8px 12px; border-left: 4px solid; background: var(--card); }
        .good { --mark: var(--good); } .wait { --mark: var(--wait); } .bad { --mark: var(--bad); }
        .exit { border-color: var(--mark); }
        .exit b { color: var(--mark); }
        .tiles { display: grid; gap: 10px; grid-template-columns: repeat(auto-fill, minmax(158px, 1fr)); }
        .tiles li { padding: 10px 12px; border-radius: 8px; background: var(--card);
          border-top: 3px solid var(--mark, var(--line)); }
        .tiles b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
        .tiles span { color: var(--mark, var(--faint)); }
        .badge { color: var(--mark); border: 1px solid; border-radius: 999px; padding: 0 8px;
          white-space: nowrap; font-size: .85em; }
        .attention li { padding: 8px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        .measured { color: var(--faint); }
        .waves { margin: 0; padding: 0; list-style: none; }
        .waves li { padding: 4px 0 8px; }
        .bar { display: flex; gap: 1px; height: 12px; margin-top: 4px; }
        .bar i { background: var(--mark, var(--line)); }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-bottom: 8px; }
        .legend i { display: inline-block; width: 12px; height: 12px; margin-right: 6px; }
        .search { fill: var(--search); background: var(--search); }
        .connect { fill: var(--connect); background: var(--connect); }
        .transfer { fill: var(--transfer); background: var(--transfer); }
        .settle { fill: var(--settle); background: var(--settle); }
        .interrupted { fill: var(--interrupted); background: var(--interrupted); }
        .taken { fill: var(--taken); background: var(--taken); }
        figure { margin: 0 0 10px; }
        svg { display: block; width: 100%; background: var(--card); }
        .axis { display: flex; justify-content: space-between; font-size: .85em; }
        table { width: 100%; border-collapse: collapse; }
        th { text-align: left; color: var(--faint); font-weight: 600; }
        th, td { padding: 6px 10px 6px 0; border-bottom: 1px solid var(--line);
          vertical-align: top; font-variant-numeric: tabular-nums; }
        td:nth-child(3), td:nth-child(5), td:nth-child(6) { white-space: nowrap; }
        td:last-child { overflow-wrap: anywhere; }
        @media (max-width: 760px) {
          thead { position: absolute; clip-path: inset(50%); }
          tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); }
          td { display: grid; grid-template-columns: 7.5rem 1fr; border: 0; padding: 2px 0; }
          td::before { content: attr(data-label); color: var(--faint); }
          td > * { justify-self: start; }
          td.none { display: none; }
          td:first-child { font-size: 1.05em; }
        }
        @media print { body { font-size: 11px; } .tiles li, svg { print-color-adjust: exact; } }
        """
}
