import Base
package import Simulation

/// The device's side of SMP with MCUboot, with the observed behaviour of a Zephyr 4.4 device.
///
/// A pure machine: messages in, actions out. State that outlives a restart is in `facts` and in the
/// memory; the current upload is not part of it.
package struct SMPServer<Memory: ImageMemory> {
    package enum Action: Equatable, Sendable {
        /// Notify this message.
        case reply([UInt8])
        /// This many pages are erased, which takes time; later actions wait.
        case erase(pages: Int)
        /// Restart: the bootloader decides which image runs.
        case restart
    }

    /// A scripted fault in the device, where it can happen.
    package enum Fault: Equatable, Sendable {
        /// It is too busy for a message.
        case busy
        /// It asks for another offset than this one.
        case wrongOffset(Int)
        /// Its flash is full before this offset.
        case flashFull(Int)
        /// It refuses a mark.
        case refusesTest, refusesConfirm
    }

    package let rules: SMPServerRules
    package internal(set) var facts: SMPServerFacts
    package var memory: Memory
    /// Whether the script has this fault now.
    package var meets: (Fault) -> Bool = { _ in false }
    typealias Session = SMPServerFacts.Upload

    var values: SMPServerValues {
        get { facts.values }
        set { facts.values = newValue }
    }

    var session: Session? {
        get { facts.upload }
        set { facts.upload = newValue }
    }
    private var marks: UInt8 = 0

    package init(rules: SMPServerRules = SMPServerRules(), facts: SMPServerFacts, memory: Memory) {
        self.rules = rules
        self.facts = facts
        self.memory = memory
    }

    /// Bytes of the current upload that are in flash.
    package var received: Int { session?.offset ?? 0 }

    var slotSize: Int { memory.capacity / facts.images.count / rules.pageSize * rules.pageSize }

    /// The link ended, and with it everything that was agreed on it.
    package mutating func linkLost() {
        if rules.recall == .untilDisconnect { session = nil }
    }

    /// The answer to a message of which only the beginning arrived.
    package func answer(toPart bytes: [UInt8]) -> [UInt8]? {
        guard rules.refusesParts, let header = SMPHeader(bytes),
            let operation = header.operation.response,
            case .reply(let bytes) = reply(
                Call(header: header, operation: operation),
                .failure(.code(.corrupt))
            )
        else { return nil }
        return bytes
    }

    /// A complete message arrived.
    package mutating func message(_ frame: SMPFrame) -> [Action] {
        let header = frame.header
        guard let operation = header.operation.response else { return [] }
        let call = Call(header: header, operation: operation)
        guard header.version < 2 else { return [reply(call, .failure(.code(.versionTooNew)))] }
        guard !meets(.busy) else { return [reply(call, .failure(.code(.busy)))] }
        guard let body = try? CBORValue(cbor: frame.payload), body.members != nil else {
            return [reply(call, .failure(.code(.invalid)))]
        }
        return answer(call, body)
    }

    /// The request of a message.
    struct Call {
        let header: SMPHeader
        let operation: SMPHeader.Operation
    }

    /// An error, before it is encoded for the version of the protocol.
    enum Refusal: Error, Equatable {
        case code(SMPCode)
        case image(SMPImageCode)
        /// An error of a group that holds values.
        case value(UInt16, Int)
    }

    private mutating func answer(_ call: Call, _ body: CBORValue) -> [Action] {
        let header = call.header
        if (header.group, header.command, header.operation)
            == (SMPNumbers.Group.os, SMPNumbers.OS.reset, .write)
        {
            return [reply(call, .success(.map([]))), .restart]
        }
        var actions: [Action] = []
        let answer = Result { () throws(Refusal) -> CBORValue in
            try result(of: header, body, &actions)
        }
        return actions + [reply(call, answer)]
    }

    /// Carries a request out; `actions` come before its answer.
    private mutating func result(
        of header: SMPHeader,
        _ body: CBORValue,
        _ actions: inout [Action]
    ) throws(Refusal) -> CBORValue {
        switch (header.group, header.command, header.operation) {
        case (SMPNumbers.Group.os, SMPNumbers.OS.echo, _) where rules.hasEcho:
            guard let text = body["d"]?.text else { throw .code(.invalid) }
            return .map(["r": .text(text)])
        case (SMPNumbers.Group.os, SMPNumbers.OS.parameters, .read) where rules.tellsParameters:
            return .map([
                "buf_size": .int(rules.bufferSize), "buf_count": .int(rules.bufferCount),
            ])
        case (SMPNumbers.Group.os, SMPNumbers.OS.bootloaderInfo, .read)
        where rules.tellsBootloader:
            return try bootloaderInfo(body)
        case (SMPNumbers.Group.image, SMPNumbers.Image.state, .read): return list
        case (SMPNumbers.Group.image, SMPNumbers.Image.state, .write): return try setState(body)
        case (SMPNumbers.Group.image, SMPNumbers.Image.upload, .write):
            let answer = try upload(body, &actions)
            let end = (body["off"]?.integer ?? 0) + (body["data"]?.bytes ?? []).count
            return !rules.tellsOffsets && answer["off"]?.integer == end ? .map([]) : answer
        case (SMPNumbers.Group.image, SMPNumbers.Image.erase, .write):
            return try erase(body, &actions)
        case (SMPNumbers.Group.image, SMPNumbers.Image.slotInfo, .read) where rules.tellsSlots:
            return slots
        default: return try valueResult(of: header, body)
        }
    }

    // MARK: Answers

    private func reply(_ call: Call, _ result: Result<CBORValue, Refusal>) -> Action {
        let version = rules.isVersion1 ? 0 : min(call.header.version, 1)
        var body: CBORValue
        switch result {
        case .success(let value):
            body = value
            if rules.addsResult, case .map(let members) = value {
                body = .map([CBORMember(.text("rc"), .unsigned(0))] + members)
            }
        case .failure(.code(let code)): body = .map(["rc": .int(code.rawValue)])
        case .failure(.value(let group, let code)):
            let fault = SMPFault.group(group, code)
            body =
                version == 1
                ? .map(["err": .map(["group": .int(Int(group)), "rc": .int(code)])])
                : .map(["rc": .int((fault.isAbsence ? SMPCode.noEntry : .unknown).rawValue)])
        case .failure(.image(let code)):
            body =
                version == 1
                ? .map([
                    "err": .map([
                        "group": .int(Int(SMPNumbers.Group.image)), "rc": .int(code.rawValue),
                    ])
                ])
                : .map([
                    "rc": .int(code.inVersion1.rawValue),
                    "rsn": code.inVersion1 == .unknown ? .text(code.description) : nil,
                ])
        }
        var writer = CBORWriter()
        writer.item(body, isOpen: rules.hasOpenLengths)
        let frame = SMPFrame(
            call.operation,
            version: version,
            group: call.header.group,
            command: call.header.command,
            sequence: call.header.sequence,
            payload: writer.bytes
        )
        return .reply(frame?.bytes ?? [])
    }

    private func bootloaderInfo(_ body: CBORValue) throws(Refusal) -> CBORValue {
        switch body["query"]?.text {
        case nil: .map(["bootloader": .text("MCUboot")])
        case "mode":
            .map([
                "mode": .int(rules.mode.rawValue),
                "no-downgrade": rules.refusesDowngrade ? .bool(true) : nil,
            ])
        default: throw .code(.notSupported)
        }
    }

    private var list: CBORValue {
        var items: [CBORValue] = []
        for (number, image) in facts.images.enumerated() {
            func item(_ content: SMPServerFacts.Content, _ slot: Int, _ flags: [String])
                -> CBORValue
            {
                var members = [
                    CBORMember(.text("slot"), .int(slot)),
                    CBORMember(.text("version"), .text(content.version.description)),
                    CBORMember(.text("bootable"), .bool(true)),
                ]
                if rules.listsHashes {
                    members.insert(CBORMember(.text("hash"), .bytes(content.hash)), at: 2)
                }
                if facts.images.count > 1 {
                    members.insert(CBORMember(.text("image"), .int(number)), at: 0)
                }
                members += flags.map { CBORMember(.text($0), .bool(true)) }
                return .map(members)
            }
            var slots: [(Int, CBORValue)] = []
            let flags = ["active"] + (image.isConfirmed ? ["confirmed"] : [])
            if number == 0 || !rules.hidesCores {
                slots.append((image.activeSlot, item(image.active, image.activeSlot, flags)))
            }
            if let other = image.other {
                var flags: [String] = []
                if image.otherHasRun { flags.append("confirmed") }
                if image.mark != .none { flags.append("pending") }
                if image.mark == .permanent { flags.append("permanent") }
                slots.append((image.otherSlot, item(other, image.otherSlot, flags)))
            }
            items += slots.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return .map(["images": .array(items), "splitStatus": .unsigned(0)])
    }

    private var slots: CBORValue {
        let items = facts.images.enumerated().map { number, image -> CBORValue in
            let slots = [0, 1].map { slot -> CBORValue in
                .map([
                    "slot": .int(slot), "size": .int(slotSize),
                    "upload_image_id": slot == image.otherSlot ? .int(number) : nil,
                ])
            }
            return .map([
                "image": .int(number), "slots": .array(slots),
                "max_image_size": .int(max(0, slotSize - rules.pageSize)),
            ])
        }
        return .map(["images": .array(items)])
    }

    // MARK: State

    private mutating func setState(_ body: CBORValue) throws(Refusal) -> CBORValue {
        let confirms = body["confirm"]?.bool ?? false
        guard rules.mode.isMarked else { throw .code(.notSupported) }
        if meets(confirms ? .refusesConfirm : .refusesTest) {
            throw .image(confirms ? .confirmDenied : .flashWrite)
        }
        guard let hash = body["hash"]?.bytes else {
            guard confirms else { throw .image(.invalidHash) }
            confirm(0)
            return list
        }
        guard [32, 48, 64].contains(hash.count) else {
            throw .image(.invalidHash)
        }
        for (number, image) in facts.images.enumerated() {
            if image.active.hash == hash {
                guard confirms else { throw .image(.testOfActive) }
                confirm(number)
                return list
            }
            if image.other?.hash == hash {
                marks &+= 1
                facts.images[number].mark = confirms ? .permanent : .test
                facts.images[number].markedAs = marks
                return list
            }
        }
        throw .image(.hashNotFound)
    }

    /// After the new image is confirmed, the old one is no longer listed.
    private mutating func confirm(_ number: Int) {
        guard !facts.images[number].isConfirmed else { return }
        facts.images[number].isConfirmed = true
        facts.images[number].other = nil
        facts.images[number].otherHasRun = false
    }

    private mutating func erase(
        _ body: CBORValue,
        _ actions: inout [Action]
    ) throws(Refusal) -> CBORValue {
        let slot = body["slot"].map { $0.integer ?? -1 } ?? facts.images[0].otherSlot
        guard slot >= 0, slot / 2 < facts.images.count else { throw .image(.flashOpen) }
        let image = facts.images[slot / 2]
        guard slot % 2 == image.otherSlot, image.isConfirmed, image.mark == .none else {
            throw .image(.noFreeSlot)
        }
        facts.images[slot / 2].other = nil
        facts.images[slot / 2].otherHasRun = false
        if !rules.resumesIntoErased { session = nil }
        wipe(slot / 2, from: 0, to: slotSize)
        actions.append(.erase(pages: slotSize / rules.pageSize))
        return .map([])
    }

    func start(of image: Int) -> Int { image * slotSize }

    mutating func wipe(_ image: Int, from: Int, to end: Int) {
        let page = [UInt8](repeating: 0xFF, count: rules.pageSize)
        for offset in stride(from: from, to: end, by: rules.pageSize) {
            memory.write(page[...], at: start(of: image) + offset)
        }
    }
}

extension SMPImageCode {
    /// The code that the first version of the protocol uses instead.
    fileprivate var inVersion1: SMPCode {
        switch rawValue {
        case 3, 4: .noEntry
        case 9, 27, 28: .badState
        case 15: .noMemory
        case 14, 19, 20, 21, 22, 24, 25: .invalid
        default: .unknown
        }
    }
}
