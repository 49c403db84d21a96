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

struct ToggleLED: ModuleFeature {
    static let command = ModuleCommand(1, in: 5)
    let isOn: Bool
    var payload: [UInt8] { [isOn ? 1 : 0] }
}

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
        let known = text(of: file).map { ModuleSecret($0) }
        try await radio.withModule(serial, family: "lrdevice", secret: known) { lock in
            if known == nil { try await agree(with: lock, serial, in: file) }
            print("\(serial) is called \(try await lock.read("name"))")
            print("it hears the networks \(try await lock.read("networks"))")
            // A feature of its profile, which is sealed with the secret.
            try await lock.perform("lock", "unlocked")
            print(try await lock.read("lock"))
            // A command by its number and namespace, and what the lock sends until it has answered.
            let heard = lock.messages()
            let answer = try await lock.send(ModuleCommand(1, in: 4))
            for await message in heard {
                if message.isReply { break }
                print("it tells \(message.command.number)/\(message.command.namespace) by itself")
            }
            print("asked by its number, it says \(answer)")
            // A feature that is a type of this program.
            try await lock.perform(ToggleLED(isOn: true))
            for feature in await lock.features {
                print("  can be told: \(feature.name)\(feature.isSealed ? ", sealed" : "")")
            }
            try await lock.perform("auto-lock", "30")
            try await lock.perform("lock", "locked")
            for property in await lock.properties {
                print("  \(property.name) = \(property.value.map { "\($0)" } ?? "-")")
            }
        }
    }

    /// Agrees on a secret, which is stored before the lock has it.
    static func agree(
        with lock: ConnectedModule,
        _ serial: String,
        in file: String
    ) async throws {
        let password = (0..<4).map { _ in String(UInt32.random(in: 0...UInt32.max), radix: 16) }
            .joined()
        try await lock.agreeOnSecret(password: password) { secret in
            try secret.withText { try keep($0, in: file) }
        }
        print("\(serial) has a secret now, which is in \(file)")
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
