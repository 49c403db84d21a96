package import Base
package import Simulation

/// The facts that a Secure DFU bootloader has about the current transfer.
package struct TransferFacts: Equatable, Sendable {
    /// The part of the init packet that has arrived.
    package var initPacket: [UInt8] = []
    /// The size with which the init packet's object was created; nil before that.
    package var initSize: Int?
    package var initAccepted = false
    /// The number of image bytes that have arrived, executed or not.
    package var received = 0
    /// The number of bytes in executed objects.
    package var executed = 0
    package var receivedCRC: UInt32 = 0
    package var executedCRC: UInt32 = 0
    /// The size of the current data object; nil when there is none.
    package var objectSize: Int?

    package init() {}
}

/// What a Secure DFU bootloader does after an event.
package enum SecureDFUAction: Equatable, Sendable {
    case notify([UInt8])
    /// The page at this offset is erased, which takes time.
    case erase(offset: Int)
    /// Restart, into the new image when it is complete.
    case restart(activate: Bool)
}

/// The bootloader's side of Secure DFU, with the behaviour of the SDK's bootloader (SDK 12 to 17).
///
/// A pure machine: events in, actions out. The state that it must keep is in `facts` and in the
/// memory.
package struct SecureDFUTarget<Memory: ImageMemory> {
    package typealias Action = SecureDFUAction

    package struct Rules: Sendable {
        package var maximumInitSize = 512
        /// The size of an erase; the size of every object but the last is a multiple of it.
        package var pageSize = 4_096
        /// The largest data object: a whole number of pages.
        package var objectSize = 4_096
        /// The number of packets that may wait for flash before further ones are dropped; nil for
        /// no limit.
        package var packetPool: Int?
        /// Whether executing an executed object again is an error; most targets accept it.
        package var refusesSecondExecute = false
        /// Whether executed data survives a reset; off in most builds.
        package var keepsProgress = false
        /// Whether requests for serial transports are answered, without contents.
        package var answersSerialRequests = true
        /// The only hardware version that is accepted; nil for any.
        package var hardwareVersion: UInt32?
        /// The SoftDevice that is present and that an image must name; nil for any.
        package var softDevice: UInt32?
        /// The version that an application must exceed; nil for any version.
        package var applicationVersion: UInt32?
        /// The lowest version of a bootloader; nil for any version.
        package var bootloaderVersion: UInt32?
        /// The key that an init packet must be signed with; nil accepts any signature, and none.
        package var key: P256Key?
        /// A further check of the init packet; nil accepts it.
        package var judge: @Sendable ([UInt8], InitPacket) -> DFUFault? = { _, _ in nil }

        package init() {}
    }

    package let rules: Rules
    package private(set) var facts: TransferFacts
    package var memory: Memory
    private let sha256: @Sendable ([UInt8]) -> SHA256Digest
    private var selected: DFUObjectType?
    private var receiptInterval = 0
    private var packetsToReceipt = 0
    private var isNotifying = false
    /// The number of packets that wait to be written to flash.
    private var waiting = 0
    /// The last accepted init packet, and the image size that it states.
    private var accepted: (packet: [UInt8], imageSize: Int)?
    /// Whether a restart was ordered: nothing is handled until it has happened.
    private var isRestarting = false

    package init(
        rules: Rules = Rules(),
        facts: TransferFacts = TransferFacts(),
        memory: Memory,
        sha256: @escaping @Sendable ([UInt8]) -> SHA256Digest = ReceivedImage.digest
    ) {
        self.rules = rules
        self.facts = facts
        self.memory = memory
        self.sha256 = sha256
    }

    package mutating func notificationsSwitched(on: Bool) { isNotifying = on }

    /// The link ended: received data stays, agreements of the link do not.
    package mutating func linkClosed() {
        isNotifying = false
        selected = nil
        receiptInterval = 0
        waiting = 0
    }

    /// The target restarted and lost its progress.
    package mutating func progressLost() {
        facts = TransferFacts()
        isRestarting = false
        linkClosed()
    }

    /// The target restarted: it keeps executed data, if anything.
    package mutating func reset() {
        guard rules.keepsProgress, facts.initAccepted, !isRestarting else {
            progressLost()
            return
        }
        facts.received = facts.executed
        facts.receivedCRC = facts.executedCRC
        facts.objectSize = nil
        linkClosed()
    }

    /// This many packets were written to flash and left the pool.
    package mutating func drained(_ packets: Int) { waiting = max(0, waiting - packets) }

    /// Handles a write to the control point; nil for the ATT error 0xFD, when notifications are
    /// off.
    package mutating func controlPointWritten(_ bytes: [UInt8]) -> [Action]? {
        guard !isRestarting else { return [] }
        guard isNotifying else { return nil }
        let request: DFURequest
        do {
            request = try DFURequest(bytes)
        } catch {
            return refuse(bytes.first ?? 0, error)
        }
        do throws(DFUFault) {
            return try perform(request)
        } catch {
            return notify(.failed(operation: request.operation.rawValue, error))
        }
    }

    private mutating func perform(_ request: DFURequest) throws(DFUFault) -> [Action] {
        switch request {
        case .protocolVersion:
            guard rules.answersSerialRequests else { throw .result(.notSupported) }
        case .setReceiptInterval(let packets):
            receiptInterval = Int(packets)
            packetsToReceipt = receiptInterval
        case .select(let type):
            selected = type
            return notify(state(of: type, asSelection: true))
        case .checksum:
            guard let selected else { throw .result(.notPermitted) }
            return notify(state(of: selected, asSelection: false))
        case .create(.command, let size): try createCommand(Int(size))
        case .create(.data, let size):
            return try createData(Int(size)) + notify(.done(.create))
        case .execute:
            switch selected {
            case nil: throw .result(.notPermitted)
            case .command?: try executeCommand()
            case .data?:
                guard try executeData() else { break }
                isRestarting = true
                return notify(.done(.execute)) + [.restart(activate: true)]
            }
        case .abort:
            isRestarting = true
            return [.restart(activate: false)]
        }
        return notify(.done(request.operation))
    }

    /// Handles a packet: bytes of the selected object; bytes beyond its end are dropped.
    package mutating func packetWritten(_ bytes: [UInt8]) -> [Action] { packetWritten(bytes[...]) }

    package mutating func packetWritten(_ bytes: ArraySlice<UInt8>) -> [Action] {
        guard !isRestarting, !bytes.isEmpty, let selected else { return [] }
        switch selected {
        case .command:
            guard !facts.initAccepted, let size = facts.initSize,
                facts.initPacket.count + bytes.count <= size
            else {
                return []
            }
            facts.initPacket += bytes
        case .data:
            guard let size = facts.objectSize,
                facts.received + bytes.count <= facts.executed + size,
                rules.packetPool.map({ waiting < $0 }) ?? true
            else { return [] }
            if rules.packetPool != nil { waiting += 1 }
            memory.write(bytes, at: facts.received)
            var crc = CRC32(continuing: facts.receivedCRC)
            crc.update(bytes)
            facts.receivedCRC = crc.value
            facts.received += bytes.count
        }
        guard receiptInterval > 0, isNotifying else { return [] }
        packetsToReceipt -= 1
        guard packetsToReceipt <= 0 else { return [] }
        packetsToReceipt = receiptInterval
        return notify(state(of: selected, asSelection: false))
    }

    // MARK: Init packet

    private mutating func createCommand(_ size: Int) throws(DFUFault) {
        selected = .command
        guard size > 0 else { throw .result(.invalidParameter) }
        guard size <= rules.maximumInitSize else { throw .result(.insufficientResources) }
        // A new init packet begins a new transfer: nothing of the old one can be used.
        facts = TransferFacts()
        facts.initSize = size
        packetsToReceipt = receiptInterval
    }

    private mutating func executeCommand() throws(DFUFault) {
        guard let size = facts.initSize, facts.initPacket.count == size else {
            throw .result(.notPermitted)
        }
        if facts.initAccepted { return }
        if let fault = verdict() {
            facts = TransferFacts()
            throw fault
        }
        facts.initAccepted = true
    }

    /// Checks in the order of a real bootloader: form, signature, then the image's requirements.
    private func verdict() -> DFUFault? {
        let packet: InitPacket
        do throws(InitPacketError) {
            packet = try InitPacket(facts.initPacket)
        } catch { return Self.fault(of: error) }
        if let key = rules.key, let fault = Self.fault(in: packet, signedBy: key) { return fault }
        if let fault = rules.judge(facts.initPacket, packet) { return fault }
        guard packet.firmwareSize > 0 else { return .extended(.initInvalid) }
        if let wanted = rules.hardwareVersion, packet.hardwareVersion != wanted {
            return .extended(.hardwareVersion)
        }
        if let device = rules.softDevice, !packet.requiredSoftDevices.contains(device) {
            return .extended(.softDeviceVersion)
        }
        guard isNewEnough(packet) else { return .extended(.firmwareVersion) }
        guard packet.firmwareSize <= memory.capacity else { return .extended(.insufficientSpace) }
        return nil
    }

    /// The signature covers only the init command; its two halves are little-endian.
    private static func fault(in packet: InitPacket, signedBy key: P256Key) -> DFUFault? {
        switch packet.signature {
        case nil: return .extended(.signatureMissing)
        case .ed25519: return .extended(.signatureType)
        case .ecdsaP256(let bytes):
            let isSigned = key.signed(
                SHA256.digest(of: packet.signedBytes),
                r: bytes.prefix(32).reversed(),
                s: bytes.dropFirst(32).reversed()
            )
            return isSigned ? nil : .result(.invalidObject)
        }
    }

    private func isNewEnough(_ packet: InitPacket) -> Bool {
        guard let version = packet.firmwareVersion else { return true }
        return switch packet.type {
        case .application: rules.applicationVersion.map { version > $0 } ?? true
        case .bootloader, .softDeviceAndBootloader:
            rules.bootloaderVersion.map { version >= $0 } ?? true
        case .softDevice, .external: true
        }
    }

    private static func fault(of error: InitPacketError) -> DFUFault {
        switch error {
        case .notProtobuf, .twoCommands, .repeated, .signatureLength: .result(.invalidObject)
        case .operation: .extended(.unknownCommand)
        case .unknownHash: .extended(.hashType)
        case .unknownSignature: .extended(.signatureType)
        case .missing, .unknownType, .hashLength, .outOfRange: .extended(.initInvalid)
        }
    }

    // MARK: Data

    /// The image size in the accepted init packet; each packet is parsed once.
    private mutating func imageSize() -> Int? {
        guard facts.initAccepted else { return nil }
        if let accepted, accepted.packet == facts.initPacket { return accepted.imageSize }
        guard let packet = try? InitPacket(facts.initPacket) else { return nil }
        accepted = (facts.initPacket, packet.firmwareSize)
        return packet.firmwareSize
    }

    /// Creates a data object, whose pages are erased first.
    private mutating func createData(_ size: Int) throws(DFUFault) -> [Action] {
        selected = .data
        guard let imageSize = imageSize() else { throw .result(.notPermitted) }
        guard size > 0 else { throw .result(.invalidParameter) }
        let end = facts.executed + size
        guard size.isMultiple(of: rules.pageSize) || end == imageSize else {
            throw .result(size > rules.objectSize ? .insufficientResources : .invalidParameter)
        }
        guard size <= rules.objectSize else { throw .result(.insufficientResources) }
        guard end <= imageSize else { throw .result(.notPermitted) }
        facts.received = facts.executed
        facts.receivedCRC = facts.executedCRC
        facts.objectSize = size
        packetsToReceipt = receiptInterval
        return stride(from: facts.executed, to: end, by: rules.pageSize).map { .erase(offset: $0) }
    }

    /// Executes the data object; true when the image is complete and right.
    private mutating func executeData() throws(DFUFault) -> Bool {
        guard let imageSize = imageSize() else { throw .result(.notPermitted) }
        guard let size = facts.objectSize else {
            // There is no current object: the last one was executed before.
            guard facts.executed > 0, !rules.refusesSecondExecute else {
                throw .result(.notPermitted)
            }
            return false
        }
        guard facts.received == facts.executed + size else { throw .result(.notPermitted) }
        facts.executed = facts.received
        facts.executedCRC = facts.receivedCRC
        facts.objectSize = nil
        guard facts.executed == imageSize else { return false }
        let image = memory.read(0..<facts.executed)
        guard let packet = try? InitPacket(facts.initPacket), sha256(image) == packet.digest else {
            facts = TransferFacts()
            throw .extended(.verificationFailed)
        }
        return true
    }

    // MARK: Answers

    private func state(of type: DFUObjectType, asSelection: Bool) -> DFUResponse {
        let (offset, crc, maximum) =
            switch type {
            case .command:
                (facts.initPacket.count, CRC32.of(facts.initPacket), rules.maximumInitSize)
            case .data:
                (facts.received, facts.receivedCRC, rules.objectSize)
            }
        return asSelection
            ? .selected(maximumSize: UInt32(maximum), offset: UInt32(offset), crc: crc)
            : .checksum(offset: UInt32(offset), crc: crc)
    }

    private func notify(_ response: DFUResponse) -> [Action] { [.notify(response.bytes)] }

    /// Requests for serial transports: MTU, ping, hardware and firmware version.
    private static var serialRequests: [UInt8] { [0x07, 0x09, 0x0A, 0x0B] }

    private func refuse(_ operation: UInt8, _ error: DFURequestError) -> [Action] {
        if case .unknownOperation = error, rules.answersSerialRequests,
            Self.serialRequests.contains(operation)
        {
            return [.notify([0x60, operation, 0x01])]
        }
        let result: DFUResult =
            switch error {
            case .empty: .invalid
            case .unknownOperation: .notSupported
            case .unknownObjectType: .unsupportedType
            case .wrongLength: .invalidParameter
            }
        return notify(.failed(operation: operation, .result(result)))
    }
}
