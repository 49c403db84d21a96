import Base
import Families
import Testing

func digest(_ bytes: [UInt8]) -> SHA256Digest { SHA256.digest(of: bytes) }

@Suite struct MessageTests {
    @Test func `a request is three bytes`() {
        #expect(CarShareMessage.request == [0, 1, 0])
        #expect(CarShareMessage.secure([7]) == [0x80, 7])
    }

    @Test func `a challenge is read and written`() throws {
        let bytes = [UInt8](0..<32)
        let challenge = try CarShareChallenge(message: [1, 1, 0] + bytes)
        #expect(challenge.bytes == bytes)
        #expect(challenge.message == [1, 1, 0] + bytes)
        #expect(CarShareChallenge(bytes) == challenge)
        #expect(CarShareChallenge(Array(bytes.dropLast())) == nil)
    }

    @Test(
        arguments: [
            ([1, 1, 0] + [UInt8](repeating: 5, count: 31), .length(34)),
            ([1, 1, 0] + [UInt8](repeating: 5, count: 33), .length(36)),
            ([2, 1, 0] + [UInt8](repeating: 5, count: 32), .type(2)),
            ([1, 2, 0] + [UInt8](repeating: 5, count: 32), .version(2)),
            ([1, 1, 1] + [UInt8](repeating: 5, count: 32), .version(0x101)),
            ([0, 0], .length(2)), ([], .length(0)),
        ] as [([UInt8], CarShareChallenge.Fault)]
    )
    func `a bad challenge is refused for what is wrong with it`(
        message: [UInt8],
        fault: CarShareChallenge.Fault
    ) {
        #expect(throws: fault) { try CarShareChallenge(message: message) }
    }

    @Test func `an acknowledgement is read and written`() throws {
        #expect(try CarShareAcknowledgement(message: [0x81, 0]) == .accepted)
        #expect(CarShareAcknowledgement.accepted.message == [0x81, 0])
        for code in UInt8(1)...255 {
            let refused = CarShareAcknowledgement.refused(CarShareRefusal(rawValue: code))
            #expect(try CarShareAcknowledgement(message: [0x81, code]) == refused)
            #expect(refused.message == [0x81, code])
        }
        #expect(throws: CarShareAcknowledgement.Fault.length(3)) {
            try CarShareAcknowledgement(message: [0x81, 0, 0])
        }
        #expect(throws: CarShareAcknowledgement.Fault.length(0)) {
            try CarShareAcknowledgement(message: [])
        }
        #expect(throws: CarShareAcknowledgement.Fault.type(0x80)) {
            try CarShareAcknowledgement(message: [0x80, 0])
        }
    }

    @Test(
        arguments: [
            ([.lock], "0D 01 00 00 00"),
            ([.unlockAll, .locate, .ignitionEnable], "0D A4 00 00 00"),
            ([.checkIn, .ignitionEnable], "0D 80 04 00 00"),
            ([.secureConditionsCheck], "0D 00 00 40 00"),
        ] as [([CarShareCommand], String)]
    )
    func `commands are one field of bits`(list: [CarShareCommand], text: String) throws {
        let commands = try #require(CarShareCommands(list))
        #expect(commands.bytes == hex(text))
        #expect(try CarShareCommands.bits(of: hex(text)) == commands.bits)
        #expect(Set(commands.list) == Set(list))
    }

    @Test func `no command is no request, and each has a bit of its own`() throws {
        #expect(CarShareCommands([CarShareCommand]()) == nil)
        #expect(try CarShareCommands.bits(of: []) == 0)
        let bits = CarShareCommand.allCases.map(\.bit)
        #expect(bits == [1, 2, 4, 8, 16, 32, 64, 128, 1_024, 2_048, 4_194_304])
        #expect(
            CarSharePermission.words(of: 0x8000_0003) == ["lock", "unlock-driver", "0x80000000"]
        )
        for command in CarShareCommand.allCases {
            #expect(CarSharePermission(rawValue: command.bit)?.word == command.rawValue)
        }
    }

    @Test func `several commands are named in the order of the table`() throws {
        #expect(
            CarShareCommands([.lock, .secureConditionsCheck])?.description
                == "lock+secure-conditions-check"
        )
    }

    @Test func `a device message is built as the documents have it`() throws {
        let message = try #require(
            CarShareDeviceMessage(
                tenantHash: hex("16 11 18 19 20"),
                reservationSignature: hex("01 02 03 04 05"),
                reservation: hex("06 07 08 09 10"),
                reservationHash: hex("11 12 13 14 15"),
                commandSignature: [UInt8](repeating: 0xAA, count: 8),
                command: CarShareCommands(.lock).bytes
            )
        )
        let expected = hex(
            """
            80 01 00 16 11 18 19 01 02 03 04 05 05 00 D8 42 AE 01 06 07 08 09 10 \
            01 00 11 12 13 14 AA AA AA AA AA AA AA AA 05 00 48 21 84 A1 0D 01 00 00 00
            """
        )
        let body = CarShareMessage.secure(message.bytes)
        #expect(body == expected)
        let frame = try AddOnFrame(.messageToVehicle, body).bytes
        #expect(frame == hex("02 88 30 00") + expected + hex("DA 02 03"))
    }

    @Test func `the checksums are those of the documents`() {
        let zeros = [UInt8](repeating: 0, count: 256)
        #expect(CRC32.of(zeros + CarShareCommands(.lock).bytes).bigBytes == hex("18 DA 2C C5"))
        let more = [UInt8](repeating: 0, count: 288)
        #expect(CRC32.of(more + [1, 2, 3]).bigBytes == hex("F6 25 6A 35"))
        #expect(CRC32.of("123456789".utf8) == 0xCBF4_3926)
    }

    @Test func `a device message is taken apart, and every damage is seen`() throws {
        let message = try #require(
            CarShareDeviceMessage(
                tenantHash: [1, 2, 3, 4],
                reservationSignature: [UInt8](repeating: 9, count: 256),
                reservation: [5, 6, 7],
                reservationHash: [8, 9, 10, 11],
                commandSignature: [UInt8](repeating: 8, count: 256),
                command: CarShareCommands(.lock).bytes
            )
        )
        let bytes = message.bytes
        #expect(bytes.count == 536 + 3 + 5)
        #expect(try CarShareDeviceMessage(bytes) == message)
        #expect(throws: CarShareDeviceMessage.Fault.length) {
            try CarShareDeviceMessage(Array(bytes.dropLast()))
        }
        #expect(throws: CarShareDeviceMessage.Fault.length) {
            try CarShareDeviceMessage(bytes + [0])
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            // The hashes are not covered by the checksums: they are compared with keys.
            let found = try? CarShareDeviceMessage(damaged)
            let isHash = (2..<6).contains(index) || (271..<277).contains(index)
            #expect(found == nil || isHash, "\(index)")
            #expect(found != message)
        }
    }

    @Test func `a hash that is too short makes no message`() {
        #expect(
            CarShareDeviceMessage(
                tenantHash: [1, 2, 3],
                reservationSignature: [],
                reservation: [],
                reservationHash: [1, 2, 3, 4],
                commandSignature: [],
                command: []
            ) == nil
        )
    }

    @Test func `a result is read as the documents have it`() throws {
        let success = try CarShareReport(message: hex("0A 02 08 01"))
        #expect(success == CarShareReport(isSuccess: true))
        #expect(success.message == hex("0A 02 08 01"))
        let failure = try CarShareReport(message: hex("0A 07 12 05 08 94 1A 10 02"))
        #expect(failure.isSuccess == false)
        #expect(failure.statuses == [CarShareStatus(id: 3_348, value: 2)])
        #expect(failure.message == hex("0A 07 12 05 08 94 1A 10 02"))
        #expect(try CarShareReport(message: []) == CarShareReport(isSuccess: false))
        let timed = CarShareStatus(id: 1, value: 0, time: WallTime(milliseconds: 1_600_000_000_000))
        let report = CarShareReport(isSuccess: false, statuses: [timed])
        #expect(try CarShareReport(message: report.message) == report)
    }

    @Test(arguments: ["0A", "0A 05 08 01", "0A 03 12 05 08", "FF", "0A 02 12 07"])
    func `a result that is torn is refused`(text: String) {
        #expect(throws: ProtobufError.self) { try CarShareReport(message: hex(text)) }
    }
}

@Suite struct StatusTests {
    /// All values that the documents list.
    static let table: [(UInt32, ClosedRange<UInt32>)] = [
        (3_334, 0...1), (3_344, 0...9), (3_346, 1...8), (3_347, 1...2), (3_348, 1...4),
        (3_349, 1...4), (3_350, 1...4), (3_351, 1...4), (3_352, 1...2), (3_353, 0...9),
        (3_355, 1...5),
    ]

    @Test func `every id and value has a sentence of its own`() {
        var seen: [String: (UInt32, UInt32)] = [:]
        for (id, values) in Self.table {
            for value in values {
                let status = CarShareStatus(id: id, value: value)
                #expect(status.known != .unknown, "\(id) \(value)")
                #expect(!status.description.contains("no table"), "\(id) \(value)")
                if id == 3_344 || id == 3_353 { continue }
                #expect(seen[status.description] == nil, "\(id) \(value)")
                seen[status.description] = (id, value)
            }
        }
        #expect(seen.count == 35)
    }

    @Test func `other ids and values are kept as numbers`() {
        for (id, values) in Self.table where id != 3_344 && id != 3_353 {
            for value in [values.upperBound + 1, 77, .max] {
                let status = CarShareStatus(id: id, value: value)
                #expect(status.known == .unknown)
                #expect(status.description.contains("\(id)"))
                #expect(status.description.contains("\(value)"))
            }
        }
        #expect(CarShareStatus(id: 9_990, value: 444_444).known == .unknown)
        #expect(CarShareStatus(id: 3_344, value: 2_113).known == .noPermission)
        #expect(CarShareStatus(id: 3_354, value: 1).known == .unknown)
        #expect(CarShareStatus(id: 3_346, value: 0).known == .unknown)
    }

    @Test(
        arguments: [
            (3_344, 1, "the token does not permit this"),
            (3_346, 8, "check-in: the reservation has expired, by the vehicle's clock"),
            (3_346, 4, "check-in: the token is for another device"),
            (3_346, 2, "check-in: the vehicle's clock is not set"),
            (3_355, 2, "end of booking: the vehicle is not where the booking must end"),
            (3_355, 4, "end of booking: there is too little fuel"),
            (3_352, 2, "inhibiting the ignition: the ignition is on"),
        ] as [(UInt32, UInt32, String)]
    )
    func `what a person must know is said`(id: UInt32, value: UInt32, sentence: String) {
        #expect(CarShareStatus(id: id, value: value).description == sentence)
    }

    @Test func `a refusal by number is a sentence, known or not`() {
        var sentences: Set<String> = []
        for code in UInt8(1)...255 {
            sentences.insert(CarShareRefusal(rawValue: code).description)
        }
        #expect(sentences.count == 255)
        #expect(CarShareRefusal(rawValue: 77).description.contains("77"))
        #expect(CarShareRefusal.otherVehicle.description == "the token is for another vehicle")
    }
}
