import Base
import Radio
import Store

/// Turns acknowledged bytes into progress reports, about one a second.
struct TransferMeter {
    private static let pause = Duration.seconds(1)
    private static let pauseInJournal = Duration.seconds(5)

    private let total: Int
    private let before: Int
    /// The first acknowledgement: what comes before it, such as erasing, is no part of the rate.
    private var first: (position: Int, moment: Moment)?
    private var reported: Moment?
    private var kept: Moment?

    /// `before` is the size of the parts that the module already has.
    init(total: Int, before: Int) {
        self.total = total
        self.before = before
    }

    mutating func progress(_ heard: UploadProgress, at now: Moment) -> Progress? {
        let position = before + heard.acknowledged
        let first = self.first ?? (position, now)
        self.first = first
        if let reported, reported.duration(to: now) < Self.pause, position < total { return nil }
        reported = now
        let seconds = Double(first.moment.duration(to: now).nanoseconds) / 1e9
        let sent = position - first.position
        let rate = seconds > 0 && sent > 0 ? Double(sent) / seconds : nil
        return Progress(
            acknowledged: ByteCount(count: UInt(position)),
            total: ByteCount(count: UInt(total)),
            resumedFrom: ByteCount(count: UInt(before + heard.resumedFrom)),
            rate: rate,
            remaining: rate.map { .seconds(Double(total - position) / $0) }
        )
    }

    /// Whether progress that was just reported is also written to the journal.
    ///
    /// That spares the disk: after an interruption the module itself says how much it has.
    mutating func isDueInJournal(at now: Moment) -> Bool {
        if let kept, kept.duration(to: now) < Self.pauseInJournal { return false }
        kept = now
        return true
    }
}
