import Base

/// The values of a device besides its images: statistics, settings and files.
package struct SMPServerValues: Equatable, Sendable {
    /// By group, then by name.
    package var statistics: [String: [String: UInt64]] = [:]
    /// The current settings; `saved` are those after the next restart.
    package var settings: [String: [UInt8]] = [:]
    package var saved: [String: [UInt8]] = [:]
    package var files: [String: [UInt8]] = [:]

    package init() {}

    /// The size of all stored values, including their names.
    package var size: Int {
        [settings, saved, files].reduce(0) { sum, values in
            values.reduce(sum) { $0 + $1.key.utf8.count + $1.value.count + 4 }
        }
    }

    mutating func restarted() { settings = saved }
}

extension SMPServer {
    /// The room for values besides the images of a simulated device.
    private static var valuesLimit: Int { 1_024 }

    /// Carries out a request about values, if the device has any of that group.
    mutating func valueResult(
        of header: SMPHeader,
        _ body: CBORValue
    ) throws(Refusal) -> CBORValue {
        typealias Group = SMPNumbers.Group
        switch (header.group, header.command, header.operation) {
        case (Group.statistics, SMPNumbers.Statistics.read, .read)
        where !values.statistics.isEmpty:
            return try statistics(body)
        case (Group.settings, SMPNumbers.Settings.value, .read) where !values.saved.isEmpty:
            return try setting(body)
        case (Group.settings, SMPNumbers.Settings.value, .write) where !values.saved.isEmpty:
            return try setSetting(body)
        case (Group.settings, SMPNumbers.Settings.commit, .write) where !values.saved.isEmpty:
            return .map([])
        case (Group.settings, SMPNumbers.Settings.save, .write) where !values.saved.isEmpty:
            values.saved = values.settings
            return .map([])
        case (Group.files, SMPNumbers.Files.content, .read) where !values.files.isEmpty:
            return try file(body)
        case (Group.files, SMPNumbers.Files.content, .write) where !values.files.isEmpty:
            return try writeFile(body)
        default: throw .code(.notSupported)
        }
    }

    private func statistics(_ body: CBORValue) throws(Refusal) -> CBORValue {
        guard let name = body["name"]?.text else { throw .code(.invalid) }
        guard let fields = values.statistics[name] else {
            throw .value(SMPNumbers.Group.statistics, SMPValueCode.statisticsGroupUnknown)
        }
        let members = fields.sorted { $0.key < $1.key }.map {
            CBORMember(.text($0.key), .unsigned($0.value))
        }
        return .map(["name": .text(name), "fields": .map(members)])
    }

    private func setting(_ body: CBORValue) throws(Refusal) -> CBORValue {
        guard let name = body["name"]?.text else { throw .code(.invalid) }
        guard let value = values.settings[name] else {
            throw .value(SMPNumbers.Group.settings, SMPValueCode.settingUnknown)
        }
        return .map(["val": .bytes(value)])
    }

    private mutating func setSetting(_ body: CBORValue) throws(Refusal) -> CBORValue {
        guard let name = body["name"]?.text, let value = body["val"]?.bytes else {
            throw .code(.invalid)
        }
        let root = name.prefix { $0 != "/" }
        guard values.settings.keys.contains(where: { $0.prefix { $0 != "/" } == root }) else {
            throw .value(SMPNumbers.Group.settings, SMPValueCode.settingRootUnknown)
        }
        var changed = values
        changed.settings[name] = value
        guard changed.size <= Self.valuesLimit else { throw .code(.noMemory) }
        values = changed
        return .map([])
    }

    private func file(_ body: CBORValue) throws(Refusal) -> CBORValue {
        guard let name = body["name"]?.text, let offset = body["off"]?.integer, offset >= 0 else {
            throw .code(.invalid)
        }
        let group = SMPNumbers.Group.files
        guard let content = values.files[name] else {
            throw .value(group, SMPValueCode.fileUnknown)
        }
        guard !content.isEmpty else { throw .value(group, SMPValueCode.fileEmpty) }
        guard offset <= content.count else {
            throw .value(group, SMPValueCode.fileOffset)
        }
        // Leaves room for keys and numbers besides the data.
        let end = min(content.count, offset + max(16, rules.bufferSize - 64))
        return .map([
            "off": .int(offset), "data": .bytes(Array(content[offset..<end])),
            "len": offset == 0 ? .int(content.count) : nil,
        ])
    }

    private mutating func writeFile(_ body: CBORValue) throws(Refusal) -> CBORValue {
        guard let name = body["name"]?.text, let offset = body["off"]?.integer,
            let data = body["data"]?.bytes
        else { throw .code(.invalid) }
        let group = SMPNumbers.Group.files
        var content = offset == 0 ? [] : values.files[name] ?? []
        guard offset == content.count else {
            throw .value(group, SMPValueCode.fileOffset)
        }
        content += data
        var changed = values
        changed.files[name] = content
        guard changed.size <= Self.valuesLimit else {
            throw .value(group, SMPValueCode.fileFull)
        }
        values = changed
        return .map(["off": .int(content.count)])
    }
}
