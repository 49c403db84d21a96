/// The capabilities of the two standard streams.
package struct TerminalStyle: Sendable, Equatable {
    /// Whether lines on standard error may be redrawn in place.
    package let isLive: Bool
    package let colourOnOut: Bool
    package let colourOnErr: Bool
    /// Whether characters beyond ASCII are displayed correctly.
    package let isUnicode: Bool
    package let width: Int
    /// The number of lines of the window.
    var height = 24
    /// Whether what scrolls up is not wrapped.
    package var isWide = false

    package init(
        isLive: Bool,
        colourOnOut: Bool,
        colourOnErr: Bool,
        isUnicode: Bool,
        width: Int
    ) {
        self.isLive = isLive
        self.colourOnOut = colourOnOut
        self.colourOnErr = colourOnErr
        self.isUnicode = isUnicode
        self.width = width
    }

    /// Derived from the environment, the streams and the flag; `columns` is nil when unknown.
    package init(
        environment: (String) -> String?,
        outIsTerminal: Bool,
        errIsTerminal: Bool,
        noColor: Bool,
        columns: Int?
    ) {
        func given(_ name: String) -> String? {
            environment(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        let canMove = given("TERM").map { $0 != "dumb" } ?? false
        let mayColour = canMove && !noColor && given("NO_COLOR") == nil
        let locale = (given("LC_ALL") ?? given("LC_CTYPE") ?? given("LANG") ?? "").lowercased()
        self.init(
            isLive: errIsTerminal && canMove,
            colourOnOut: outIsTerminal && mayColour,
            colourOnErr: errIsTerminal && mayColour,
            isUnicode: locale.hasSuffix("utf-8") || locale.hasSuffix("utf8"),
            width: columns.flatMap { $0 > 0 ? $0 : nil } ?? 80
        )
    }

    /// A bar of `cells` cells in brackets, of which the first `full` are filled.
    func bar(_ cells: Int, full: Int) -> String {
        let (done, open) = isUnicode ? ("█", "░") : ("#", "-")
        return "[" + String(repeating: done, count: full)
            + String(repeating: open, count: cells - full) + "]"
    }

    /// A text that fits on a line, with dots for what does not.
    func cut(_ text: String) -> String {
        let text = isUnicode ? text : text.ascii
        let room = max(0, width - 1)
        guard Columns.width(text) > room else { return text }
        let dots = isUnicode ? "…" : "..."
        return Columns.prefix(text, max(0, room - Columns.width(dots))) + dots
    }

    package func with(width: Int, height: Int = 0) -> TerminalStyle {
        var style = TerminalStyle(
            isLive: isLive,
            colourOnOut: colourOnOut,
            colourOnErr: colourOnErr,
            isUnicode: isUnicode,
            width: width > 0 ? width : self.width
        )
        style.height = height > 0 ? height : self.height
        style.isWide = isWide
        return style
    }
}
