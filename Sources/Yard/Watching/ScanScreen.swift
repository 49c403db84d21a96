import Base
package import Operations
package import Radio
import Rollout
package import Show
import Synchronization

/// The display of a scan: a table that is redrawn on a terminal, elsewhere a line for each change.
package final class ScanScreen: Sendable {
    private struct State {
        var heard = HeardModules()
        var present: [String: DiscoveredModule] = [:]
        /// Lines of the table that are on the terminal now.
        var drawn = 0
        var lastDraw: Duration?
    }

    private let console: Console
    private let style: TerminalStyle
    private let isLive: Bool
    private let isSilent: Bool
    private let state = Mutex(State())

    package init(console: Console, style: TerminalStyle, isTerminal: Bool, isSilent: Bool) {
        self.console = console
        self.style = style
        isLive = isTerminal && style.isLive
        self.isSilent = isSilent
    }

    package var heard: HeardModules { state.withLock { $0.heard } }

    /// Remembers a list that may be replaced before it is shown.
    package func remember(_ list: [DiscoveredModule]) {
        state.withLock { $0.heard.hear(list) }
    }

    package func show(_ list: [DiscoveredModule], after time: Duration) {
        let text = state.withLock { state -> String in
            state.heard.hear(list)
            if isSilent { return "" }
            return isLive ? table(list, time, &state) : lines(list, time, &state)
        }
        if !text.isEmpty { console.result(text) }
    }

    /// Prints what was not shown so far.
    package func finish() {
        guard isLive else { return }
        let text = state.withLock { state -> String in
            state.lastDraw = nil
            return table(state.heard.modules, .zero, &state)
        }
        console.result(text)
    }

    private func lines(
        _ list: [DiscoveredModule],
        _ time: Duration,
        _ state: inout State
    ) -> String {
        var text = ""
        for module in list where state.present[module.place] == nil {
            text += "\(time.brief) found \(Self.row(module).joined(separator: " "))\n"
        }
        let now = Set(list.map(\.place))
        for (place, module) in state.present.sorted(by: { $0.key < $1.key })
        where !now.contains(place) {
            text += "\(time.brief) lost \(module.serial)\n"
        }
        state.present = Dictionary(list.map { ($0.place, $0) }) { first, _ in first }
        return text
    }

    private func table(
        _ list: [DiscoveredModule],
        _ time: Duration,
        _ state: inout State
    ) -> String {
        // A few redraws a second are enough.
        if let last = state.lastDraw, time - last < .milliseconds(200) { return "" }
        state.lastDraw = time
        let rows = Columns.table([["serial", "family", "signal", "name"]] + list.map(Self.row))
        let up = state.drawn > 0 ? "\u{1B}[\(state.drawn)A" : ""
        state.drawn = rows.count
        return up + "\u{1B}[J" + rows.map { $0.prefix(style.width) + "\n" }.joined()
    }

    private static func row(_ module: DiscoveredModule) -> [String] {
        [
            module.serial.text, module.family.rawValue, "\(module.signal) dBm",
            module.isInBootloader ? "(in its bootloader)" : module.name,
        ]
    }
}
