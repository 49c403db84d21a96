// Shows what a lock is and can be told, agrees with it on a secret where there is none yet, and unlocks and locks it.
//
//     swift run UseLock manifests/locks/depot.yaml c0ffee000002 lock.secret
//     swift run UseLock bluez SERIAL SECRET-FILE          the host's own Bluetooth
//     swift run UseLock bluez@ADDRESS SERIAL SECRET-FILE  BlueZ on the bus at this address
//
// SECRET-FILE is made when it is not there: a lock agrees on a secret with anyone who is in reach. Keep it.
// It uses nothing but the library VehicleModules.

import Glibc
import VehicleModules

@main
struct UseLock {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            print("usage: UseLock DEPOT.yaml|bluez|bluez@ADDRESS SERIAL SECRET-FILE")
            exit(64)
        }
        do {
            try await ModuleRadio.on(air(arguments[1])) { radio in
                try await work(radio, arguments[2], arguments[3])
            }
        } catch {
            print("\(error)")
            // What nobody knows is another thing than what was not done.
            exit((error as? ModuleFailure)?.code == .inDoubt ? 2 : 1)
        }
    }

    static func work(_ radio: ModuleRadio, _ serial: String, _ file: String) async throws {
        let secret = try await secret(of: serial, in: file, radio)
        // The calls of a lock.
        try await radio.withLock(serial) { lock in
            print("\(serial) is called \(try await lock.name())")
            print("it hears the networks " + (try await lock.networks()).joined(separator: ", "))
            if let told = try await lock.notification(within: .milliseconds(100)) {
                print("it tells \(told.command)/\(told.namespace) by itself")
            }
            try await lock.setLocked(false, by: secret)
            print(try await lock.isLocked() ? "locked" : "unlocked")
            // A command of one's own, by its number and namespace.
            let answer = try await lock.send(command: 1, namespace: 4)
            print("asked by its number, it says \(answer)")
        }
        // The same as its profile describes it, as for a module of any family.
        let text = secret.withText { ModuleSecret($0) }
        try await radio.withModule(serial, family: "lrdevice", secret: text) { module in
            for feature in await module.features {
                print("  can be told: \(feature.name)\(feature.isSealed ? ", sealed" : "")")
            }
            try await module.perform("auto-lock", "30")
            try await module.perform("lock", "locked")
            for property in await module.properties {
                print("  \(property.name) = \(property.value.map { "\($0)" } ?? "-")")
            }
        }
    }

    /// What stands in the file, or what is agreed on now: it is kept before the lock has it.
    static func secret(
        of serial: String,
        in file: String,
        _ radio: ModuleRadio
    ) async throws -> LockSecret {
        if let text = text(of: file) { return try LockSecret(text) }
        let password = (0..<4).map { _ in String(UInt32.random(in: 0...UInt32.max), radix: 16) }
            .joined()
        return try await radio.withLock(serial) { lock in
            let secret = try await lock.agreeOnSecret(password: password) { secret in
                try secret.withText { try keep($0, in: file) }
            }
            print("\(serial) has a secret now, which is in \(file)")
            return secret
        }
    }

    /// Written whole or not at all, and for its owner only.
    static func keep(_ text: String, in place: String) throws {
        struct NotKept: Error {}
        let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw NotKept() }
        let line = text + "\n"
        let isWritten = write(descriptor, line, line.utf8.count) == line.utf8.count
            && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw NotKept() }
    }

    static func air(_ word: String) -> ModuleAir {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return .simulated(depot: word) }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil)
    }

    /// The first line of a small file.
    static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
