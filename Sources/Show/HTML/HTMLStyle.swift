/// The style of every page: light and dark, wide and narrow, on paper, in colours that most people
/// can distinguish.
package enum HTMLStyle {
    package static let sheet: HTML = """
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
        a { color: inherit; }
        code { overflow-wrap: anywhere; white-space: pre-wrap; }
        ul, ol { margin: 0; padding: 0; list-style: none; }
        small, .facts, figcaption, .axis { color: var(--faint); }
        .facts { margin: 0 0 10px; overflow-wrap: anywhere; }
        .made { margin-top: 32px; }
        .lost { color: var(--bad); font-weight: 600; }
        .good { --mark: var(--good); } .wait { --mark: var(--wait); } .bad { --mark: var(--bad); }
        .exit { margin: 0 0 14px; padding: 8px 12px; border-left: 4px solid var(--mark);
          background: var(--card); }
        .exit b { color: var(--mark); }
        .tiles { display: grid; gap: 10px; grid-template-columns: repeat(auto-fill, minmax(132px, 1fr)); }
        .tiles li { padding: 10px 12px; border-radius: 8px; background: var(--card);
          border-top: 3px solid var(--mark, var(--line)); }
        .tiles b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
        .tiles span { color: var(--mark, var(--faint)); }
        .badge { color: var(--mark); border: 1px solid; border-radius: 999px; padding: 0 8px;
          white-space: nowrap; font-size: .85em; }
        .told { margin: 12px 0; padding: 0 0 0 1.2em; list-style: disc; }
        .told li { padding: 2px 0; overflow-wrap: anywhere; }
        .attention li { padding: 8px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        .measured { color: var(--faint); }
        .waves li { padding: 4px 0 8px; }
        progress { width: 100%; height: 12px; accent-color: var(--transfer); }
        figure { margin: 0 0 10px; }
        svg { display: block; width: 100%; background: var(--card); }
        svg .good, svg .wait, svg .bad { fill: var(--mark); }
        .bar { height: 12px; margin-top: 4px; background: var(--line); }
        .plot .line { fill: none; stroke: var(--text); stroke-width: 2; }
        .plot .second { fill: none; stroke: var(--faint); stroke-width: 2; stroke-dasharray: 4 3; }
        .plot .dot { fill: var(--text); }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-bottom: 8px; }
        .legend i { display: inline-block; width: 12px; height: 12px; margin-right: 6px; }
        .search { fill: var(--search); background: var(--search); }
        .connect { fill: var(--connect); background: var(--connect); }
        .transfer { fill: var(--transfer); background: var(--transfer); }
        .settle { fill: var(--settle); background: var(--settle); }
        .interrupted { fill: var(--interrupted); background: var(--interrupted); }
        .taken { fill: var(--taken); background: var(--taken); }
        .axis { display: flex; justify-content: space-between; font-size: .85em; }
        table { width: 100%; border-collapse: collapse; }
        th { text-align: left; color: var(--faint); font-weight: 600; }
        th, td { padding: 6px 10px 6px 0; border-bottom: 1px solid var(--line);
          vertical-align: top; font-variant-numeric: tabular-nums; }
        td { overflow-wrap: anywhere; min-width: 0; }
        .cards { display: grid; gap: 12px; grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); }
        .cards article { padding: 10px 12px; border-radius: 8px; background: var(--card);
          border: 1px solid var(--line); break-inside: avoid; overflow-wrap: anywhere; }
        .cards h3 { margin: 0 0 4px; font-size: 1.1rem; }
        .cards p { margin: 4px 0; }
        .box { display: none; }
        .skip { position: absolute; left: -100vw; }
        .skip:focus { position: static; display: block; padding: 8px 16px; }
        header { border-bottom: 1px solid var(--line); background: var(--card); }
        nav { display: flex; flex-wrap: wrap; gap: 8px; }
        nav a { padding: 12px 8px; min-height: 44px; text-decoration: none; }
        nav a[aria-current] { box-shadow: inset 0 -3px 0 var(--text); font-weight: 600; }
        header nav { max-width: 1180px; margin: 0 auto; padding: 0 8px; gap: 0; }
        .acts { margin: 16px 0; }
        .acts a { border: 1px solid var(--faint); border-radius: 6px; background: var(--card); }
        .acts a[href*="request=abort"] { color: var(--bad); border-color: var(--bad); }
        .pages { gap: 16px; align-items: center; }
        form { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 0 0 16px; }
        label { display: grid; gap: 2px; color: var(--faint); flex: 1 1 180px; min-width: 0; }
        input, select, button { font: inherit; min-height: 44px; padding: 6px 10px; width: 100%;
          color: var(--text); background: var(--ground); border: 1px solid var(--faint); border-radius: 6px; }
        button { width: auto; background: var(--card); }
        .ask { display: grid; max-width: 480px; }
        @media (max-width: 760px) {
          thead { position: absolute; display: block; width: 1px; height: 1px; overflow: hidden;
            clip-path: inset(50%); }
          tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); }
          td { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); border: 0; padding: 2px 0; }
          td::before { content: attr(data-label); color: var(--faint); }
          td > * { justify-self: start; max-width: 100%; }
          td.none { display: none; }
          td:first-child { font-size: 1.05em; }
        }
        @media (min-width: 1000px) {
          td:nth-child(n+2):not(:last-child) { white-space: nowrap; }
        }
        @media print {
          body { font-size: 11px; }
          main { max-width: none; padding: 0; orphans: 1; widows: 1; }
          header, form, .acts, .pages, .skip, #link { display: none; }
          .tiles li, svg { print-color-adjust: exact; }
          section:has(.cards), .cards { display: inline; }
          section:has(.cards) > h2, section:has(.cards) > p, .cards > p { display: none; }
          .cards article { display: inline-block; vertical-align: top; box-sizing: border-box; width: calc(50% - 4mm);
            margin: 0 3mm 5mm 0; min-height: 118mm; border: 1px solid #000; font-size: 12pt; }
          .cards h3 { font-size: 20pt; }
          .cards code, .cards small { display: none; }
          .box { display: block; margin-top: 12pt; }
        }
        """
}
