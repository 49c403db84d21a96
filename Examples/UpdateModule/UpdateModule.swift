// Updates one module to an image, with a progress bar; when it is run again, it continues where it
// was interrupted.
//
//     swift run UpdateModule manifests/demo/depot.yaml manifests/demo/keys/demo.key 00a000000000000f
//         manifests/demo/city-4.12.0.zip
//     swift run UpdateModule bluez KEY-FILE SERIAL IMAGE          the host's own Bluetooth
//     swift run UpdateModule bluez@ADDRESS KEY-FILE SERIAL IMAGE  BlueZ on the bus at this address
//
// State that must outlive the program is in the current folder: SERIAL.update until the module is
// proven, and update.links for the open links.
// It uses only the library VehicleModules.

import Glibc
import VehicleModules

@main
struct UpdateModule {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let key = text(of: arguments[2]) else {
            print("usage: UpdateModule DEPOT.yaml|bluez|bluez@ADDRESS KEY-FILE SERIAL IMAGE")
            exit(64)
        }
        do {
            let image = try FirmwareImage(path: arguments[4])
            try await ModuleRadio.on(air(arguments[1])) { radio in
                try await work(radio, ModuleSecret(key), arguments[3], image)
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    static func work(
        _ radio: ModuleRadio,
        _ secret: ModuleSecret,
        _ serial: String,
        _ image: FirmwareImage
    ) async throws {
        print("\(image.name) holds \(image.version)")
        let place = serial + ".update"
        let record = text(of: place).flatMap { FirmwareUpdateRecord($0) }
        if let record { print("continues with \(record.image.prefix(8))…") }
        let result = try await radio.withUpdate(
            of: serial,
            to: image,
            secret: secret,
            resuming: record,
            keep: { try keep($0?.text, in: place) }
        ) { update in
            var shown = ""
            for await status in update.statuses where line(status) != shown {
                shown = line(status)
                print(shown)
                // Shown immediately, even without a terminal.
                fflush(nil)
            }
            return try await update.result()
        }
        switch result {
        case .updated(let version): print("\(serial) runs \(version)")
        case .alreadyCurrent: print("\(serial) runs it already")
        case .stopped: print("\(serial) was left at a safe point")
        }
    }

    /// One line for a status; the bar moves with each tenth.
    static func line(_ status: FirmwareUpdateStatus) -> String {
        switch status {
        case .uploading(let progress):
            let tenths = Int(progress.percent / 10)
            let bar =
                String(repeating: "#", count: tenths)
                + String(repeating: ".", count: 10 - tenths)
            return "[\(bar)] \(tenths * 10) %"
        case .failed(let failure): return "failed: \(failure.sentence)"
        case .ended: return "ended"
        case .bluetoothOff: return "Bluetooth is off"
        case .searching, .handshaking, .inspecting, .initiating, .settling, .confirming:
            return "\(status)"
        }
    }

    /// Written completely or not at all; nil removes it.
    static func keep(_ text: String?, in place: String) throws {
        struct NotKept: Error {}
        guard let text else {
            _ = unlink(place)
            return
        }
        let draft = place + ".draft"
        guard let file = fopen(draft, "w") else { throw NotKept() }
        let isWritten =
            fputs(text + "\n", file) >= 0 && fflush(file) == 0
            && fsync(fileno(file)) == 0
        guard fclose(file) == 0, isWritten, rename(draft, place) == 0 else { throw NotKept() }
    }

    static func air(_ word: String) -> ModuleAir {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return .simulated(depot: word) }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil, links: "update.links")
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
