package import Domain
package import Radio
package import Sessions
import Wire

/// How far an upload is on one link, by the module's own words.
package struct UploadProgress: Sendable, Equatable {
    package let acknowledged: Int
    /// Where this link took the image up.
    package let resumedFrom: Int
}

/// Sends one signed piece of firmware to a bootloader over one link.
package final class DFUUploader {
    package enum End: Sendable, Equatable {
        /// The module has all of it, or had it all when the link ended with the last answer.
        case finished
        /// At a safe point, because it was asked for.
        case stopped(at: Int)
    }

    package enum Failure: Error, Sendable {
        case radio(RadioError)
        case upload(UploadError)
    }

    private let link: any Link
    private let time: any Timekeeper
    /// Image bytes given to the radio on this link, repeats included.
    package private(set) var bytesSent = 0

    package init(link: any Link, time: any Timekeeper) {
        self.link = link
        self.time = time
    }

    /// Sends what the module lacks; `progress` hears of every byte more that it acknowledges.
    package func upload(
        initPacket: [UInt8],
        firmware: [UInt8],
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async -> Result<End, Failure> {
        guard
            let settings = UploadSettings(
                maximumLength: link.maximumLength,
                firstObjectDelay: .zero
            )
        else {
            return .failure(.radio(.tooLong(limit: link.maximumLength)))
        }
        var machine = SecureDFUUpload(
            initPacket: initPacket,
            image: firmware,
            settings: settings
        )
        do throws(RadioError) {
            return try await run(&machine, initPacket, firmware, isStopped, progress)
        } catch {
            bytesSent = machine.sent
            return .failure(.radio(error))
        }
    }

    private func run(
        _ machine: inout SecureDFUUpload,
        _ initPacket: [UInt8],
        _ firmware: [UInt8],
        _ isStopped: () -> Bool,
        _ progress: (UploadProgress) async -> Void
    ) async throws(RadioError) -> Result<End, Failure> {
        let notifications = try await link.subscribe(
            to: DFUNumbers.controlPoint,
            before: time.now.advanced(by: .seconds(10))
        )
        var known = 0
        var asked = false
        var action = machine.begin(at: time.now)
        while true {
            if !asked, isStopped() {
                asked = true
                // What is under way goes on: the machine ends before the next object.
                if case .ended(let ending) = machine.stopRequested() { action = .ended(ending) }
            }
            switch action {
            case .write(let request):
                action = try await event(&machine) { (deadline) async throws(RadioError) in
                    try await link.write(
                        request.bytes,
                        to: DFUNumbers.controlPoint,
                        before: deadline
                    )
                    return { _, _ in .wait }
                }
            case .wait:
                action = try await event(&machine) { (deadline) async throws(RadioError) in
                    let bytes = try await notifications.next(before: deadline)
                    return { $0.response(bytes, at: $1) }
                }
            case .send(let range, let part):
                let bytes = part == .initPacket ? initPacket : firmware
                let length = machine.settings.packetLength
                action = try await event(&machine) { (_) async throws(RadioError) in
                    var start = range.lowerBound
                    while start < range.upperBound {
                        let end = min(start + length, range.upperBound)
                        try await link.send(Array(bytes[start..<end]), to: DFUNumbers.packet)
                        start = end
                    }
                    return { $0.packetsSent(at: $1) }
                }
            case .pause(let moment):
                await time.sleep(until: moment, for: "the bootloader to be ready")
                action = machine.pauseOver(at: time.now)
            case .ended(let ending):
                bytesSent = machine.sent
                return Self.result(of: ending)
            }
            if machine.acknowledged != known {
                known = machine.acknowledged
                await progress(
                    UploadProgress(
                        acknowledged: known,
                        resumedFrom: machine.resumedFrom
                    )
                )
            }
        }
    }

    /// Does one thing with the link and tells the machine how it went.
    private func event(
        _ machine: inout SecureDFUUpload,
        _ body: (Moment) async throws(RadioError) -> (
            (inout SecureDFUUpload, Moment) -> SecureDFUUpload.Action
        )
    ) async throws(RadioError) -> SecureDFUUpload.Action {
        let deadline = machine.deadline ?? time.now
        do throws(RadioError) {
            let told = try await body(deadline)
            return told(&machine, time.now)
        } catch {
            if error.isHostFault || error == .cancelled { throw error }
            guard error == .timedOut else {
                return machine.linkFailed(error.linkFailure, at: time.now)
            }
            return machine.timeout(at: max(time.now, deadline))
        }
    }

    private static func result(of ending: SecureDFUUpload.Ending) -> Result<End, Failure> {
        switch ending {
        case .finished, .finishedOrLost: .success(.finished)
        case .stopped(let offset): .success(.stopped(at: offset))
        case .failed(let error): .failure(.upload(error))
        }
    }
}
