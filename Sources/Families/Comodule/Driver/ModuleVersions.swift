package import Domain
package import Modules

/// All firmware information that a Comodule module reports.
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
    /// Whether the module sends data to the cloud through us; nil when it does not report this.
    package var sendsToCloud: Bool?
    /// The module is handing an image on to one of its parts.
    package var isOngoing: Bool
}

extension ComoduleClient {
    /// Reads everything that the profile lists; `known` supplies the facts that never change.
    package func versions(
        by profile: Profile,
        known: CachedModule? = nil
    ) async throws(ModuleError) -> ModuleVersions {
        let own = profile.target(of: .secondary)?.version ?? .information(0x2A26)
        var secondary: FirmwareVersion?
        if case .information(let short) = own { secondary = try await version(at: short) }
        let type =
            if let type = known?.type { type as Int? } else {
                Int(try await text(DeviceInformation.hardwareRevision))
            }
        let lacking = known?.lacking ?? []
        var records: [UInt16: ComoduleRecord] = [:]
        records[VersionsRecord.id] = try await record(VersionsRecord.id)
        let fields = profile.firmware.compactMap { target -> ByteField? in
            guard case .record(let field) = target.version else { return nil }
            return field
        }
        let wanted = Set((fields + [profile.cloud].compactMap { $0 }).map(\.register))
        for register in wanted.subtracting(lacking).sorted() where register != VersionsRecord.id {
            records[register] = try await record(register)
        }
        if case .record(let field) = own {
            secondary = records[field.register].flatMap { field.version(in: $0.data) }
        }
        guard let secondary else {
            throw .value("the module reports a version that cannot be read")
        }
        let state = records[VersionsRecord.id].flatMap { VersionsRecord($0) }
        var versions = ModuleVersions(
            type: type,
            variant: Int(state?.variant ?? 0),
            secondary: secondary,
            primary: nil,
            bootloader: nil,
            externals: [],
            sendsToCloud: nil,
            isOngoing: state.map { $0.handoff != 0 } ?? false
        )
        for target in profile.firmware {
            let found: FirmwareVersion?
            switch target.version {
            case .record(let field):
                found = records[field.register].flatMap { field.version(in: $0.data) }
            case .information(let short) where target.part != .secondary:
                found = try await version(at: short)
            case .information, .protocol: continue
            }
            guard let found else { continue }
            switch target.part {
            case .bootloader: versions.bootloader = found
            case .external1, .external2:
                versions.externals.append(.init(part: target.part, version: found))
            case .primary: versions.primary = found
            case .secondary, .image: continue
            }
        }
        if let cloud = profile.cloud, let record = records[cloud.register] {
            versions.sendsToCloud = cloud.unsigned(in: record.data).map { $0 != 0 }
        }
        return versions
    }

    private func version(at short: UInt16) async throws(ModuleError) -> FirmwareVersion? {
        FirmwareVersion(try await text(DeviceInformation.characteristic(short)))
    }
}

extension ByteField {
    /// Reads a version with one byte for each number; nil when all bytes are zero, as for a missing
    /// part.
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
