import Base

/// A simulated bootloader with legacy DFU: its states, its answers and the image data that it
/// holds.
package struct LegacyDFUTarget: Sendable {
    package struct Rules: Sendable {
        package var deviceType: UInt16 = 0x0052
        /// The version of its SoftDevice.
        package var softDevice: UInt16 = 0x00B6
        /// The longest image that it accepts.
        package var capacity = 1 << 20

        package init() {}
    }

    package enum State: Equatable, Sendable {
        case idle, sizes, ready, initPacket, initialized, data, complete, validated
    }

    package enum Action: Equatable, Sendable {
        case notify([UInt8])
        /// This many bytes are erased before anything that follows.
        case erase(Int)
        /// It restarts into the image.
        case activate(LegacyInitPacket, LegacyImageType)
        /// It restarts without a change.
        case reset
    }

    package let rules: Rules
    package private(set) var state = State.idle
    package private(set) var type: LegacyImageType = []
    package private(set) var expected = 0
    package private(set) var received = 0
    private var isNotifying = false
    private var initPacket: [UInt8] = []
    private var packet: LegacyInitPacket?
    private var checksum: UInt16 = 0xFFFF
    private var interval = 0
    private var packets = 0
    /// A start does not reset it, as in the existing bootloaders.
    private var counter: UInt32 = 0

    package init(rules: Rules = Rules()) { self.rules = rules }

    package mutating func notificationsSwitched(on: Bool) { isNotifying = on }

    /// A restart clears everything; the end of a link does not.
    package mutating func restarted() { self = LegacyDFUTarget(rules: rules) }

    /// Handles a write to the control point; nil when the attribute protocol refuses it because
    /// notifications are off.
    package mutating func controlPointWritten(_ bytes: [UInt8]) -> [Action]? {
        guard isNotifying else { return nil }
        guard let request = LegacyRequest(bytes) else {
            let operation = bytes.first.flatMap { LegacyRequest.Operation(rawValue: $0) }
            return operation.map { [answer($0, .notSupported)] } ?? []
        }
        switch request {
        case .start(let type):
            guard state == .idle else { return [answer(.start, .invalidState)] }
            guard !type.isEmpty else { return [answer(.start, .notSupported)] }
            self.type = type
            state = .sizes
            return []
        case .beginInit:
            guard state == .ready else { return [answer(.initialize, .invalidState)] }
            initPacket = []
            state = .initPacket
            return []
        case .endInit: return [initEnded()]
        case .receipts(let every):
            interval = Int(every)
            return []
        case .receive:
            guard state == .initialized else { return [answer(.receive, .invalidState)] }
            state = .data
            return []
        case .validate: return [validated()]
        case .activate:
            guard state == .validated, let packet else {
                return [answer(.activate, .invalidState)]
            }
            return [.activate(packet, type)]
        case .reset: return [.reset]
        case .reportSize: return [.notify(LegacyAnswer.size(counter).bytes)]
        }
    }

    package mutating func packetWritten(_ bytes: [UInt8]) -> [Action] {
        switch state {
        case .sizes: return sizesCame(bytes)
        case .initPacket:
            guard initPacket.count + bytes.count <= LegacyInitPacket.longest else {
                state = .ready
                return [answer(.initialize, .failed)]
            }
            initPacket += bytes
            return []
        case .data: return dataCame(bytes)
        case .idle, .ready, .initialized, .complete, .validated: return []
        }
    }

    // MARK: Steps

    private func answer(
        _ operation: LegacyRequest.Operation,
        _ result: LegacyResult
    ) -> Action {
        .notify(LegacyAnswer.result(operation, result).bytes)
    }

    private mutating func sizesCame(_ bytes: [UInt8]) -> [Action] {
        state = .idle
        guard let sizes = LegacySizes(bytes) else { return [answer(.start, .notSupported)] }
        let isMixed = sizes.application > 0 && sizes.softDevice + sizes.bootloader > 0
        let words = [sizes.application, sizes.softDevice, sizes.bootloader]
        guard !isMixed, words.allSatisfy({ $0 % 4 == 0 }), sizes.total > 0 else {
            return [answer(.start, .notSupported)]
        }
        guard sizes.total <= UInt64(rules.capacity) else { return [answer(.start, .dataSize)] }
        expected = Int(sizes.total)
        received = 0
        checksum = 0xFFFF
        state = .ready
        return [.erase(expected), answer(.start, .success)]
    }

    private mutating func initEnded() -> Action {
        guard state == .initPacket else { return answer(.initialize, .invalidState) }
        guard let packet = try? LegacyInitPacket(initPacket),
            [rules.deviceType, LegacyInitPacket.any].contains(packet.deviceType),
            packet.softDevices.contains(where: {
                [rules.softDevice, LegacyInitPacket.anySoftDevice].contains($0)
            })
        else {
            state = .ready
            return answer(.initialize, .failed)
        }
        self.packet = packet
        state = .initialized
        return answer(.initialize, .success)
    }

    private mutating func dataCame(_ bytes: [UInt8]) -> [Action] {
        guard bytes.count % 4 == 0, !bytes.isEmpty else { return [answer(.receive, .notSupported)] }
        guard received + bytes.count <= expected else { return [answer(.receive, .dataSize)] }
        received += bytes.count
        counter &+= UInt32(bytes.count)
        checksum = CRC16.of(bytes, from: checksum)
        packets += 1
        if received == expected {
            state = .complete
            return [answer(.receive, .success)]
        }
        guard interval > 0, packets % interval == 0 else { return [] }
        return [.notify(LegacyAnswer.receipt(counter).bytes)]
    }

    private mutating func validated() -> Action {
        guard state == .complete, let packet else { return answer(.validate, .invalidState) }
        switch packet.proof {
        case .crc(let crc) where crc != checksum: return answer(.validate, .crcError)
        case .crc, .sha256, .signed: break
        }
        state = .validated
        return answer(.validate, .success)
    }
}
