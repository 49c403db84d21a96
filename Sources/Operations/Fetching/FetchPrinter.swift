package import Base
package import Images

/// Text and bars for images in progress; a value, so that it can be tested without a network.
package struct FetchPrinter {
    /// One image of the plan.
    package struct Row {
        let name: String
        var size: ByteCount?
        fileprivate var origin: Origin?
        fileprivate var count = 0
        fileprivate var from = 0
        fileprivate var began: Moment?
        fileprivate var toldAt: Moment?
        fileprivate var isUnderWay = false
        fileprivate var isDone = false

        package init(name: String, size: ByteCount?) {
            self.name = name
            self.size = size
        }

        /// Bytes a second of this transfer, nil until they can be measured.
        fileprivate func rate(at now: Moment) -> Double? {
            guard let began else { return nil }
            let seconds = Double(began.duration(to: now).nanoseconds) / 1e9
            return seconds >= 0.5 ? Double(count - from) / seconds : nil
        }
    }

    private static let linePause = Duration.seconds(10)
    private static let rowLimit = 12

    private var rows: [Row]
    private let isLive: Bool
    private let isUnicode: Bool
    private let tellsLocalFiles: Bool
    private var drawnLines = 0
    private var began: Moment?

    package init(_ rows: [Row], isLive: Bool, isUnicode: Bool, tellsLocalFiles: Bool) {
        self.rows = rows
        self.isLive = isLive
        self.isUnicode = isUnicode
        self.tellsLocalFiles = tellsLocalFiles
    }

    /// The text to print after this event.
    package mutating func take(_ progress: FetchProgress, of index: Int, at now: Moment) -> String {
        var row = rows[index]
        defer { rows[index] = row }
        switch progress {
        case .present(let size):
            row.size = size
            row.isDone = true
            row.count = size.bytes
            row.from = size.bytes
            return ""
        case .waitingFor(let process):
            let who = process.map { "process \($0)" } ?? "another process"
            return line("\(row.name): \(who) fetches it already, waiting for that")
        case .started(let origin, let from, let total):
            row.origin = origin
            row.size = total ?? row.size
            row.from = from.bytes
            row.count = from.bytes
            row.began = now
            row.toldAt = now
            row.isUnderWay = tells(origin)
            began = began ?? now
            guard tells(origin) else { return "" }
            let rest = from.bytes > 0 ? ", going on at \(from)" : ""
            let size = total.map { ", \($0)" } ?? ""
            return line("\(row.name): from \(origin)\(size)\(rest)")
        case .received(let count, let total):
            row.count = count.bytes
            row.size = total ?? row.size
            guard !isLive, row.isUnderWay, let told = row.toldAt,
                told.duration(to: now) >= Self.linePause
            else { return "" }
            row.toldAt = now
            return line("\(row.name): \(figures(row, now))")
        case .retry(let origin, let pause, let error):
            row.isUnderWay = false
            return line("\(row.name): \(origin): \(error); again in \(pause.brief)")
        case .abandoned(let origin, let error):
            row.isUnderWay = false
            return line("\(row.name): \(origin) is given up: \(error)")
        case .stored(let size):
            row.size = size
            row.count = size.bytes
            row.isDone = true
            row.isUnderWay = false
            guard row.origin.map(tells) ?? true else { return "" }
            let rate = row.rate(at: now).map { ", \(Self.speed($0))" } ?? ""
            return line("\(row.name): in the store, \(size)\(rate)")
        }
    }

    private func tells(_ origin: Origin) -> Bool {
        switch origin {
        case .web: true
        case .file: tellsLocalFiles
        }
    }

    /// A line that stays, above the lines that are redrawn.
    private mutating func line(_ text: String) -> String { erased() + text.visible + "\n" }

    /// Draws the lines of images in progress again; empty when output is no terminal.
    package mutating func draw(width: Int, at now: Moment) -> String {
        guard isLive else { return "" }
        let active = rows.filter(\.isUnderWay)
        guard !active.isEmpty else { return erased() }
        var text = erased()
        var lines = active.prefix(Self.rowLimit).map { "\($0.name)  \(bar($0, width, now))" }
        if rows.count > 1 { lines.append(total(now)) }
        for line in lines { text += String(line.visible.prefix(max(0, width - 1))) + "\n" }
        drawnLines = lines.count
        return text
    }

    package mutating func end() -> String { erased() }

    private mutating func erased() -> String {
        guard drawnLines > 0 else { return "" }
        defer { drawnLines = 0 }
        return "\u{1B}[\(drawnLines)A\r\u{1B}[J"
    }

    private func bar(_ row: Row, _ width: Int, _ now: Moment) -> String {
        let figures = figures(row, now)
        guard let size = row.size, size.bytes > 0 else { return figures }
        let cells = min(30, width - row.name.count - figures.count - 6)
        guard cells >= 5 else { return figures }
        let full = min(cells, Int(Double(cells) * Double(row.count) / Double(size.bytes)))
        let (done, open) = isUnicode ? ("█", "░") : ("#", "-")
        return "[" + String(repeating: done, count: full)
            + String(repeating: open, count: cells - full) + "] " + figures
    }

    private func figures(_ row: Row, _ now: Moment) -> String {
        Self.figures(row.count, row.size?.bytes, row.rate(at: now))
    }

    /// Counts only images of known size.
    private func total(_ now: Moment) -> String {
        let done = rows.count(where: \.isDone)
        let count = rows.reduce(0) { $0 + $1.count }
        let sizes = rows.map(\.size?.bytes)
        let size = sizes.contains(nil) ? nil : sizes.compactMap { $0 }.reduce(0, +)
        let fresh = rows.reduce(0) { $0 + $1.count - $1.from }
        let seconds = began.map { Double($0.duration(to: now).nanoseconds) / 1e9 } ?? 0
        let rate = seconds >= 0.5 ? Double(fresh) / seconds : nil
        return "\(done) of \(rows.count) images  \(Self.figures(count, size, rate))"
    }

    private static func figures(_ count: Int, _ size: Int?, _ rate: Double?) -> String {
        let here = ByteCount(count: UInt(max(0, count))).description
        guard let size, size > 0, let total = ByteCount(bytes: size) else {
            return here + (rate.map { "  \(Self.speed($0))" } ?? "")
        }
        let percent = min(100, Int(Double(count) * 100 / Double(size)))
        var text = "\(percent)%  \(here) of \(total)"
        if let rate {
            text += "  \(Self.speed(rate))"
            if rate >= 1, count < size {
                let left = min(Double(size - count) / rate, 1e6)
                text += "  \(Duration.seconds(Int64(left.rounded(.up))).brief) left"
            }
        }
        return text
    }

    private static func speed(_ rate: Double) -> String {
        let bytes = rate.isFinite ? min(max(0, rate), 1e15) : 0
        return ByteCount(count: UInt(bytes)).description + "/s"
    }
}
