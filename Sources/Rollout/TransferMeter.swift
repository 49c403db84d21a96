import Domain
import Modules
import Reports

/// Turns acknowledged bytes into progress reports, about one a second.
struct TransferMeter {
    private static let pause = Duration.seconds(1)
    private static let pauseInJournal = Duration.seconds(5)

    private let total: Int
    private let before: Int
    private let began: Moment
    private var told: Moment?
    private var kept: Moment?

    /// `before` is the size of the parts that the module already has.
    init(total: Int, before: Int, began: Moment) {
        self.total = total
        self.before = before
        self.began = began
    }

    mutating func progress(_ heard: UploadProgress, at now: Moment) -> Progress? {
        let position = before + heard.acknowledged
        let from = before + heard.resumedFrom
        if let told, told.duration(to: now) < Self.pause, position < total { return nil }
        told = now
        let seconds = Double(began.duration(to: now).nanoseconds) / 1e9
        let rate = seconds > 0 && position > from ? Double(position - from) / seconds : nil
        return Progress(
            acknowledged: ByteCount(count: UInt(position)),
            total: ByteCount(count: UInt(total)),
            resumedFrom: ByteCount(count: UInt(from)),
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
