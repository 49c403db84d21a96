package import Base
package import Radio

/// The application of a Comodule module, as the update code uses it.
package final class ComoduleApplication: ModuleApplication {
    package let client: ComoduleClient
    private let profile: Profile
    private let time: any Timekeeper
    private var holder: ComoduleProperties?
    /// What is known of the module, where the program follows it.
    private var known: CachedModule?

    package init(
        client: ComoduleClient,
        profile: Profile,
        time: any Timekeeper,
        known: CachedModule? = nil
    ) {
        self.client = client
        self.profile = profile
        self.time = time
        self.known = known
    }

    /// The properties that the profile defines for a vehicle of this variant.
    package func properties() async throws(ModuleError) -> (any PropertyHolder)? {
        try await holdings()
    }

    private func holdings() async throws(ModuleError) -> ComoduleProperties {
        if let holder { return holder }
        let variant =
            if let variant = known?.variant { variant as Int? } else {
                try await client.inspect(by: profile).firmware.variant
            }
        let fresh = ComoduleProperties(
            client: client,
            profile: profile,
            variant: variant,
            time: time
        )
        // Switched on before the first reading, so that no change between the two is missed.
        if known != nil { try await client.listen() }
        holder = fresh
        return fresh
    }

    package func news(
        before moment: Moment,
        asking: Bool
    ) async throws(ModuleError) -> ModuleNews? {
        let properties = try await holdings()
        var news = ModuleNews()
        var record = try await client.notification(before: moment)
        if asking, record?.id != VersionsRecord.id {
            if let record { news.changes = await properties.take(record) }
            record = try await client.record(VersionsRecord.id)
        }
        guard let record else { return news }
        if let versions = VersionsRecord(record) {
            news.isHandingOn = versions.handoff != 0
        } else {
            news.changes += await properties.take(record)
        }
        return news
    }

    package var bootloaderPlace: Peer? { client.bootloaderPlace }

    package var receiver: (any ImageReceiver)? { nil }

    package func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection {
        let found = try await client.inspect(by: profile, for: order.target, known: known)
        known?.variant = found.firmware.variant
        return found
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
        let found = try await client.inspect(by: profile, for: order.target)
        return Observation(ongoing: found.isOngoing, version: found.firmware.version)
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
