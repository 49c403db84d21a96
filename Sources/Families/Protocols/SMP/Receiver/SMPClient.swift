package import Base
package import Radio

/// A link to a module with SMP, for requests.
package final class SMPClient {
    /// The longest single wait: between two waits, progress is told and `isStopped` is called.
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
        do throws(RadioError) { try await open() } catch {
            if error.endsExchange { throw error }
            return (.failed(.link(error.linkFailure)), 0)
        }
        let upload = SMPUpload(
            file: file,
            image: image,
            sha: sha,
            isBegun: isBegun,
            settings: settings,
            sequence: sequence,
            version: version
        )
        let talk = Monitor(SMPTalk(upload, reassembly, at: time.now))
        defer {
            let end = talk.withLock { $0 }
            (sequence, reassembly) = (end.upload.sequence, end.reassembly)
            bytesSent += end.upload.sent
        }
        var told = 0
        var hasAsked = false
        while true {
            if !hasAsked, isStopped() {
                hasAsked = true
                talk.withLock { $0.stopRequested() }
            }
            let action = talk.withLock { $0.action }
            if case .ended(let ending) = action {
                return (ending, talk.withLock { $0.upload.resumedFrom })
            }
            var fault: RadioError?
            do throws(RadioError) { try await perform(action, talk) } catch {
                fault = error
                talk.withLock { $0.linkFailed(error.linkFailure) }
            }
            let heard = talk.withLock { $0.progress }
            if heard.acknowledged != told { await progress(heard) }
            told = heard.acknowledged
            if let fault, fault.endsExchange { throw fault }
        }
    }

    private func perform(
        _ action: SMPUpload.Action,
        _ talk: Monitor<SMPTalk>
    ) async throws(RadioError) {
        switch action {
        case .send(let bytes):
            try await send(bytes)
            let now = time.now
            talk.withLock { $0.sent(at: now) }
        case .wait:
            try await listen(to: talk)
        case .pause(let moment):
            await time.sleep(until: moment, for: "the module to be less busy")
            let now = time.now
            talk.withLock { $0.pauseOver(at: now) }
        case .ended: break
        }
    }

    /// Waits for messages, most of which are answered where they arrive, for as long as progress
    /// may stay untold.
    private func listen(to talk: Monitor<SMPTalk>) async throws(RadioError) {
        let time = time
        let deadline = talk.withLock { $0.upload.deadline } ?? time.now
        let wake = min(deadline, time.now.advanced(by: Self.patience))
        do throws(RadioError) {
            try await notifications?.next(before: wake) { piece, say in
                let now = time.now
                return talk.withLock { $0.heard(piece, at: now, say) }
            }
        } catch {
            guard error == .timedOut else { throw error }
            let now = max(time.now, wake)
            talk.withLock { $0.heardNothing(at: now) }
        }
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
