package import Domain
package import Modules
import Protocols
package import Radio
package import Sessions
import Wire

/// The application of a Comodule module, as the update code uses it.
package final class ComoduleApplication: ModuleApplication {
    package let client: ComoduleClient
    private let profile: Profile
    private let time: any Timekeeper
    private var holder: ComoduleProperties?

    package init(client: ComoduleClient, profile: Profile, time: any Timekeeper) {
        self.client = client
        self.profile = profile
        self.time = time
    }

    /// The properties that the profile defines for a vehicle of this variant.
    package func properties() async throws(ModuleError) -> (any PropertyHolder)? {
        if let holder { return holder }
        let fresh = ComoduleProperties(
            client: client,
            profile: profile,
            variant: try await client.versions(by: profile).variant,
            time: time
        )
        holder = fresh
        return fresh
    }

    package var bootloaderPlace: Peer? { client.bootloaderPlace }

    package var receiver: (any ImageReceiver)? { nil }

    package func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection {
        let info = FirmwareInfo(try await client.versions(by: profile))
        return Inspection(
            firmware: info.identity(of: order.target),
            isOngoing: info.isOngoing,
            versions: info.versions
        )
    }

    package func observe(
        _ order: UpdateOrder,
        at moment: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> Observation {
        while time.now < moment, !isStopped() {
            let next = min(moment, time.now.advanced(by: .seconds(1)))
            if let record = try await client.notification(before: next),
                let versions = VersionsRecord(record), versions.handoff != 0
            {
                return Observation(ongoing: true, version: nil)
            }
        }
        let info = FirmwareInfo(try await client.versions(by: profile))
        return Observation(ongoing: info.isOngoing, version: info.version(of: order.target))
    }

    package func prepare(_ order: UpdateOrder) async throws(ModuleError) {
        guard let name = BootloaderName(of: order.serial) else {
            throw .value("the serial is too long for a bootloader's name")
        }
        let crc = order.parts.last?.checksums.whole ?? 0
        try await client.announce(order.target.preflight(crc: crc))
        try await client.enterBootloader(as: name)
    }

    /// There is no trial run: the module keeps each image that it accepted.
    package func confirm(_ order: UpdateOrder) async throws(ModuleError) {}

    package func rollBack(_ order: UpdateOrder) async throws(ModuleError) {
        throw .value("the module cannot go back by itself")
    }

    package func disconnect() async { await client.disconnect() }
}

extension ModulePart {
    /// The record that announces the next image to a module.
    func preflight(crc: UInt32) -> PreflightRecord {
        switch self {
        case .secondary, .bootloader: PreflightRecord(target: .own, crc: crc)
        case .primary: PreflightRecord(target: .primary, crc: crc)
        case .external1: PreflightRecord(target: .external, crc: crc, file: 1)
        case .external2: PreflightRecord(target: .external, crc: crc, file: 2)
        }
    }
}
