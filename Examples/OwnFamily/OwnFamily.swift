// Adds lockers, a family of modules that the library does not know, with a protocol of its own:
// finds one, opens it with its code, reads and writes it, follows it, and updates it over SMP.
//
//     swift run OwnFamily bluez CODE.key IMAGE VERSION          the host's own Bluetooth
//     swift run OwnFamily bluez@ADDRESS CODE.key IMAGE VERSION  BlueZ on the bus at this address
//
// What lockers are is in this file: their profile, and their wire. It uses only the library
// VehicleModules.

import Glibc
import VehicleModules

/// A family of modules: what they advertise, which values they have, how they are updated, and the
/// wire behind which the values are.
enum Locker {
    static let family = ModuleFamily("locker", profiles: [profile], wire: LockerWire.self)

    private static let profile: ModuleProfile = """
        profile: generic
        family: locker
        title: Locker
        known-from: its own documents
        advertisement:
          name: "LCK-*"
          service: 10c4e200-5ab1-4a6e-9d1b-3f0a5d2c7e10
          serial: {in: name}
        gatt: {}
        authentication: own
        properties:
          - {name: openings, type: range, access: read-only, read: {value: "0001", bytes: 4}}
          - name: close-after
            type: range
            unit: second
            access: read-write
            read: {value: "0010", bytes: 2}
            write: {value: "0010", bytes: 2, limits: [1, 600]}
          - name: light
            type: states
            access: read-write
            states: {disabled: 0, enabled: 1}
            read: {value: "0011", bytes: 1}
            write: {value: "0011", bytes: 1}
          - {name: color, type: raw, access: read-write,
             read: {value: "0012", bytes: 3}, write: {value: "0012", bytes: 3}}
          - {name: label, type: text, access: read-only, read: {value: "0013", bytes: 16}}
        settle: {quiet: 2s, confirm-gap: 1s}
        firmware:
          - {part: image, protocol: smp}

        """
}

/// The wire of a locker: each request has one reply.
///
/// A request is its kind, the number of a value and its bytes; a reply is the kind with its highest
/// bit set, a status, and bytes.
struct LockerWire: ModuleWire {
    private enum Kind: UInt8 {
        /// Asks for four bytes, which `open` proves to know the code with.
        case greet = 1
        case open, read, write
    }

    private enum Status: UInt8 {
        case done, unknownValue, wrongCode, refused
    }

    struct Malformed: Error, CustomStringConvertible {
        let description = "the locker's reply cannot be read"
    }

    private static let service = "10c4e200-5ab1-4a6e-9d1b-3f0a5d2c7e10"
    private static let request = "10c4e201-5ab1-4a6e-9d1b-3f0a5d2c7e10"
    private static let reply = "10c4e202-5ab1-4a6e-9d1b-3f0a5d2c7e10"

    private let link: ModuleLink
    private let replies: ModuleNotifications

    static func open(_ link: ModuleLink, secret: ModuleSecret?) async throws -> LockerWire {
        let replies = try await link.notifications(of: reply, of: service)
        let wire = LockerWire(link: link, replies: replies)
        let greeting = try await wire.ask(.greet).bytes
        let code = secret?.withText { Array($0.utf8.prefix { $0 > 0x20 }) } ?? []
        guard greeting.count == 4, !code.isEmpty else { throw Malformed() }
        let proof = greeting.indices.map { greeting[$0] ^ code[$0 % code.count] }
        guard try await wire.ask(.open, bytes: proof).status == .done else {
            throw ModuleFailure.wrongSecret
        }
        return wire
    }

    func read(_ number: UInt16) async throws -> [UInt8]? {
        let answer = try await ask(.read, number)
        return answer.status == .done ? answer.bytes : nil
    }

    func write(_ bytes: [UInt8], to number: UInt16) async throws {
        struct Refused: Error {}
        guard try await ask(.write, number, bytes: bytes).status == .done else { throw Refused() }
    }

    private func ask(
        _ kind: Kind,
        _ number: UInt16 = 0,
        bytes: [UInt8] = []
    ) async throws -> (status: Status, bytes: [UInt8]) {
        let head = [kind.rawValue, UInt8(number >> 8), UInt8(number & 0xFF)]
        try await link.write(head + bytes, to: Self.request, of: Self.service)
        let answer = try await replies.next()
        guard answer.count >= 2, answer[0] == kind.rawValue | 0x80,
            let status = Status(rawValue: answer[1])
        else { throw Malformed() }
        return (status, Array(answer.dropFirst(2)))
    }
}

@main
struct OwnFamily {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let air = air(arguments[1]) else {
            print("usage: OwnFamily bluez|bluez@ADDRESS CODE.key IMAGE VERSION")
            exit(64)
        }
        do {
            let code = try secret(in: arguments[2])
            let image = try FirmwareImage(path: arguments[3], version: arguments[4])
            try await ModuleRadio.on(air, families: [Locker.family]) { radio in
                try await work(radio, code, image)
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    static func work(
        _ radio: ModuleRadio,
        _ code: ModuleSecret,
        _ image: FirmwareImage
    ) async throws {
        let lockers = try await radio.withDiscovery(profiles: ["locker/generic"]) { discovery in
            for try await list in discovery.lists where !list.isEmpty { return list }
            return []
        }
        guard let locker = lockers.first else { return print("no locker is in reach") }
        try await radio.withModule(locker, secret: code) { module in
            print("\(locker.serial) runs \(module.firmware?.secondary ?? "nothing known")")
            for property in await module.properties {
                let value = property.value.map { "\($0)" } ?? "-"
                let unit = property.unit.map { " \($0)" } ?? ""
                print("  \(property.name) = \(value)\(unit)")
            }
            let time = try await module.write(.number(120), to: "close-after")
            try await module.write(.bytes([0, 0xFF, 0]), to: "color")
            let lights = try await module.stateValues(of: "light")
            try await module.write(.state("enabled"), to: "light")
            for await light in lights where light == "enabled" { break }
            print("it closes after \(time) seconds, and its light is on")
            let result = try await module.withUpdate(to: image) { try await $0.result() }
            switch result {
            case .updated(let version): print("\(locker.serial) runs \(version) now")
            case .alreadyCurrent: print("\(locker.serial) runs it already")
            case .stopped: print("\(locker.serial) was left at a safe point")
            }
            print("its light is \(try await module.read("light")) still")
        }
    }

    static func air(_ word: String) -> ModuleAir? {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return nil }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil)
    }

    /// The code in the first line of a file.
    static func secret(in path: String) throws -> ModuleSecret {
        struct Unreadable: Error {}
        guard let file = fopen(path, "r"), let line = readLine(from: file) else {
            throw Unreadable()
        }
        return ModuleSecret(line)
    }

    private static func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        guard fgets(&buffer, CInt(buffer.count), file) != nil else { return nil }
        let bytes = buffer.prefix { $0 > 0x20 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
