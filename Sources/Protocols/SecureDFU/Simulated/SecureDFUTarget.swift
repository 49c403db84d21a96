package import Digests
package import Domain
package import Simulation
import Wire

/// What a Secure DFU bootloader knows about the transfer under way.
package struct TransferFacts: Equatable, Sendable {
    /// The init packet as far as it has come.
    package var initPacket: [UInt8] = []
    /// The size the init packet's object was created with; nil before that.
    package var initSize: Int?
    package var initAccepted = false
    /// Bytes of the image that have come, executed or not.
    package var received = 0
    /// Bytes of the objects that were executed.
    package var executed = 0
    package var receivedCRC: UInt32 = 0
    package var executedCRC: UInt32 = 0
    /// The size of the data object under way; nil when none is.
    package var objectSize: Int?

    package init() {}
}

/// The bootloader's side of Secure DFU, as the SDK's bootloader behaves (SDK 12 to 17).
///
/// A pure machine: events in, actions out; what it must keep stands in `facts` and the memory.
package struct SecureDFUTarget<Memory: ImageMemory> {
    package enum Action: Equatable, Sendable {
        case notify([UInt8])
        /// The page at this offset is erased, which takes its time.
        case erase(offset: Int)
        /// Restart, with the new image when it is whole.
        case restart(activate: Bool)
    }

    package struct Rules: Sendable {
        package var maximumInitSize = 512
        /// What is erased at once, and what every object but the last is a multiple of.
        package var pageSize = 4_096
        /// The largest data object: a whole number of pages.
        package var objectSize = 4_096
        /// Packets that wait for flash at most before further ones are dropped; nil for no bound.
        package var packetPool: Int?
        /// Most targets take it as harmless when an executed object is executed again.
        package var refusesSecondExecute = false
        /// Whether what was executed outlives a reset; off in most builds.
        package var keepsProgress = false
        /// Whether requests meant for serial transports are answered, if without contents.
        package var answersSerialRequests = true
        /// The only hardware version taken; nil for any.
        package var hardwareVersion: UInt32?
        /// The SoftDevice that is there and that an image must name; nil takes any.
        package var softDevice: UInt32?
        /// What an application must be newer than; nil takes any version.
        package var applicationVersion: UInt32?
        /// What a bootloader must at least be; nil takes any version.
        package var bootloaderVersion: UInt32?
        /// Whose signature an init packet has to bear; nil takes any, and none.
        package var key: P256Key?
        /// Judges the init packet beyond that; nil accepts it.
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
    /// Packets that wait to be written to flash.
    private var waiting = 0
    /// The init packet that was accepted last, and the size it gave.
    private var accepted: (packet: [UInt8], imageSize: Int)?
    /// A restart was ordered: nothing is listened to any more until it has happened.
    private var isRestarting = false

    package init(
        rules: Rules = Rules(),
        facts: TransferFacts = TransferFacts(),
        memory: Memory,
        sha256: @escaping @Sendable ([UInt8]) -> SHA256Digest
    ) {
        self.rules = rules
        self.facts = facts
        self.memory = memory
        self.sha256 = sha256
    }

    package mutating func notificationsSwitched(on: Bool) { isNotifying = on }

    /// The link is gone: what has come stays, what was agreed on the link does not.
    package mutating func linkClosed() {
        isNotifying = false
        selected = nil
        receiptInterval = 0
        waiting = 0
    }

    /// The target restarted without its progress.
    package mutating func progressLost() {
        facts = TransferFacts()
        isRestarting = false
        linkClosed()
    }

    /// The target was started again: what it keeps is what was executed, if anything.
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

    /// So many packets were written to flash and make room in the pool.
    package mutating func drained(_ packets: Int) { waiting = max(0, waiting - packets) }

    /// The control point was written: the actions, or the ATT error 0xFD without notifications.
    package mutating func controlPointWritten(_ bytes: [UInt8]) -> [Action]? {
        guard !isRestarting else { return [] }
        guard isNotifying else { return nil }
        let request: DFURequest
        do {
            request = try DFURequest(bytes)
        } catch {
            return refuse(bytes.first ?? 0, error)
        }
        switch request {
        case .protocolVersion:
            return rules.answersSerialRequests
                ? done(.protocolVersion) : fail(.protocolVersion, .result(.notSupported))
        case .setReceiptInterval(let packets):
            receiptInterval = Int(packets)
            packetsToReceipt = receiptInterval
            return [.notify(DFUResponse.done(.setReceiptInterval).bytes)]
        case .select(let type):
            selected = type
            return [.notify(state(of: type, asSelection: true).bytes)]
        case .checksum:
            guard let selected else { return fail(.checksum, .result(.notPermitted)) }
            return [.notify(state(of: selected, asSelection: false).bytes)]
        case .create(.command, let size):
            return createCommand(Int(size))
        case .create(.data, let size):
            return createData(Int(size))
        case .execute:
            switch selected {
            case nil: return fail(.execute, .result(.notPermitted))
            case .command?: return executeCommand()
            case .data?: return executeData()
            }
        case .abort:
            isRestarting = true
            return [.restart(activate: false)]
        }
    }

    /// A packet was written: bytes of the selected object, beyond its end they are dropped.
    package mutating func packetWritten(_ bytes: [UInt8]) -> [Action] {
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
        return [.notify(state(of: selected, asSelection: false).bytes)]
    }

    // MARK: Init packet

    private mutating func createCommand(_ size: Int) -> [Action] {
        selected = .command
        guard size > 0 else { return fail(.create, .result(.invalidParameter)) }
        guard size <= rules.maximumInitSize else {
            return fail(.create, .result(.insufficientResources))
        }
        // A new init packet is a new transfer: nothing of the old one is worth anything.
        facts = TransferFacts()
        facts.initSize = size
        packetsToReceipt = receiptInterval
        return done(.create)
    }

    private mutating func executeCommand() -> [Action] {
        guard let size = facts.initSize, facts.initPacket.count == size else {
            return fail(.execute, .result(.notPermitted))
        }
        if facts.initAccepted { return done(.execute) }
        if let fault = verdict() {
            facts = TransferFacts()
            return fail(.execute, fault)
        }
        facts.initAccepted = true
        return done(.execute)
    }

    /// In the order of a real bootloader: form, signature, then what the image needs.
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

    /// The signature is of the init command alone; its halves stand least significant byte first.
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

    /// What the accepted init packet says; each packet is read once.
    private mutating func imageSize() -> Int? {
        guard facts.initAccepted else { return nil }
        if let accepted, accepted.packet == facts.initPacket { return accepted.imageSize }
        guard let packet = try? InitPacket(facts.initPacket) else { return nil }
        accepted = (facts.initPacket, packet.firmwareSize)
        return packet.firmwareSize
    }

    private mutating func createData(_ size: Int) -> [Action] {
        selected = .data
        guard let imageSize = imageSize() else { return fail(.create, .result(.notPermitted)) }
        guard size > 0 else { return fail(.create, .result(.invalidParameter)) }
        let end = facts.executed + size
        guard size.isMultiple(of: rules.pageSize) || end == imageSize else {
            return fail(
                .create,
                .result(size > rules.objectSize ? .insufficientResources : .invalidParameter)
            )
        }
        guard size <= rules.objectSize else {
            return fail(.create, .result(.insufficientResources))
        }
        guard end <= imageSize else { return fail(.create, .result(.notPermitted)) }
        facts.received = facts.executed
        facts.receivedCRC = facts.executedCRC
        facts.objectSize = size
        packetsToReceipt = receiptInterval
        let pages = stride(from: facts.executed, to: end, by: rules.pageSize)
        return pages.map { .erase(offset: $0) } + done(.create)
    }

    private mutating func executeData() -> [Action] {
        guard let imageSize = imageSize() else { return fail(.execute, .result(.notPermitted)) }
        guard let size = facts.objectSize else {
            // Nothing is under way: the last object was executed before.
            guard facts.executed > 0, !rules.refusesSecondExecute else {
                return fail(.execute, .result(.notPermitted))
            }
            return done(.execute)
        }
        guard facts.received == facts.executed + size else {
            return fail(.execute, .result(.notPermitted))
        }
        facts.executed = facts.received
        facts.executedCRC = facts.receivedCRC
        facts.objectSize = nil
        guard facts.executed == imageSize else { return done(.execute) }
        return finish()
    }

    private mutating func finish() -> [Action] {
        let image = memory.read(0..<facts.executed)
        guard let packet = try? InitPacket(facts.initPacket),
            sha256(image) == packet.digest
        else {
            facts = TransferFacts()
            return fail(.execute, .extended(.verificationFailed))
        }
        isRestarting = true
        return done(.execute) + [.restart(activate: true)]
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

    private func done(_ operation: DFUOperation) -> [Action] {
        [.notify(DFUResponse.done(operation).bytes)]
    }

    private func fail(_ operation: DFUOperation, _ fault: DFUFault) -> [Action] {
        [.notify(DFUResponse.failed(operation: operation.rawValue, fault).bytes)]
    }

    /// Meant for serial transports: MTU, ping, hardware and firmware version.
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
        return [.notify(DFUResponse.failed(operation: operation, .result(result)).bytes)]
    }
}
