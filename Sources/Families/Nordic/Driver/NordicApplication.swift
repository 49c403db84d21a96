import Base
import Radio

/// The application of a Nordic device, as the update code uses it: the Device Information service
/// contains its version and model, and every client may start its bootloader.
final class NordicApplication: ModuleApplication {
    private let link: any Link
    private let profile: Profile
    private let time: any Timekeeper

    init(link: any Link, profile: Profile, time: any Timekeeper) {
        self.link = link
        self.profile = profile
        self.time = time
    }

    private var isLegacy: Bool { NordicBootloader.isLegacy(profile) }

    var bootloaderPlace: Peer? {
        // A legacy bootloader is at the same address or at the next one: both are checked.
        isLegacy ? link.peer : ButtonlessDoor(link: link, time: time).place
    }

    var receiver: (any ImageReceiver)? { nil }

    private func text(_ characteristic: Characteristic) async throws(ModuleError) -> String {
        do throws(RadioError) {
            let deadline = time.now.advanced(by: profile.answerLimit)
            let bytes = try await link.read(characteristic, before: deadline)
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        } catch { throw .radio(error) }
    }

    private func version(of part: ModulePart) async throws(ModuleError) -> FirmwareVersion? {
        guard case .information(let short) = profile.target(of: part)?.version else { return nil }
        return FirmwareVersion(try await text(DeviceInformation.characteristic(short)))
    }

    func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection {
        let version = try await version(of: order.target)
        guard version != nil || order.target != .secondary else {
            throw .value("the module reports a version that cannot be read")
        }
        // `fits: {type: …}` can demand a model that is a number.
        let isThere = link.flags(of: DeviceInformation.model) != nil
        let model = isThere ? try await text(DeviceInformation.model) : ""
        return Inspection(
            firmware: ModuleFirmware(
                family: .nordic,
                type: Int(model),
                variant: nil,
                version: version
            )
        )
    }

    func observe(
        _ order: UpdateOrder,
        at moment: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> Observation {
        await time.wait(until: moment, for: "the next look at the module", unless: isStopped)
        return Observation(ongoing: false, version: try await version(of: order.target))
    }

    func prepare(_ order: UpdateOrder) async throws(ModuleError) {
        guard isLegacy else {
            let name = NordicBootloaderName.text(of: order.serial).flatMap { BootloaderName($0) }
            return try await ButtonlessDoor(link: link, time: time).enter(as: name)
        }
        do throws(RadioError) {
            let deadline = time.now.advanced(by: profile.answerLimit)
            try link.require(LegacyNumbers.controlPoint)
            _ = try await link.subscribe(to: LegacyNumbers.controlPoint, before: deadline)
            try await link.write(
                LegacyRequest.start(.application).bytes,
                to: LegacyNumbers.controlPoint,
                before: deadline
            )
        } catch {
            // It may restart before it has confirmed the write.
            guard error == .linkLost || error == .timedOut else { throw .radio(error) }
        }
    }

    /// There is no trial run: the module keeps each image that it accepted.
    func confirm(_ order: UpdateOrder) async throws(ModuleError) {}

    func rollBack(_ order: UpdateOrder) async throws(ModuleError) {
        throw .value("the module cannot go back by itself")
    }

    func disconnect() async { await link.disconnect() }
}
