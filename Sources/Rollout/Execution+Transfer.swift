import Domain
import Journal
import Modules
import Radio
import Reports
import Sessions

/// Sending an image, over as many links as it takes.
extension Execution {
    /// Returns when the module has taken the whole image; each link goes on where it stands.
    func transfer(_ update: UpdateJob, from sighting: ModuleSighting? = nil) async throws(Halt) {
        var done = 0
        var next = sighting
        for (index, part) in update.parts.enumerated() {
            let isLast = index == update.parts.count - 1
            try await send(part, of: update, after: done, isLast: isLast, from: next)
            next = nil
            done += part.firmware.count
        }
    }

    private func send(
        _ part: FirmwarePart,
        of update: UpdateJob,
        after done: Int,
        isLast: Bool,
        from first: ModuleSighting?
    ) async throws(Halt) {
        var best = -1
        var fruitless = 0
        var sighting = first
        while true {
            if depot.stop.isRequested { throw .stopped }
            let found: ModuleSighting
            if let known = sighting { found = known } else { found = try await findBootloader() }
            sighting = nil
            var reached = -1
            let cause: String
            do throws(Halt) {
                try await sendOnce(part, of: update, after: done, from: found) { reached = $0 }
                return
            } catch {
                guard case .failure(.transient, let message) = error else { throw error }
                cause = message
            }
            fruitless = reached > best ? 0 : fruitless + 1
            best = max(best, reached)
            record.interruptions += 1
            depot.events.emit(
                .interrupted(vehicle, cause: cause, count: record.interruptions)
            )
            try await enter(.interrupted)
            guard fruitless < depot.rules.fruitlessTransfers else {
                throw .failure(
                    .transient,
                    "the transfer broke \(fruitless + 1) times without a byte more: \(cause)"
                )
            }
        }
    }

    private func findBootloader() async throws(Halt) -> ModuleSighting {
        let limit = depot.rules.roleChangeTimeout
        try await enter(
            .seeking,
            detail: "its bootloader",
            deadline: ("bootloader to appear", limit)
        )
        let deadline = time.now.advanced(by: limit)
        var applications = 0
        var pause = ReturnPause()
        // However long others had the adapter, it is looked for once.
        repeat {
            try await rest(
                until: min(deadline, time.now.advanced(by: pause.next())),
                .bootloader,
                for: "the module to start its bootloader"
            )
            guard let found = try await seek(for: min(limit, ReturnPause.look)) else { continue }
            if found.role == .bootloader { return found }
            // The application may still be heard in the moment before it restarts.
            applications += 1
            if applications > 3 {
                record.inBootloader = false
                throw .failure(.transient, "the module runs its application, not its bootloader")
            }
        } while time.now < deadline
        throw .failure(.unreachable, "its bootloader was not heard within \(limit.brief)")
    }

    /// One link's worth of transfer.
    private func sendOnce(
        _ part: FirmwarePart,
        of update: UpdateJob,
        after done: Int,
        from sighting: ModuleSighting,
        reached: (Int) -> Void
    ) async throws(Halt) {
        try await enter(
            .connecting,
            detail: "its bootloader",
            deadline: ("connect", depot.rules.connectTimeout)
        )
        let link = try await connect(to: sighting)
        try await enter(.transferring)
        let meter = TransferMeter(
            total: update.size,
            before: done,
            began: time.now
        )
        let uploader = DFUUploader(link: link, time: time)
        let stop = depot.stop
        var journalError: JournalError?
        var best = -1
        let result = await uploader.upload(
            initPacket: part.initPacket,
            firmware: part.firmware,
            unless: { stop.isRequested }
        ) { (heard: UploadProgress) async in
            best = max(best, heard.acknowledged)
            guard let progress = meter.progress(heard, at: time.now) else { return }
            record.acknowledged = progress.acknowledged
            record.updated = time.wallTime
            depot.events.emit(.progress(vehicle, progress))
            do throws(JournalError) {
                try await depot.journal.record(record, durably: false)
            } catch { journalError = error }
        }
        await link.disconnect()
        reached(best)
        bytesSent += uploader.bytesSent
        if let journalError { throw .journal(journalError) }
        switch result {
        case .success(.finished):
            record.acknowledged = ByteCount(count: UInt(done + part.firmware.count))
        case .success(.stopped):
            throw .stopped
        case .failure(.radio(let error)):
            throw Halt(error, "while sending")
        case .failure(.upload(let error)):
            if error.failureClass == .integrity || error.failureClass == .rejected {
                throw .verdict(
                    error.failureClass == .rejected ? .rejected : .failed,
                    error.failureClass,
                    error.description
                )
            }
            throw .failure(error.failureClass, error.description)
        }
    }
}

/// Turns acknowledged bytes into progress that is worth telling: about once a second.
final class TransferMeter {
    private static let pause = Duration.seconds(1)

    private let total: Int
    private let before: Int
    private let began: Moment
    private var told: Moment?

    init(total: Int, before: Int, began: Moment) {
        self.total = total
        self.before = before
        self.began = began
    }

    func progress(_ heard: UploadProgress, at now: Moment) -> Progress? {
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
}
