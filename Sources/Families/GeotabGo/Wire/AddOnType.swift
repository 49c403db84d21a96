/// The type of a frame of the add-on protocol.
package enum AddOnType: UInt8, CaseIterable, Sendable, Hashable {
    // From the vehicle.
    case handshakeRequest = 0x01
    case acknowledgement = 0x02
    case vehicleData = 0x21
    /// The answer to a frame with data: accepted or rejected.
    case reply = 0x22
    case serverPacket = 0x23
    /// Car-share messages to us.
    case messageToHost = 0x24
    case longServerPacket = 0x25
    case protobufToHost = 0x26
    case version = 0x27

    // From us.
    case status = 0x80
    case confirmation = 0x81
    case freeFormat = 0x82
    case vehicleDataAcknowledgement = 0x84
    case vehicleDataRequest = 0x85
    case packetToServer = 0x86
    case priorityStatus = 0x87
    /// Car-share messages to the vehicle.
    case messageToVehicle = 0x88
    case ping = 0x89
    case longPacketToServer = 0x8A
    case versionRequest = 0x8B
    case protobufToVehicle = 0x8C

    /// Whether its length field has two bytes.
    package var isExtended: Bool {
        switch self {
        case .messageToHost, .longServerPacket, .messageToVehicle, .longPacketToServer: true
        case .handshakeRequest, .acknowledgement, .vehicleData, .reply, .serverPacket,
            .protobufToHost, .version, .status, .confirmation, .freeFormat,
            .vehicleDataAcknowledgement, .vehicleDataRequest, .packetToServer, .priorityStatus,
            .ping, .versionRequest, .protobufToVehicle:
            false
        }
    }

    /// The lengths that its body may have.
    package var bodyLengths: ClosedRange<Int> {
        switch self {
        case .handshakeRequest, .acknowledgement, .vehicleDataAcknowledgement,
            .vehicleDataRequest, .ping, .versionRequest:
            0...0
        case .vehicleData: 40...255
        case .reply, .version, .confirmation: 4...4
        case .serverPacket, .packetToServer: 0...255
        case .messageToHost: 0...65_535
        case .longServerPacket: 256...1_000
        case .protobufToHost, .protobufToVehicle: 1...255
        case .status, .priorityStatus: 6...6
        case .freeFormat: 1...27
        case .messageToVehicle: 1...1_024
        case .longPacketToServer: 0...1_000
        }
    }
}
