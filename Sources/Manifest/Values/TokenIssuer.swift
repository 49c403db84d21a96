package import Base

/// The issuer that provides the car-share token of a vehicle when it is needed.
package struct TokenIssuer: Sendable, Equatable {
    package enum Way: Sendable, Equatable {
        /// A program and its arguments; it prints the token.
        case command([String])
        /// An https address, and the reference to the secret that is sent to it as `Authorization:
        /// Bearer`.
        case url(String, key: SecretReference?)
    }

    package let way: Way
    package let place: Place

    init(_ way: Way, at place: Place) {
        self.way = way
        self.place = place
    }

    /// The name for people: the program, or the address without its query.
    package var title: String {
        switch way {
        case .command(let words): "command:" + (words.first ?? "")
        case .url(let url, _): String(url.prefix { $0 != "?" })
        }
    }

    /// The reference to the secret for the request.
    package var key: SecretReference? {
        if case .url(_, let key) = way { return key }
        return nil
    }

    /// The names in braces that stand for values of the vehicle in the fleet list.
    static let names = ["id", "serial", "go-serial", "hardware-id"]

    /// The words of a program, with the vehicle's values filled in.
    package static func words(_ words: [String], for vehicle: PlannedVehicle) -> [String] {
        words.map { Template.fill($0, values(of: vehicle)) }
    }

    /// An address, with the vehicle's values filled in.
    package static func address(_ text: String, for vehicle: PlannedVehicle) -> String {
        Template.fill(text, values(of: vehicle)) { value in
            value.utf8.map { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                    return String(UnicodeScalar(byte))
                default:
                    let digits = String(byte, radix: 16, uppercase: true)
                    return "%" + (digits.utf8.count < 2 ? "0" : "") + digits
                }
            }.joined()
        }
    }

    private static func values(of vehicle: PlannedVehicle) -> [(name: String, value: String)] {
        let values = [
            vehicle.id.text, vehicle.serial.text, vehicle.goSerial?.text ?? vehicle.serial.text,
            vehicle.hardwareID.map { String($0) } ?? "",
        ]
        return zip(names, values).map { (name: $0, value: $1) }
    }
}
