import Base
import Radio

/// The application of an ESP device on a link: it reports its version and takes images.
final class ESPApplication: ModuleApplication, ImageReceiver {
    private let link: any Link
    private let profile: Profile
    private let time: any Timekeeper
    private let device: ESPReceiver

    init(link: any Link, profile: Profile, time: any Timekeeper) {
        self.link = link
        self.profile = profile
        self.time = time
        device = ESPReceiver(
            link: link,
            time: time,
            answerLimit: profile.answerLimit,
            times: profile.times.upload
        )
    }

    var receiver: (any ImageReceiver)? { self }
    var bytesSent: Int { device.bytesSent }

    private func version() async throws(ModuleError) -> FirmwareVersion? {
        guard case .information(let short) = profile.target(of: .secondary)?.version else {
            return nil
        }
        let characteristic = DeviceInformation.characteristic(short)
        do throws(RadioError) {
            let deadline = time.now.advanced(by: profile.answerLimit)
            let bytes = try await link.read(characteristic, before: deadline)
            return FirmwareVersion(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        } catch { throw .radio(error) }
    }

    func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection {
        Inspection(
            firmware: ModuleFirmware(
                family: .esp,
                type: nil,
                variant: nil,
                version: try await version()
            )
        )
    }

    func observe(
        _ order: UpdateOrder,
        at moment: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> Observation {
        await time.wait(until: moment, for: "the next look at the device", unless: isStopped)
        return Observation(ongoing: false, version: try await version())
    }

    func prepare(_ order: UpdateOrder) async throws(ModuleError) {}

    /// The device keeps an image that runs well, or returns to the old one; no command controls
    /// this.
    func confirm(_ order: UpdateOrder) async throws(ModuleError) {}

    func rollBack(_ order: UpdateOrder) async throws(ModuleError) {
        throw .value("the device cannot be told to go back")
    }

    // MARK: Receiving

    func probe(_ order: UpdateOrder) async throws(ModuleError) -> UpdateProbe {
        guard let part = order.parts.first, order.parts.count == 1 else {
            throw .value("an image of an ESP device has one part")
        }
        let running = try await version()
        if let own = try? ESPImage(part.firmware), running != nil,
            FirmwareVersion(own.version) == running
        {
            return UpdateProbe(holdings: [.running])
        }
        guard let wanted = try await device.wantedSector(), wanted > 0 else {
            return .nothing(parts: 1)
        }
        let there = wanted * ESPNumbers.sectorLength
        return UpdateProbe(holdings: [.unnamed(min(there, part.size))])
    }

    func transfer(
        _ part: Int,
        of order: UpdateOrder,
        pace: Int,
        from start: TransferStart,
        unless isStopped: @Sendable () -> Bool,
        progress: (UploadProgress) async -> Void
    ) async throws(ModuleError) -> TransferEnd {
        try await device.transfer(
            order.parts[part].firmware,
            from: start,
            unless: isStopped,
            progress: progress
        )
    }

    func activate(_ order: UpdateOrder) async throws(ModuleError) { try await device.finish() }

    func disconnect() async { await link.disconnect() }
}
