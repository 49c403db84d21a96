// Prints a lock's state and features, agrees with it on a secret if there is none yet, and unlocks
// and locks it.
//
//     swift run UseLock manifests/locks/depot.yaml c0ffee000002 lock.secret
//     swift run UseLock bluez SERIAL SECRET-FILE          the host's own Bluetooth
//     swift run UseLock bluez@ADDRESS SERIAL SECRET-FILE  BlueZ on the bus at this address
//
// SECRET-FILE is created when it does not exist: a lock agrees on a secret with every client in
// reach. Keep it.
// It uses only the library VehicleModules.

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
            // A command in doubt has an exit code of its own: it may have been carried out.
            exit((error as? ModuleFailure)?.code == .inDoubt ? 2 : 1)
        }
    }

    static func work(_ radio: ModuleRadio, _ serial: String, _ file: String) async throws {
        let secret = try await secret(of: serial, in: file, radio)
        // The methods of a lock.
        try await radio.withLock(serial) { lock in
            print("\(serial) is called \(try await lock.name())")
            print("it hears the networks " + (try await lock.networks()).joined(separator: ", "))
            if let told = try await lock.notification(within: .milliseconds(100)) {
                print("it tells \(told.command)/\(told.namespace) by itself")
            }
            try await lock.setLocked(false, by: secret)
            print(try await lock.isLocked() ? "locked" : "unlocked")
            // A command by its number and namespace.
            let answer = try await lock.send(command: 1, namespace: 4)
            print("asked by its number, it says \(answer)")
        }
        // The same through its profile, as for a module of any family.
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

    /// The content of the file, or a new secret: it is stored before the lock has it.
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

    /// Written completely or not at all, and readable for its owner only.
    static func keep(_ text: String, in place: String) throws {
        struct NotKept: Error {}
        let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw NotKept() }
        let line = text + "\n"
        let isWritten =
            write(descriptor, line, line.utf8.count) == line.utf8.count
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
