// Does what each snippet of the documents does on which this library is modelled, one after the other.
//
//     swift run SeedTour AIR KEY-FILE TOKEN-FILE SERVICE IMAGE
//
// AIR is DEPOT.yaml, bluez, or bluez@ADDRESS; SERVICE is the UUID that the vehicle of the token
// searches for. The air has a module of family comodule that IMAGE updates, a lock, and the vehicle.
// `docs/seeds.md` compares the number of lines; a snippet is between `// Seed` and `// End`.
// It uses only the library VehicleModules.

import Glibc
// Seed 001:76, 1 line: the library.
import VehicleModules

// End

// Seed 003:144, 003:152, 003:158, 003:167, 16 lines: a command of your own, as a feature.
struct ToggleLED: ModuleFeature {
    static let command = ModuleCommand(1, in: 5)
    let isOn: Bool
    var payload: [UInt8] { [isOn ? 1 : 0] }
}
// End

/// What the tour gets from its arguments.
struct Luggage: Sendable {
    let secret: ModuleSecret
    let token: VehicleToken
    let service: String
    let image: FirmwareImage
}

@main
struct SeedTour {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let key = text(of: arguments[2]),
            let token = text(of: arguments[3])
        else {
            print(
                "usage: SeedTour DEPOT.yaml|bluez|bluez@ADDRESS KEY-FILE TOKEN-FILE SERVICE IMAGE"
            )
            exit(64)
        }
        do {
            try keep(kiosk, in: "seeds.profiles")
            let luggage = Luggage(
                secret: ModuleSecret(String(key.prefix { $0 != "\n" })),
                token: try VehicleToken(token),
                service: arguments[4],
                image: try FirmwareImage(path: arguments[5])
            )
            try await start(on: air(arguments[1]), luggage)
            print("the tour is over")
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    // Seed 003:90, 11 lines: the numbers of your own devices, in a profile.
    static let kiosk = """
        profile: kiosk
        family: lrdevice
        title: Kiosk
        known-from: its own documents
        advertisement: {company: "ffff", serial: {in: manufacturer-data, at: 0, length: 6, form: hex}}
        gatt:
          messages: {service: \(number(0)), request: \(number(1)), reply: \(number(2))}
        authentication: key-exchange
        """
    // End

    static func number(_ short: Int) -> String { "0000000\(short)-9f34-11ee-8c90-0242ac120002" }

    static func start(on air: ModuleAir, _ luggage: Luggage) async throws {
        // Seed 001:81, 003:105, 17 lines: configure, log to the console, set up.
        try await ModuleRadio.on(air, profiles: "seeds.profiles") { radio in
            radio.logToConsole { print($0) }
            radio.keepLogs(of: [.error, .warning, .info])
            try await tour(radio, luggage)
        }
        // End
    }

    static func tour(_ radio: ModuleRadio, _ luggage: Luggage) async throws {
        guard let serial = try await discover(radio) else {
            return print("no module is in reach")
        }
        try await follow(radio, serial, luggage.secret)
        // Seed 001:175, 5 lines: connect, and hear how that ends.
        try await radio.withModule(serial, secret: luggage.secret) { module in
            try await look(at: module)
            try await write(to: module)
        }
        // End
        try await update(radio, serial, luggage)
        try await useLock(radio)
        try await useVehicle(radio, luggage)
        logs(radio)
    }

    // MARK: Modules

    static func discover(_ radio: ModuleRadio) async throws -> String? {
        // Seed 001:115, 001:125, 001:130, 6 lines: discover modules, and hear what goes wrong.
        let found = try await radio.withDiscovery(profiles: ["comodule/generic"]) { discovery in
            for try await modules in discovery.lists where !modules.isEmpty { return modules }
            return []
        }
        // End
        for module in found { print("found \(module.name) \(module.serial)") }
        return found.first?.serial
    }

    static func follow(
        _ radio: ModuleRadio,
        _ serial: String,
        _ secret: ModuleSecret
    ) async throws {
        try await radio.withConnection(serial, secret: secret) { connection in
            // Seed 001:148, 14 lines: the states of a connection.
            states: for await state in connection.states {
                switch state {
                case .disconnected(let why): if let why { throw why }
                case .connecting(_, _, .bluetoothOff): print("Bluetooth is off")
                case .connecting(_, _, .searching): print("searching")
                case .connecting(_, _, .handshaking): print("handshaking")
                case .connecting(_, _, .firmwareUpdateOngoing): print("updating")
                case .connected(let name, let serial):
                    print("connected to \(name) \(serial)")
                    break states
                }
            }
            // End

            // Seed 001:186, 1 line: disconnect.
            await connection.disconnect()
            // End
        }
    }

    static func look(at module: ConnectedModule) async throws {
        // Seed 001:196, 12 lines: the properties; an empty list while they are not available.
        for await properties in module.propertyLists where !properties.isEmpty {
            for property in properties { print("available property: \(property.name)") }
            break
        }
        // End
        let assist = try await module.property("assist")

        // Seed 001:225, 5 lines: the kind of a property.
        // Longer: words are a kind of their own here.
        switch assist.kind {
        case .range: print("\(assist.name) is a range")
        case .states: print("\(assist.name) has states")
        case .raw: print("\(assist.name) is bytes")
        case .text: print("\(assist.name) is words")
        }
        // End

        // Seed 001:248, 8 lines: a range as it changes.
        for await charge in try await module.properties(named: "state_of_charge") {
            guard let charge else { continue }
            print("\(charge.name) of \(charge.limits as Any)")
            break
        }
        // End

        // Seed 001:270, 11 lines: the speed with its name and unit.
        for await speed in try await module.properties(named: "speed") {
            guard let speed, let value = speed.value else { continue }
            print("\(speed.name) was updated to: \(value) \(speed.unit ?? "")")
            break
        }
        // End

        // Seed 001:288, 8 lines: a state as it changes.
        for await lights in try await module.properties(named: "lights") {
            guard let lights else { continue }
            print("\(lights.name): \(lights.value as Any)")
            break
        }
        // End

        // Seed 001:312, 8 lines: bytes as they change.
        for await motor in try await module.properties(named: "motor_serial") {
            guard let motor else { continue }
            print("\(motor.name): \(motor.value as Any)")
            break
        }
        // End

        // Seed 001:435, 9 lines: the firmware of the module.
        for await firmware in module.firmwareInfos {
            guard let firmware else { continue }
            print("firmware \(firmware.secondary), variant \(firmware.variant)")
            break
        }
        // End
    }

    static func write(to module: ConnectedModule) async throws {
        let lights = try await module.property("lights")

        // Seed 001:337, 15 lines: write a range.
        do { try await module.write(.number(2), to: "assist") } catch { print(error.sentence) }
        // End

        // Seed 001:362, 15 lines: write a state by its name.
        do { try await module.write(.state("enabled"), to: "lights") } catch {
            print(error.sentence)
        }
        // End

        // Seed 001:382, 15 lines: write a state that the module listed.
        guard case .states(let all) = lights.kind, let first = all.first else { return }
        do { try await module.write(.state(first), to: "lights") } catch { print(error.sentence) }
        // End

        // Seed 001:406, 15 lines: write bytes.
        do { try await module.write(.bytes([1, 2, 3, 4]), to: "label") } catch {
            print(error.sentence)
        }
        // End
        for name in ["assist", "lights", "label"] {
            print("\(name) = \(try await module.read(name))")
        }
    }

    static func update(
        _ radio: ModuleRadio,
        _ serial: String,
        _ luggage: Luggage
    ) async throws {
        let image = luggage.image
        let updates: @Sendable (ModuleFirmwareInfo) async -> ModuleUpdateCheck = { firmware in
            firmware.secondary == image.version ? .upToDate : .available(image)
        }
        try await radio.withModule(serial, secret: luggage.secret, updates: updates) { module in
            // Seed 001:463, 11 lines: the status of updates.
            // Longer: a failed check, and an update of a component, have a status of their own here.
            status: for await status in module.updateStatuses {
                switch status {
                case .moduleNotConnected: print("not connected")
                case .fetchingUpdateInfo: print("checking")
                case .checkFailed(let why): print("the check failed: \(why)")
                case .available(let part):
                    print("there is an update of \(part)")
                    break status
                case .upToDate: break status
                case .ongoing(let part, _, let percent): print("\(part): \(percent) %")
                case .moduleUpdatingComponent: print("a component is updated")
                }
            }
            // End

            // Seed 001:485, 1 line: update.
            try await module.updateFirmware()
            // End
            print("firmware \(module.firmware?.secondary ?? "is unknown") now")
        }
    }

    static func logs(_ radio: ModuleRadio) {
        // Seed 001:502, 1 line: the log.
        let lines = radio.logs
        // End

        // Seed 001:507, 1 line: clear the log.
        radio.clearLogs()
        // End

        // Seed 001:518, 1 line: clear the cache.
        radio.clearCache()
        // End
        print("the log had \(lines.isEmpty ? "no lines" : "lines"), and has \(radio.logs.count)")
    }

    // MARK: Locks

    static func useLock(_ radio: ModuleRadio) async throws {
        // Seed 003:115, 003:120, 7 lines: discover devices, and show them.
        let locks = try await radio.withDiscovery(profiles: ["lrdevice/kiosk"]) { discovery in
            for try await list in discovery.lists where !list.isEmpty { return list }
            return []
        }
        for lock in locks { print("found \(lock.name) \(lock.serial)") }
        // End
        guard let lock = locks.first else { return print("no lock is in reach") }

        // Seed 003:130, 1 line: connect to what was discovered.
        try await radio.withModule(lock) { print("\($0.state)") }
        // End
        let serial = lock.serial

        // Seed 003:135, 1 line: connect to a serial that was stored.
        try await radio.withModule(serial, family: "lrdevice") { try await light($0) }
        // End
    }

    static func light(_ lock: ConnectedModule) async throws {
        // Seed 003:179, 4 lines: use a feature.
        try await lock.perform(ToggleLED(isOn: true))
        // End
        print("its light is on")
    }

    // MARK: Vehicles

    static func useVehicle(_ radio: ModuleRadio, _ luggage: Luggage) async throws {
        let (token, service) = (luggage.token, luggage.service)
        try await radio.withVehicle(token) { vehicle in
            // Seed 000:8, 10 lines: send a command, after the one that is sent now.
            try await vehicle.send(.lock)
            // End
            await radio.pause(for: .seconds(5))

            // Seed 000:26, 5 lines: a command that is signed by a token of its own.
            try await vehicle.send(.locate, with: token)
            // End
            await radio.pause(for: .seconds(5))

            // Seed 000:37, 11 lines: whether a command did succeed.
            do throws(ModuleFailure) {
                let statuses = try await vehicle.send(.unlockDriver)
                print("done", statuses)
            } catch { print("failed", error.code, error.statuses) }
            // End
        }
        // Seed 002:12, 43 lines: open a socket, and hear when it closes.
        let configuration = try SocketConfiguration(service: service)
        try await radio.withSocket(configuration) { socket in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await state in socket.states { print("socket: \(words(for: state))") }
                }
                try await exchange(socket)
                socket.close()
                try await group.waitForAll()
            }
        }
        // End
    }

    static func exchange(_ socket: VehicleSocket) async throws {
        // Seed 002:79, 16 lines: the length of a packet, known when the socket is open.
        try await socket.opened()
        print("a packet has a length now: \(socket.maximumLength != nil)")
        // End
        try await socket.send([0x55])
        let bytes = try await socket.receive(within: .seconds(60))
        print("the device \(bytes == nil ? "is silent" : "has written")")
    }

    static func words(for state: SocketState) -> String {
        switch state {
        case .initializing: "initializing"
        case .advertising: "advertising"
        case .connected: "connected"
        case .closed(let why): why?.sentence ?? "closed"
        }
    }

    // MARK: Files

    static func air(_ word: String) -> ModuleAir {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return .simulated(depot: word) }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil)
    }

    /// The content of a small file.
    static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    static func keep(_ profile: String, in folder: String) throws {
        struct NotKept: Error {}
        _ = mkdir(folder, 0o755)
        guard let file = fopen(folder + "/kiosk.yaml", "w") else { throw NotKept() }
        let isWritten = fputs(profile + "\n", file) >= 0
        guard fclose(file) == 0, isWritten else { throw NotKept() }
    }
}
