package import Domain
package import Modules

/// All that a Comodule module says about its firmware.
package struct ModuleVersions: Sendable, Hashable {
    package struct External: Sendable, Hashable {
        package let part: FirmwareTarget.Part
        package let version: FirmwareVersion
    }

    package var type: Int?
    package var variant: Int
    /// The module's own firmware.
    package var secondary: FirmwareVersion
    package var primary: FirmwareVersion?
    package var bootloader: FirmwareVersion?
    package var externals: [External]
    /// Whether the module sends data to the cloud through us; nil when it does not say.
    package var sendsToCloud: Bool?
    /// It hands an image on to one of its parts.
    package var isOngoing: Bool
}

extension ComoduleClient {
    /// Reads what the profile says can be read; `known` spares what never changes.
    package func versions(
        by profile: Profile,
        known: CachedModule? = nil
    ) async throws(ModuleError) -> ModuleVersions {
        let info = try await firmware(type: known?.type)
        var versions = ModuleVersions(
            type: info.type,
            variant: info.variant,
            secondary: info.secondary,
            primary: info.primary,
            bootloader: nil,
            externals: [],
            sendsToCloud: nil,
            isOngoing: info.isOngoing
        )
        let lacking = known?.lacking ?? []
        var records: [UInt16: ComoduleRecord] = [:]
        let fields = profile.firmware.compactMap { target -> ByteField? in
            guard case .record(let field) = target.version else { return nil }
            return field
        }
        let wanted = Set((fields + [profile.cloud].compactMap { $0 }).map(\.register))
        for register in wanted.subtracting(lacking).sorted() where register != VersionsRecord.id {
            records[register] = try await record(register)
        }
        for target in profile.firmware {
            guard case .record(let field) = target.version, let record = records[field.register],
                let version = field.version(in: record.data)
            else { continue }
            switch target.part {
            case .bootloader: versions.bootloader = version
            case .external1, .external2:
                versions.externals.append(.init(part: target.part, version: version))
            case .primary: versions.primary = version
            case .secondary, .image: continue
            }
        }
        if let cloud = profile.cloud, let record = records[cloud.register] {
            versions.sendsToCloud = cloud.unsigned(in: record.data).map { $0 != 0 }
        }
        return versions
    }
}

extension ByteField {
    /// A version of a byte for each number; nil where all are zero, as for a part that is not there.
    func version(in data: [UInt8]) -> FirmwareVersion? {
        guard let bytes = bytes(in: data), bytes.contains(where: { $0 != 0 }) else { return nil }
        let numbers = (order == .big ? bytes : bytes.reversed()).map(UInt32.init)
        guard numbers.count >= 3 else { return nil }
        return FirmwareVersion(
            numbers[0],
            numbers[1],
            numbers[2],
            build: numbers.count > 3 ? numbers[3] : 0
        )
    }
}
