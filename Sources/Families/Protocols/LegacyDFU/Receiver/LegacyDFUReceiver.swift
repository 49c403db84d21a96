package import Base
package import Radio

/// A bootloader with legacy DFU, over one link.
package final class LegacyDFUReceiver: ImageReceiver {
    private let link: any Link
    private let time: any Timekeeper
    private let times: UploadTimes
    private var notifications: (any Subscription)?
    package private(set) var bytesSent = 0
    /// What it has is useless after a lost link, and its application is erased where there is one bank.
    package var keepsReceived: Bool { false }

    package init(link: any Link, time: any Timekeeper, times: UploadTimes = UploadTimes()) {
        self.link = link
        self.time = time
        self.times = times
    }

    /// Finds nothing: no part of an earlier transfer can be used.
    package func probe(_ order: UpdateOrder) async throws(ModuleError) -> UpdateProbe {
        do throws(RadioError) {
            try link.require(LegacyNumbers.controlPoint)
            try link.require(LegacyNumbers.packet)
            _ = try await subscription()
        } catch { throw .radio(error) }
        return .nothing(parts: order.parts.count)
    }

    package func transfer(
        _ part: Int,
        of order: UpdateOrder,
        pace: Int,
        from start: TransferStart,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> TransferEnd {
        let firmware = order.parts[part]
        var machine = LegacyUpload(
            firmware.legacyType,
            initLength: firmware.initPacket.count,
            total: firmware.firmware.count,
            settings: LegacyUpload.Settings(pace: pace, times: times)
        )
        var known = 0
        var action = machine.begin(at: time.now)
        while true {
            if isStopped(), let next = machine.stopRequested(at: time.now) { action = next }
            if case .ended(let ending) = action {
                switch ending {
                case .finished: return .finished(linkHolds: false)
                case .stopped: return .stopped
                case .failed(let error): throw Refusal.of(error)
                }
            }
            let deadline = machine.deadline ?? time.now
            do throws(RadioError) {
                switch action {
                case .write(let request):
                    _ = try await subscription()
                    try await link.write(
                        request.bytes,
                        to: LegacyNumbers.controlPoint,
                        before: deadline
                    )
                    action = machine.written(at: time.now)
                case .send(let load, let range):
                    let bytes = firmware.bytes(of: load)
                    try await send(bytes[range], load, machine.settings.packetLength)
                    action = machine.packetsSent(at: time.now)
                case .wait:
                    let bytes = try await subscription().next(before: deadline)
                    action = machine.notified(bytes, at: time.now)
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
                await progress(UploadProgress(acknowledged: known, resumedFrom: 0))
            }
        }
    }

    private func send(
        _ bytes: ArraySlice<UInt8>,
        _ load: LegacyUpload.Load,
        _ length: Int
    ) async throws(RadioError) {
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = min(start + length, bytes.endIndex)
            try await link.send(Array(bytes[start..<end]), to: LegacyNumbers.packet)
            if load == .image { bytesSent += end - start }
            start = end
        }
    }

    private func subscription() async throws(RadioError) -> any Subscription {
        if let notifications { return notifications }
        let fresh = try await link.subscribe(
            to: LegacyNumbers.controlPoint,
            before: time.now.advanced(by: .seconds(10))
        )
        notifications = fresh
        return fresh
    }

    /// Does nothing: the end of the transfer was the activation.
    package func activate(_ order: UpdateOrder) async throws(ModuleError) {}

    package func disconnect() async { await link.disconnect() }

    /// Translates errors of the upload for the update machine.
    private enum Refusal {
        static func of(_ error: LegacyUploadError) -> ModuleError {
            let failure: LinkFailure? =
                if case .link(_, let failure) = error { failure } else { nil }
            return .exchange(
                ExchangeFault(
                    .transfer,
                    error.failureClass,
                    error.isTooFast ? .tooFast : .plain,
                    link: failure,
                    error.description
                )
            )
        }
    }
}

extension FirmwarePart {
    /// The parts that the image replaces, as the start request names them: a part's number has
    /// these bits.
    var legacyType: LegacyImageType { LegacyImageType(rawValue: UInt8(clamping: image)) }

    fileprivate func bytes(of load: LegacyUpload.Load) -> [UInt8] {
        switch load {
        case .sizes: legacySizes.bytes
        case .initPacket: initPacket
        case .image: firmware
        }
    }

    private var legacySizes: LegacySizes {
        let count = UInt32(clamping: firmware.count)
        switch legacyType {
        case [.softDevice, .bootloader]:
            let first = UInt32(clamping: split ?? 0)
            return LegacySizes(softDevice: first, bootloader: count - min(first, count))
        case .softDevice: return LegacySizes(softDevice: count)
        case .bootloader: return LegacySizes(bootloader: count)
        default: return LegacySizes(application: count)
        }
    }
}
