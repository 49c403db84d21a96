package import Base
package import Radio

/// A link to a module with SMP, for requests.
package final class SMPClient {
    /// The longest single wait for a message: `isStopped` is called between two waits.
    private static let patience = Duration.seconds(1)
    /// How long the link layer of a device may take to confirm a write.
    private static let writeLimit = Duration.seconds(10)

    private let link: any Link
    private let time: any Timekeeper
    private var notifications: (any Subscription)?
    private var reassembly = SMPReassembly()
    private var sequence: UInt8 = 0
    private var version: UInt8 = 1
    /// Image bytes that were passed to the radio on this link, repeats included.
    package private(set) var bytesSent = 0

    package init(link: any Link, time: any Timekeeper) {
        self.link = link
        self.time = time
    }

    package var maximumLength: Int { link.maximumLength }

    package func disconnect() async { await link.disconnect() }

    // MARK: Questions

    /// Sends one request; faults of the host are thrown, all others are returned.
    package func ask(
        _ request: SMPRequest,
        tries: Int = 3,
        limit: Duration
    ) async throws(RadioError) -> SMPExchange.Ending {
        var machine = SMPExchange(
            request,
            sequence: sequence,
            version: version,
            limit: limit,
            tries: tries
        )
        defer { (sequence, version) = (machine.sequence, machine.version) }
        do throws(RadioError) {
            try await open()
            var action = machine.begin(at: time.now)
            while true {
                switch action {
                case .send(let bytes):
                    try await send(bytes)
                    action = .wait
                case .wait:
                    let deadline = machine.deadline ?? time.now
                    if let frame = try await next(before: deadline) {
                        action = machine.received(frame, at: time.now)
                    } else {
                        reassembly.reset()
                        action = machine.timeout(at: max(time.now, deadline))
                    }
                case .pause(let moment):
                    await time.sleep(until: moment, for: "the module to be less busy")
                    action = machine.pauseOver(at: time.now)
                case .ended(let ending):
                    return ending
                }
            }
        } catch {
            if error.endsExchange { throw error }
            return .link(error.linkFailure)
        }
    }

    /// Asks for the module's buffers, bootloader, slots and images; facts that are `known` are not
    /// requested again.
    package func survey(
        known: SMPFindings? = nil
    ) async throws(RadioError) -> Result<SMPFindings, SMPAskError> {
        var machine = SMPSurvey(maximumLength: link.maximumLength, known: known)
        var action = machine.begin()
        while true {
            switch action {
            case .ask(let request, let tries, let limit):
                action = machine.answered(try await ask(request, tries: tries, limit: limit))
            case .found(let findings): return .success(findings)
            case .failed(let error): return .failure(error)
            }
        }
    }

    // MARK: Upload

    /// Sends the part of a file that the module lacks; `progress` is called whenever it has more
    /// bytes.
    package func upload(
        _ file: [UInt8],
        image: Int = 0,
        sha: [UInt8]?,
        isBegun: Bool = false,
        settings: SMPSettings,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(RadioError) -> (ending: SMPUpload.Ending, resumedFrom: Int) {
        var machine = SMPUpload(
            file: file,
            image: image,
            sha: sha,
            isBegun: isBegun,
            settings: settings,
            sequence: sequence,
            version: version
        )
        defer {
            sequence = machine.sequence
            bytesSent += machine.sent
        }
        do throws(RadioError) {
            try await open()
            let ending = try await run(&machine, isStopped, progress)
            return (ending, machine.resumedFrom)
        } catch {
            if error.endsExchange { throw error }
            guard case .ended(let ending) = machine.linkFailed(error.linkFailure) else {
                return (.failed(.link(error.linkFailure)), machine.resumedFrom)
            }
            return (ending, machine.resumedFrom)
        }
    }

    private func run(
        _ machine: inout SMPUpload,
        _ isStopped: () -> Bool,
        _ progress: (UploadProgress) async -> Void
    ) async throws(RadioError) -> SMPUpload.Ending {
        var known = 0
        var asked = false
        var action = machine.begin(at: time.now)
        while true {
            if !asked, isStopped() {
                asked = true
                // Messages that are on their way stay so: the machine ends when they are answered.
                if case .ended(let ending) = machine.stopRequested() { return ending }
            }
            switch action {
            case .send(let bytes):
                try await send(bytes)
                action = machine.sent(at: time.now)
            case .wait:
                let deadline = machine.deadline ?? time.now
                let wake = min(deadline, time.now.advanced(by: Self.patience))
                if let frame = try await next(before: wake) {
                    action = machine.received(frame, at: time.now)
                } else if wake == deadline {
                    reassembly.reset()
                    action = machine.timeout(at: max(time.now, deadline))
                }
            case .pause(let moment):
                await time.sleep(until: moment, for: "the module to be less busy")
                action = machine.pauseOver(at: time.now)
            case .ended(let ending):
                if machine.acknowledged != known { await progress(Self.progress(machine)) }
                return ending
            }
            if machine.acknowledged != known {
                known = machine.acknowledged
                await progress(Self.progress(machine))
            }
        }
    }

    private static func progress(_ machine: SMPUpload) -> UploadProgress {
        UploadProgress(
            acknowledged: machine.acknowledged,
            resumedFrom: machine.resumedFrom
        )
    }

    /// Whether the link breaks before this moment; messages that arrive meanwhile are skipped.
    package func isLost(before deadline: Moment) async throws(RadioError) -> Bool {
        do throws(RadioError) {
            try await open()
            while time.now < deadline {
                _ = try await next(before: deadline)
            }
            return false
        } catch {
            if error.endsExchange { throw error }
            return true
        }
    }

    // MARK: Messages

    private func open() async throws(RadioError) {
        guard notifications == nil else { return }
        try link.require(SMPNumbers.characteristic)
        notifications = try await link.subscribe(
            to: SMPNumbers.characteristic,
            before: time.now.advanced(by: .seconds(10))
        )
    }

    private func send(_ bytes: [UInt8]) async throws(RadioError) {
        let length = link.maximumLength
        // A device without write commands would drop them unanswered.
        let flags = link.flags(of: SMPNumbers.characteristic) ?? []
        let asksEach = !flags.contains(.writeWithoutResponse) && flags.contains(.write)
        var start = 0
        while start < bytes.count {
            let end = min(start + length, bytes.count)
            let piece = Array(bytes[start..<end])
            if asksEach {
                let limit = time.now.advanced(by: Self.writeLimit)
                try await link.write(piece, to: SMPNumbers.characteristic, before: limit)
            } else {
                try await link.send(piece, to: SMPNumbers.characteristic)
            }
            start = end
        }
    }

    /// The next complete message, nil when none arrived by the deadline.
    private func next(before deadline: Moment) async throws(RadioError) -> SMPFrame? {
        guard let notifications else { return nil }
        while true {
            do throws(RadioError) {
                let piece = try await notifications.next(before: deadline)
                if let frame = reassembly.take(piece) { return frame }
            } catch {
                guard error == .timedOut else { throw error }
                return nil
            }
        }
    }
}
