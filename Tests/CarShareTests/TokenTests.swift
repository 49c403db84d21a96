import Base
import Families
import Radio
import Samples
import Simulation
import Testing

@Suite struct TokenTests {
    private func faults(
        _ change: (inout CarShareReservation) -> Void = { _ in },
        parts: (inout GOTokenIssuer.Parts) -> Void = { _ in }
    ) throws -> [CarShareTokenFault] {
        CarShareCredentials.faults(
            of: try CarShareToken(text: CarShareBench.token(change, parts: parts))
        )
    }

    @Test func `a good token has no fault, and all of it is read`() throws {
        #expect(try faults() == [])
        let token = try CarShareToken(text: CarShareBench.token { $0.serial = "G9-0001" })
        #expect(token.serviceText == "0574583B-0D8D-2962-4D79-0F43EEB96C98")
        #expect(token.service?.description == "0574583b-0d8d-2962-4d79-0f43eeb96c98")
        #expect(token.reservation.hardwareID == 553_845_661)
        #expect(token.reservation.serial == "G9-0001")
        #expect(token.reservation.accountID == "depot")
        #expect(token.reservation.modulus.count == 257)
        #expect(token.reservation.modulus[0] == 0)
        #expect(digest(token.reservation.modulus).bytes == token.reservationHash)
        #expect(token.start?.wallTime == CarShareBench.start)
        #expect(
            token.lastMoment == CarShareBench.end.advanced(by: .seconds(900))
        )
    }

    @Test func `a reservation is written and read back`() throws {
        var reservation = try CarShareBench.reservation()
        reservation.privileges = 2
        reservation.secureSeconds = 60
        var end = CarShareReservation.EndOfBooking()
        end.secureConditions = 0x3F
        end.latitude = 4
        end.longitude = 7
        end.homeRadius = 500
        end.leastFuel = 0.25
        end.conditions = 7
        reservation.endOfBooking = end
        #expect(try CarShareReservation(reservation.serialized) == reservation)
    }

    @Test func `older tokens have bytes and numbers for names`() throws {
        var account = ProtobufFields()
        account.add(1, 77)
        var fields = ProtobufFields()
        fields.add(3, [0, 1, 0xFE, 0xFF])
        fields.add(5, account.serialized)
        let reservation = try CarShareReservation(fields.serialized)
        #expect(reservation.reservationID == "0001feff")
        #expect(reservation.accountID == "77")
    }

    @Test(
        arguments: [
            ("", .empty), (" \n", .empty), ("AAA", .notBase64), ("AA=A", .notBase64),
            ("SU5WQUxJRF9UT0tFTg==", .notAToken(.truncated(offset: 1))),
            ("CAE=", .otherMessage), ("OgEx", .otherMessage),
            ("KgH/", .notAReservation(.truncated(offset: 0))),
        ] as [(String, CarShareTokenError)]
    )
    func `what is no token is refused for what it is`(
        text: String,
        error: CarShareTokenError
    ) throws {
        do throws(CarShareTokenError) {
            _ = try CarShareToken(text: Secret(Array(text.utf8)))
            Issue.record("it is taken")
        } catch let found {
            switch (found, error) {
            case (.notAToken, .notAToken), (.notAReservation, .notAReservation): break
            default: #expect(found == error)
            }
            #expect(!found.description.isEmpty)
        }
    }

    @Test func `a text that is too long is not even read`() {
        let text = [UInt8](repeating: 0x41, count: 20_000)
        #expect(throws: CarShareTokenError.tooLong(20_000)) {
            try CarShareToken(text: Secret(text))
        }
    }

    @Test func `white space around a token does not matter`() throws {
        let text = try CarShareBench.token().withBytes { [0x20, 0x0A] + $0 + [0x0D, 0x0A] }
        _ = try CarShareCredentials(text: Secret(text))
    }

    @Test func `a key in its PEM lines is read as one without`() throws {
        let plain = Base64.text(Keys.reservation)
        for key in [
            "-----BEGIN RSA PRIVATE KEY-----\n\(plain)\n-----END RSA PRIVATE KEY-----\n",
            "-----BEGIN RSA PRIVATE KEY-----\(plain)-----END RSA PRIVATE KEY-----",
            plain.enumerated().map { $0 % 64 == 63 ? "\($1)\r\n" : "\($1)" }.joined(),
            plain.replacing("A", with: "A_"),
        ] {
            #expect(try faults(parts: { $0.key = key }) == [])
        }
    }

    @Test func `each field is checked`() throws {
        #expect(try faults(parts: { $0.service = "0574" }) == [.service])
        #expect(
            try faults(parts: { $0.service = "0574583B0D8D29624D790F43EEB96C98" }) == [.service]
        )
        #expect(
            try faults(parts: { $0.service = "42B20191-092E-4B85-B0CA-1012F6AC783A" })
                == [.serviceOfOtherHardware]
        )
        #expect(try faults(parts: { $0.key = "" }) == [.privateKeyText])
        #expect(try faults(parts: { $0.key = "AAAA" }) == [.privateKey])
        #expect(try faults(parts: { $0.key = Base64.text(Keys.small) }).contains(.keySize(1_024)))
        #expect(try faults(parts: { $0.key = Base64.text(Keys.three) }).contains(.exponent))
        #expect(
            try faults(parts: { $0.key = Base64.text(Keys.other) })
                == [.reservationHash, .otherKey]
        )
        #expect(try faults(parts: { $0.reservationHash[31] ^= 1 }) == [.reservationHash])
        #expect(try faults(parts: { $0.reservationHash = [] }) == [.reservationHash])
        #expect(try faults(parts: { $0.tenantHash = [1, 2, 3, 4] }) == [.tenantHashLength(4)])
        #expect(
            try faults(parts: { $0.signature.removeLast() })
                == [.signatureLength(255, expected: 256)]
        )
        #expect(try faults(parts: { $0.reservation = [] }) == [.noReservation])
        #expect(try faults { $0.modulus = [0, 1] } == [.otherKey])
        #expect(try faults { $0.hardwareID = 0 }.contains(.noHardware))
        #expect(try faults { $0.hardwareID = 1 << 32 }.contains(.hardwareID(1 << 32)))
    }

    @Test func `a token that makes commands too long is refused`() throws {
        let fits = try CarShareBench.reservation().serialized.count
        // The length of a name of more than 127 bytes takes two bytes.
        let most = 1_024 - 1 - 536 - 5 - 1
        #expect(try faults { $0.reservationID += String(repeating: "x", count: most - fits) } == [])
        #expect(
            try faults { $0.reservationID += String(repeating: "x", count: most - fits + 1) }
                == [.size(1_025, limit: 1_024)]
        )
    }

    @Test func `times are checked, whatever unit they are in`() throws {
        #expect(try faults { $0.start = 0 }.contains(.startTime(0)))
        #expect(try faults { $0.end = .max }.contains(.endTime(.max)))
        #expect(try faults { $0.keyExpiry = .max }.contains(.keyExpiry(.max)))
        #expect(try faults { swap(&$0.start, &$0.end) }.contains(.endsBeforeStart))
        #expect(try faults { $0.start /= 1_000 } == [.mixedUnits])
        #expect(
            try faults {
                $0.start /= 1_000
                $0.end /= 1_000
                $0.keyExpiry /= 1_000
            } == []
        )
        #expect(try faults { $0.keyExpiry = 0 } == [])
    }

    @Test(
        arguments: [
            (1_569_950_141, 1_569_950_141_000, CarShareTime.Unit.seconds),
            (1_569_950_141_000, 1_569_950_141_000, .milliseconds),
            (99_999_999_999, 99_999_999_999_000, .seconds),
            (100_000_000_000, 100_000_000_000, .milliseconds),
            (1, 1_000, .seconds),
            (253_402_300_799_999, 253_402_300_799_999, .milliseconds),
        ] as [(UInt64, Int64, CarShareTime.Unit)]
    )
    func `a time is seconds or milliseconds by its size`(
        number: UInt64,
        milliseconds: Int64,
        unit: CarShareTime.Unit
    ) throws {
        let time = try #require(CarShareTime(number))
        #expect(time.wallTime.milliseconds == milliseconds)
        #expect(time.unit == unit)
    }

    @Test(arguments: [0, 253_402_300_800_000, .max] as [UInt64])
    func `what is no time is none`(number: UInt64) {
        #expect(CarShareTime(number) == nil)
    }

    @Test func `a token holds from its start to its end with grace`() throws {
        let token = try CarShareToken(text: CarShareBench.token())
        let (start, end) = (CarShareBench.start, CarShareBench.end)
        #expect(token.faults(at: start) == [])
        #expect(token.faults(at: end.advanced(by: .seconds(900))) == [])
        let early = start.advanced(by: .milliseconds(-1))
        #expect(token.faults(at: early) == [.notYet(from: start, now: early)])
        let late = end.advanced(by: .milliseconds(900_001))
        #expect(
            token.faults(at: late) == [.expired(at: end.advanced(by: .seconds(900)), now: late)]
        )
    }

    @Test func `a key that expires before the end ends the token`() throws {
        let token = try CarShareToken(
            text: CarShareBench.token { $0.keyExpiry = $0.start + 1_000 }
        )
        #expect(token.lastMoment == CarShareBench.start.advanced(by: .seconds(1)))
    }

    @Test func `credentials are refused with all reasons at once and never show the key`() throws {
        let text = try CarShareBench.token(parts: { parts in
            parts.service = "x"
            parts.tenantHash = []
        })
        do throws(CarShareCredentialsError) {
            _ = try CarShareCredentials(text: text)
            Issue.record("it is taken")
        } catch {
            #expect(error == .refused([.service, .tenantHashLength(0)]))
            #expect(error.reasons.count == 2)
        }
        let token = try CarShareToken(text: text)
        let shown = "\(token) \(String(reflecting: token))"
        let key = Base64.text(Keys.reservation)
        #expect(!shown.contains(key.prefix(40)))
        #expect(!shown.contains(Hex.text(Keys.reservation).prefix(40)))
    }

    @Test func `a command is signed with what it is and the challenge`() throws {
        let credentials = try CarShareCredentials(text: CarShareBench.token())
        let challenge = try #require(CarShareChallenge([UInt8](0..<32)))
        let commands = CarShareCommands(.lock)
        let body = try #require(credentials.message(commands, challenge))
        #expect(body[0] == 0x80)
        let message = try CarShareDeviceMessage(Array(body.dropFirst()))
        #expect(message.command == commands.bytes)
        #expect(message.reservation == credentials.token.reservationBytes)
        let key = try #require(RSAPublicKey(modulus: credentials.token.reservation.modulus))
        #expect(key.verifies(message.commandSignature, of: commands.bytes + challenge.bytes))
        #expect(!key.verifies(message.commandSignature, of: challenge.bytes))
        #expect(body.count == credentials.token.bodyLength(signature: 256, command: 5))
    }
}

@Suite struct RSATests {
    @Test func `a signature is the one that OpenSSL makes, and no other passes`() throws {
        let key = try #require(RSAPrivateKey(pkcs1: Keys.reservation))
        #expect(key.bits == 2_048)
        #expect(key.isCommonExponent)
        let message = Array("a message".utf8)
        let signature = try #require(key.signature(of: message))
        #expect(signature.count == 256)
        #expect(key.signature(of: message) == signature)
        let open = try #require(RSAPublicKey(modulus: key.modulus))
        #expect(open.modulus == key.modulus)
        #expect(RSAPublicKey(modulus: Array(key.modulus.dropFirst()))?.modulus == key.modulus)
        #expect(open.verifies(signature, of: message))
        #expect(!open.verifies(signature, of: message + [0]))
        for index in [0, 100, 255] {
            var damaged = signature
            damaged[index] ^= 1
            #expect(!open.verifies(damaged, of: message))
        }
        #expect(!open.verifies([], of: message))
        #expect(!open.verifies(signature + [0], of: message))
        let other = try #require(RSAPrivateKey(pkcs1: Keys.other))
        #expect(!open.verifies(try #require(other.signature(of: message)), of: message))
    }

    @Test func `a damaged key signs nothing that tells of it`() throws {
        let message = [UInt8](1...9)
        let key = try #require(RSAPrivateKey(pkcs1: Keys.reservation))
        let open = try #require(RSAPublicKey(modulus: key.modulus))
        var signed = 0
        for index in stride(from: 300, to: Keys.reservation.count, by: 37) {
            var damaged = Keys.reservation
            damaged[index] ^= 0x10
            guard let other = RSAPrivateKey(pkcs1: damaged),
                let signature = other.signature(of: message)
            else { continue }
            #expect(open.verifies(signature, of: message))
            signed += 1
        }
        #expect(signed < 25)
    }

    @Test func `a vehicle is waited for as long as its profile says`() throws {
        let shipped = try #require(
            FamilyRegistry.profiles.first { $0.name == "geotab-go-generic.yaml" }
        )
        let more = "\nlimits: {answer: 20s, arrival: 200s, handshake: 60s, result: 120s}\n"
        let profile = try #require(
            Profile.parse(shipped.bytes + Array(more.utf8), file: "p.yaml", Diagnostics())
        )
        let credentials = try CarShareCredentials(text: CarShareBench.token())
        #expect(credentials.limits == CarShareLimits())
        var expected = CarShareLimits()
        (expected.arrival, expected.handshake) = (.seconds(200), .seconds(60))
        (expected.reply, expected.challenge, expected.verdict) = (
            .seconds(20), .seconds(20), .seconds(20)
        )
        expected.result = .seconds(120)
        #expect(credentials.speaking(by: profile).limits == expected)
    }

    @Test func `bytes that are no key are none`() {
        #expect(RSAPrivateKey(pkcs1: []) == nil)
        #expect(RSAPrivateKey(pkcs1: [0x30, 0]) == nil)
        #expect(RSAPrivateKey(pkcs1: Array(Keys.reservation.dropLast())) == nil)
        #expect(RSAPrivateKey(pkcs1: Keys.reservation + [0]) == nil)
        #expect(RSAPublicKey(modulus: []) == nil)
    }

    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ]
    )
    func `base64 is that of the standard`(plain: String, text: String) {
        #expect(Base64.text(Array(plain.utf8)) == text)
        #expect(Base64.bytes(Array(text.utf8)) == Array(plain.utf8))
        let spaced: [UInt8] = text.utf8.reduce(into: []) { $0 += [$1, 0x0A] }
        #expect(Base64.bytes(ignoringUnknownIn: spaced) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm 9v", "Zg==Zg=="])
    func `what is no base64 is none`(text: String) {
        #expect(Base64.bytes(Array(text.utf8)) == nil)
    }
}
