package import Base

/// A module as it is shown: its serial, and its name or a substitute for it.
package struct ModuleName: Sendable, Hashable, CustomStringConvertible {
    package let serial: Serial
    package let name: String

    package init(serial: Serial, name: String) {
        self.serial = serial
        self.name = name
    }

    package var description: String { "\(name) \(serial)" }
}

/// The state of a connection to a module.
package enum ConnectionState: Sendable, Hashable, CustomStringConvertible {
    /// No connection is attempted.
    case disconnected
    /// No operation is allowed yet.
    case connecting(ModuleName, Connecting)
    case connected(ModuleName)

    package enum Connecting: String, Sendable, Hashable, CaseIterable {
        case bluetoothOff = "bluetooth-off"
        case searching, handshaking
        case firmwareUpdateOngoing = "firmware-update-ongoing"
    }

    package var isConnected: Bool {
        if case .connected = self { true } else { false }
    }

    package var description: String {
        switch self {
        case .disconnected: "disconnected"
        case .connecting(let module, let part): "connecting to \(module): \(part.rawValue)"
        case .connected(let module): "connected to \(module)"
        }
    }
}
