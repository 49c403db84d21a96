import Base
import Radio

/// A foreign device that advertises: a phone, a watch, a lamp.
final class Stranger: AirDevice {
    private let number: Int
    private let interval: Duration

    init(_ number: Int, every interval: Duration) {
        self.number = number
        self.interval = interval
    }

    var label: String { "stranger-\(number)" }
    var linkParameters: LinkParameters { LinkParameters() }
    var characteristics: [Characteristic: CharacteristicFlags] { [:] }

    var broadcast: Broadcast? {
        let digits = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
        var broadcast = Broadcast(
            address: "D0:00:00:00:"
                + digits.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
        )
        // A company that no profile knows, with data of its own.
        broadcast.manufacturerData = [0x0002: digits + [0x10, 0x05, 0x25, 0x18, 0xD5, 0x0A]]
        broadcast.interval = interval
        broadcast.signal = -50 - number % 45
        return broadcast
    }

    func acceptsConnection() -> Bool { false }
    func linkMade(_ link: AirLink) {}
    func linkLost(_ link: AirLink) {}
    func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        .failure(.readNotPermitted)
    }
    func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        .writeNotPermitted
    }
    func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        .writeNotPermitted
    }
}

extension World {
    /// Adds foreign devices, which fill the air.
    package func addStrangers(_ count: Int, every interval: Duration) {
        for number in 0..<count { add(Stranger(number, every: interval)) }
    }
}
