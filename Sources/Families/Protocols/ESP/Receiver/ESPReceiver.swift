package import Base
package import Radio

/// The receiving side of an ESP device over one link: its application receives images.
package final class ESPReceiver {
    private static let probeLimit = Duration.seconds(3)

    private let link: any Link
    private let time: any Timekeeper
    private let answerLimit: Duration
    private let times: UploadTimes
    private var acks: (any Subscription)?
    private var answers: (any Subscription)?
    /// The sector that the device waits for; nil when it has not begun.
    private var wanted: Int?
    /// Image bytes that were passed to the radio on this link, repeats included.
    package private(set) var bytesSent = 0

    package init(
        link: any Link,
        time: any Timekeeper,
        answerLimit: Duration = ProfileShape.usualAnswerLimit,
        times: UploadTimes = UploadTimes()
    ) {
        self.times = times
        self.answerLimit = answerLimit
        self.link = link
        self.time = time
    }

    private func open() async throws(RadioError) -> (any Subscription, any Subscription) {
        if let acks, let answers { return (acks, answers) }
        try link.require(ESPNumbers.firmware)
        let deadline = time.now.advanced(by: answerLimit)
        let first = try await link.subscribe(to: ESPNumbers.firmware, before: deadline)
        let second = try await link.subscribe(to: ESPNumbers.command, before: deadline)
        (acks, answers) = (first, second)
        return (first, second)
    }

    /// Invalidates the data that the device holds of a sector: the checksum does not fit.
    private func clear(_ sector: Int, before deadline: Moment) async throws(RadioError) {
        let number = UInt16(clamping: sector)
        let bytes: [UInt8] = [
            UInt8(truncatingIfNeeded: number), UInt8(number >> 8),
            ESPNumbers.lastSequence, 0x5A, 0xA5,
        ]
        try await put(bytes, before: deadline)
    }

    /// Sends one packet: with a response when the characteristic has no other write.
    private func put(
        _ bytes: [UInt8],
        before deadline: Moment
    ) async throws(RadioError) {
        let flags = link.flags(of: ESPNumbers.firmware) ?? []
        if flags.contains(.writeWithoutResponse) {
            try await link.send(bytes, to: ESPNumbers.firmware)
        } else {
            try await link.write(bytes, to: ESPNumbers.firmware, before: deadline)
        }
    }

    /// The sector that the device waits for, of any image; nil when it has not begun.
    package func wantedSector() async throws(ModuleError) -> Int? {
        do throws(RadioError) {
            let (acks, _) = try await open()
            let probe = [
                UInt8(truncatingIfNeeded: ESPNumbers.probeSector),
                UInt8(ESPNumbers.probeSector >> 8), 0,
            ]
            do throws(RadioError) {
                try await put(probe, before: time.now.advanced(by: answerLimit))
            } catch {
                // Some devices refuse the packet and answer it nevertheless.
                guard case .att = error else { throw error }
            }
            let deadline = time.now.advanced(by: Self.probeLimit)
            while true {
                let bytes: [UInt8]
                do throws(RadioError) { bytes = try await acks.next(before: deadline) } catch {
                    guard error == .timedOut else { throw error }
                    wanted = nil
                    return nil
                }
                guard let ack = try? ESPSectorAck(bytes), ack.sector == ESPNumbers.probeSector,
                    ack.status == .sector
                else { continue }
                wanted = Int(ack.wanted)
                return wanted
            }
        } catch { throw .radio(error) }
    }

    package func transfer(
        _ firmware: [UInt8],
        from start: TransferStart,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> TransferEnd {
        // A device that waits for its first sector is stopped and begins again.
        let first = start == .again ? wanted.map { _ in 0 } : wanted
        var machine = ESPUpload(total: firmware.count, wanted: first, times: times)
        var known = -1
        var action = machine.begin(at: time.now)
        while true {
            if isStopped() { machine.stopRequested() }
            if case .ended(let ending) = action {
                return try Self.end(ending)
            }
            let deadline = machine.deadline ?? time.now
            do throws(RadioError) {
                let (acks, answers) = try await open()
                switch action {
                case .command(let command):
                    try await link.write(
                        command.bytes,
                        to: ESPNumbers.command,
                        before: deadline
                    )
                    let bytes = try await answers.next(before: deadline)
                    action = machine.commanded(bytes, at: time.now)
                case .send(let sector):
                    try await send(sector, of: firmware, before: deadline)
                    action = machine.sent(at: time.now)
                case .clear(let sector):
                    try await clear(sector, before: deadline)
                    action = machine.sent(at: time.now)
                case .wait:
                    if case .starting = machine.state {
                        let bytes = try await answers.next(before: deadline)
                        action = machine.commanded(bytes, at: time.now)
                    } else {
                        let bytes = try await acks.next(before: deadline)
                        action = machine.acknowledged(bytes, at: time.now)
                    }
                case .ended: break
                }
            } catch {
                if error.isOurs { throw .radio(error) }
                action =
                    error == .timedOut
                    ? machine.timeout(at: max(time.now, deadline))
                    : machine.linkFailed(error.linkFailure, at: time.now)
            }
            if machine.acknowledged != known {
                known = machine.acknowledged
                await progress(
                    UploadProgress(acknowledged: known, resumedFrom: machine.resumedFrom)
                )
            }
        }
    }

    private func send(
        _ sector: Int,
        of firmware: [UInt8],
        before deadline: Moment
    ) async throws(RadioError) {
        let start = sector * ESPNumbers.sectorLength
        let data = firmware[start..<min(start + ESPNumbers.sectorLength, firmware.count)]
        let packets = ESPPackets.packets(
            sector: UInt16(clamping: sector),
            data,
            maximumLength: link.maximumLength
        )
        for packet in packets { try await put(packet, before: deadline) }
        bytesSent += data.count
    }

    /// Ends the transfer: the device restarts, before or after its answer.
    package func finish() async throws(ModuleError) {
        do throws(RadioError) {
            try await link.write(
                ESPCommand.stop.bytes,
                to: ESPNumbers.command,
                before: time.now.advanced(by: answerLimit)
            )
        } catch {
            // Here an answer, a refusal and no answer have the same meaning.
            if error.isOurs { throw .radio(error) }
        }
    }

    private static func end(_ ending: ESPUpload.Ending) throws(ModuleError) -> TransferEnd {
        switch ending {
        case .finished: return .finished(linkHolds: true)
        case .stopped: return .stopped
        case .failed(let error): throw fault(error)
        }
    }

    private static func fault(_ error: ESPUploadError) -> ModuleError {
        let failure: LinkFailure? = if case .link(let failure) = error { failure } else { nil }
        return .exchange(
            ExchangeFault(
                .transfer,
                error.failureClass,
                .plain,
                link: failure,
                error.description
            )
        )
    }
}
