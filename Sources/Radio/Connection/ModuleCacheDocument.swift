package import Base

/// The content of a file with what the cache knows about modules: JSON, the module that was
/// connected last at the end.
///
/// Anything else is refused as a whole: what a broken file says is worth less than a new handshake.
package enum ModuleCacheDocument {
    package typealias Modules = [(serial: Serial, module: CachedModule)]

    /// Why a file is not used.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// Another program's file, or one of a later version; it is never written.
        case foreign
        /// It was a cache, and is not complete.
        case broken(String)
        case tooLarge

        package var description: String {
            switch self {
            case .foreign: "it is no cache of modules"
            case .broken(let words): "it is damaged: \(words)"
            case .tooLarge:
                "it is larger than \(ModuleCacheDocument.mostBytes >> 20) MiB"
            }
        }
    }

    /// The most modules that are remembered.
    package static let capacity = 1_000
    /// A thousand modules with a hundred values each have room.
    package static let mostBytes = 16 << 20
    /// The longest name or value; longer ones are not kept.
    private static let longestText = 4_096
    private static let mostReadings = 1_000
    /// With what each such file begins.
    private static let head = Array(#"{"format":"yardmaster-modules","version":1,"#.utf8)

    // MARK: Writing

    /// The document; the modules that were connected longest ago are left out when there are too many.
    package static func bytes(of modules: Modules) -> [UInt8] {
        var rest = modules.suffix(capacity)
        while true {
            let list = JSONValue.array(rest.map { json($0.serial, $0.module) })
            let bytes = head + Array(#""modules":"#.utf8) + list.bytes + Array("}\n".utf8)
            if bytes.count <= mostBytes { return bytes }
            rest = rest.dropFirst((rest.count + 1) / 2)
        }
    }

    private static func json(_ serial: Serial, _ module: CachedModule) -> JSONValue {
        let readings = module.readings.sorted { $0.key < $1.key }.prefix(mostReadings)
            .compactMap { name, reading in json(name, reading) }
        return .object([
            "serial": .string(serial.text),
            "name": module.name.flatMap { text($0) },
            "address": module.peer.flatMap { isAddress($0.handle) ? .string($0.handle) : nil },
            "type": module.type.map { .int($0) },
            "version": module.version.flatMap { text($0) },
            "lacking": .array(module.lacking.sorted().map { .int(Int($0)) }),
            "model": module.model.map { model in
                .object([
                    "family": .string(model.family.rawValue), "profile": .string(model.profile),
                    "variant": model.variant.map { .string($0) },
                ])
            },
            "readings": .array(readings),
        ])
    }

    private static func json(_ name: String, _ reading: CachedModule.Reading) -> JSONValue? {
        let value: (String, JSONValue?) =
            switch reading.value {
            case .number(let number): ("number", number.isFinite ? .number(number) : nil)
            case .state(let word): ("state", text(word))
            case .unknownState(let raw): ("unknown", .string(String(raw)))
            case .bytes(let bytes): ("bytes", text(Hex.text(bytes)))
            }
        guard let name = text(name), let written = value.1 else { return nil }
        return .object([
            JSONMember("property", name), JSONMember(value.0, written),
            JSONMember("time", .integer(reading.time.milliseconds)),
        ])
    }

    private static func text(_ text: String) -> JSONValue? {
        text.utf8.count <= longestText ? .string(text) : nil
    }

    // MARK: Reading

    /// Whether the bytes begin as such a file does, or are the beginning of its beginning.
    package static func isOurs(_ bytes: [UInt8]) -> Bool {
        bytes.prefix(head.count).elementsEqual(head.prefix(bytes.count))
    }

    package static func modules(in bytes: [UInt8]) throws(Fault) -> Modules {
        guard isOurs(bytes) else { throw .foreign }
        guard bytes.count <= mostBytes else { throw .tooLarge }
        let document: JSONValue
        do throws(JSONError) { document = try JSONValue(json: bytes) } catch {
            throw .broken(error.description)
        }
        guard let list = document["modules"]?.array, list.count <= capacity else {
            throw .broken("it has no list of modules")
        }
        var modules: Modules = []
        var seen: Set<Serial> = []
        for item in list {
            guard let serial = item["serial"]?.string.flatMap({ Serial($0) }),
                seen.insert(serial).inserted, let module = module(item)
            else { throw .broken("module \(modules.count + 1) cannot be read") }
            modules.append((serial, module))
        }
        return modules
    }

    private static func module(_ item: JSONValue) -> CachedModule? {
        var module = CachedModule()
        module.name = item["name"]?.string
        module.version = item["version"]?.string
        module.type = item["type"]?.integer.map { Int($0) }
        if let address = item["address"] {
            guard let text = address.string, isAddress(text) else { return nil }
            module.peer = Peer(handle: text)
        }
        for number in item["lacking"]?.array ?? [] {
            guard let register = number.integer.flatMap({ UInt16(exactly: $0) }) else { return nil }
            module.lacking.insert(register)
        }
        if let model = item["model"] {
            guard let family = model["family"]?.string, let profile = model["profile"]?.string
            else { return nil }
            module.model = CachedModule.Model(
                family: Family(rawValue: family),
                profile: profile,
                variant: model["variant"]?.string
            )
        }
        let readings = item["readings"]?.array ?? []
        guard readings.count <= mostReadings else { return nil }
        for reading in readings {
            guard let name = reading["property"]?.string, let value = value(of: reading),
                let time = reading["time"]?.integer, module.readings[name] == nil
            else { return nil }
            module.readings[name] = CachedModule.Reading(
                value,
                at: WallTime(milliseconds: time)
            )
        }
        return module
    }

    private static func value(of reading: JSONValue) -> PropertyValue? {
        if case .number(let number)? = reading["number"] { return .number(number) }
        if let number = reading["number"]?.integer { return .number(Double(number)) }
        if let word = reading["state"]?.string { return .state(word) }
        if let raw = reading["unknown"]?.string { return UInt64(raw).map { .unknownState($0) } }
        return reading["bytes"]?.string.flatMap { Hex.bytes($0) }.map { .bytes($0) }
    }

    /// Six bytes in hex with colons: other handles mean something only to the radio that made them.
    private static func isAddress(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x3A, omittingEmptySubsequences: false)
        return parts.count == 6
            && parts.allSatisfy { part in
                part.count == 2
                    && part.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
            }
    }
}
