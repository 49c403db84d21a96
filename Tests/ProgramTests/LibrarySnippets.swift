import VehicleModules

/// The snippets of `docs/library.md` and of the library's documentation comments, copied exactly.
///
/// A snippet that does not compile here would not work for anyone who copies it.
/// `LibraryListingTests` compares them.
enum LibrarySnippets {
    static func show(_ value: some Any) {}

    static func first() async throws {
        try await ModuleRadio.on(.simulated(depot: "depot.yaml")) { radio in
            for module in try await radio.scan(for: .seconds(5)) {
                print(module.serial, module.name)
            }
            let secret = ModuleSecret("d0c5…")
            try await radio.withModule("00a0000000000001", secret: secret) { module in
                print(try await module.read("state_of_charge"))
                try await module.write(.state("enabled"), to: "lights")
                for await value in await module.values(of: "speed") { print(value as Any) }
            }
        }
    }

    static func update(
        _ radio: ModuleRadio,
        _ secret: ModuleSecret
    ) async throws -> FirmwareUpdateResult {
        let image = try FirmwareImage(path: "city-4.12.0.zip")
        let result = try await radio.withUpdate(of: "00a0000000000001", to: image, secret: secret) {
            update in
            for await status in update.statuses {
                if case .uploading(let progress) = status { print(progress.percent) }
            }
            return try await update.result()
        }
        return result
    }

    static func statuses(
        _ radio: ModuleRadio,
        _ image: FirmwareImage,
        _ secret: ModuleSecret
    ) async throws {
        try await radio.withUpdate(of: "00a0000000000001", to: image, secret: secret) { update in
            for await status in update.statuses { show(status) }
            show(try await update.result())
        }
    }

    static func download(_ version: String) async throws -> FirmwareImage {
        try FirmwareImage(path: version)
    }

    static func available(_ radio: ModuleRadio, _ secret: ModuleSecret) async throws {
        let updates: @Sendable (ModuleFirmwareInfo) async -> ModuleUpdateCheck = { firmware in
            firmware.secondary == "4.12.0"
                ? .upToDate : .available(part: "secondary") { try await download("4.12.0") }
        }
        try await radio.withModule("00a0000000000001", secret: secret, updates: updates) { module in
            for await status in module.updateStatuses
            where status == .available(part: "secondary") {
                try await module.updateFirmware()
            }
        }
    }

    static func command(_ radio: ModuleRadio, _ text: String) async throws {
        let token = try VehicleToken(text)
        try await radio.withVehicle(token, serial: "G9-0001") { vehicle in
            try await vehicle.send(.unlockDriver)
        }
    }

    static func unlock(_ radio: ModuleRadio, _ token: VehicleToken) async throws {
        try await radio.withVehicle(token) { vehicle in
            try await vehicle.send(.unlockDriver)
        }
    }

    static func families(_ radio: ModuleRadio, _ secret: ModuleSecret) async throws {
        try await radio.withModule("LMP-0001", family: "mcumgr", profile: "lamp") { module in
            try await module.write(.number(300), to: "rate")
        }
        try await radio.withModule("5a000000000a", family: "lrdevice", secret: secret) { lock in
            try await lock.perform("lock", "unlocked")
        }
    }

    static func values() -> ModuleProfile {
        let lamp: ModuleProfile = [
            "profile": "lamp", "family": "mcumgr", "title": "Lamp", "known-from": "its documents",
            "advertisement": ["name": "LMP-*", "serial": ["in": "name"]],
            "gatt": [
                "management": [
                    "service": "8d53dc1d-1db7-4cd3-868b-8a527460aa84",
                    "smp": "da2e7828-fbce-4e01-ae9e-261174997c48",
                ]
            ],
            "authentication": "none",
        ]
        return lamp
    }

    static func tell(_ module: ConnectedModule) async throws {
        try await module.perform("lock", "unlocked")
    }

    struct ToggleLED: ModuleFeature {
        static let command = ModuleCommand(1, in: 5)
        let isOn: Bool
        var payload: [UInt8] { [isOn ? 1 : 0] }
    }

    static func follow(_ radio: ModuleRadio, _ secret: ModuleSecret) async throws {
        try await radio.withConnection("00a0000000000001", secret: secret) { connection in
            for await state in connection.states {
                show(state)
                if case .connected = state { break }
                if case .disconnected = state { break }
            }
            show(try await connection.connected())
        }
    }
}
