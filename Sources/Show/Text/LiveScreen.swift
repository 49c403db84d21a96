import Base

/// Lines that scroll up on a terminal, and below them lines that are redrawn in place.
struct LiveScreen: Sendable {
    /// Ten drawings per second are as fast as a person can follow.
    private static let drawPause = Duration.milliseconds(100)

    private(set) var style: TerminalStyle
    /// Lines that wait for the next drawing.
    private var scrolling: [String] = []
    /// The live lines on the screen, as they were drawn last.
    private var drawn: [String] = []
    private var lastDrawing: Moment?
    /// Whether the screen may have changed since the last drawing.
    private var isTorn = false

    init(_ style: TerminalStyle) { self.style = style }

    /// The window has a new size.
    mutating func resize(width: Int, height: Int) {
        let other = style.with(width: width, height: height)
        isTorn = isTorn || other.width != style.width
        style = other
    }

    /// Something else has written to the screen, and the next drawing is due.
    mutating func tear() { (isTorn, lastDrawing) = (true, nil) }

    /// The lines so far were not shown, and are not to be.
    mutating func forget() { (scrolling, drawn, lastDrawing, isTorn) = ([], [], nil, false) }

    mutating func scroll(_ sentence: String, _ colour: Colour? = nil) {
        let text = style.isUnicode ? sentence : sentence.ascii
        let parts = Columns.wrapped(text, max(20, style.width - 3))
        for (index, part) in parts.enumerated() {
            let line = index == 0 ? part : "  " + part
            scrolling.append(style.colourOnErr ? colour?.paint(line) ?? line : line)
        }
    }

    /// Draws the changes, unless the last drawing was too recent.
    mutating func draw(_ view: LiveView, at now: Moment, wall: WallTime) -> [Output] {
        if let lastDrawing, lastDrawing <= now, now < lastDrawing.advanced(by: Self.drawPause) {
            return []
        }
        let live = view.lines(style, at: wall)
        guard isTorn || !scrolling.isEmpty || live != drawn else { return [] }
        lastDrawing = now
        let text = drawing(of: live)
        scrolling = []
        drawn = live
        isTorn = false
        return text.isEmpty ? [] : [Output(.err, text)]
    }

    /// Removes the live lines.
    mutating func close() -> [Output] {
        let text = erasing() + scrolling.map { $0 + "\n" }.joined()
        forget()
        return text.isEmpty ? [] : [Output(.err, text)]
    }

    /// The bytes that change the screen to `live`, below the scrolling lines.
    ///
    /// An unchanged line is skipped. Each other line is overwritten before the rest of it is
    /// cleared, so no line is ever empty in between, even on a slow connection.
    private func drawing(of live: [String]) -> String {
        guard !drawn.isEmpty else {
            return (scrolling + live).map { $0 + "\n" }.joined()
        }
        if isTorn { return erasing() + (scrolling + live).map { $0 + "\n" }.joined() }
        var text = "\u{1B}[\(drawn.count)A\r"
        for (index, line) in (scrolling + live).enumerated() {
            let stays = scrolling.isEmpty && index < drawn.count && drawn[index] == line
            text += stays ? "\n" : line + "\u{1B}[K\n"
        }
        return scrolling.count + live.count < drawn.count ? text + "\u{1B}[J" : text
    }

    /// Moves to the first live line and clears from there on.
    ///
    /// Terminals wrap lines that have become too wide for them, so the wrapped lines are counted.
    private func erasing() -> String {
        guard !drawn.isEmpty else { return "" }
        let width = max(1, style.width)
        let lines = drawn.reduce(0) { sum, line in
            sum + max(1, (Columns.width(Colour.without(line)) + width - 1) / width)
        }
        return "\u{1B}[\(lines)A\r\u{1B}[J"
    }
}
