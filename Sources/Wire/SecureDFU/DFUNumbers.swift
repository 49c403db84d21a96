/// The numbers by which the Secure DFU service is found and spoken to (nRF5 SDK 12 to 17).
package enum DFUNumbers {
    package static let service: UInt16 = 0xFE59
    package static let controlPoint = "8ec90001-f315-4f60-9fb8-838830daea50"
    package static let packet = "8ec90002-f315-4f60-9fb8-838830daea50"
    package static let buttonless = "8ec90003-f315-4f60-9fb8-838830daea50"
    package static let buttonlessBonded = "8ec90004-f315-4f60-9fb8-838830daea50"

    /// The packet length for a link: flash is written by words, so a multiple of four.
    package static func packetLength(maximumLength: Int) -> Int {
        max(4, maximumLength / 4 * 4)
    }
}

/// What a transfer is about: the init packet, or the image itself.
package enum DFUObjectType: UInt8, CaseIterable, Sendable {
    case command = 1
    case data = 2
}
