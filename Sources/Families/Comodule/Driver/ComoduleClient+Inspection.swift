import Base
import Radio

extension ComoduleClient {
    /// Reads everything that the profile lists, for an image for `target`; `known` supplies the
    /// facts that never change.
    func inspect(
        by profile: Profile,
        for target: ModulePart = .secondary,
        known: CachedModule? = nil
    ) async throws(ModuleError) -> Inspection {
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
        var versions = [ModulePart.secondary: secondary]
        for firmware in profile.firmware {
            let part = ModulePart(rawValue: firmware.part.rawValue)
            guard let part, part != .secondary else { continue }
            switch firmware.version {
            case .record(let field):
                versions[part] = records[field.register].flatMap { field.version(in: $0.data) }
            case .information(let short): versions[part] = try await version(at: short)
            case .protocol: continue
            }
        }
        let cloud = profile.cloud.flatMap { field in
            records[field.register].flatMap { field.unsigned(in: $0.data) }
        }
        return Inspection(
            firmware: ModuleFirmware(
                family: .comodule,
                type: type,
                variant: Int(state?.variant ?? 0),
                version: versions[target]
            ),
            isOngoing: state.map { $0.handoff != 0 } ?? false,
            versions: versions,
            sendsToCloud: cloud.map { $0 != 0 }
        )
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
