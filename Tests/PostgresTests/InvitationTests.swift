import Base
import Store
import Testing

/// Invitations to a fleet: one line that is read whole or not at all.
@Suite struct InvitationTests {
    private func invitation() throws -> FleetInvitation {
        try #require(
            FleetInvitation(
                try FleetAddress("postgresql://north-1@db1.example,db2.example:6432/yard"),
                password: Secret(Array("0123456789abcdef".utf8)),
                authority: Array(0...200),
                expires: WallTime(milliseconds: 1_800_000_000_000)
            )
        )
    }

    private func read(_ text: [UInt8]) throws(FleetInvitationError) -> FleetInvitation {
        try FleetInvitation(Secret(Array(text)))
    }

    private func read(content: String) throws(FleetInvitationError) -> FleetInvitation {
        let bytes = Array(content.utf8)
        let sum = SHA256.digest(of: bytes).bytes.prefix(8)
        return try read(Array("yardmaster-fleet-1.\(Base64.text(bytes + sum))".utf8))
    }

    @Test func `what was invited is read again, also from folded lines`() throws {
        let invitation = try invitation()
        let line = Array(invitation.text.utf8)
        #expect(try read(line) == invitation)
        #expect(try read(line + [0x0D, 0x0A]) == invitation)
        var folded: [UInt8] = []
        for (index, byte) in line.enumerated() {
            folded.append(byte)
            if index % 76 == 75 { folded += [0x0D, 0x0A, 0x20] }
        }
        #expect(try read(folded) == invitation)
        #expect(invitation.gateway == "north-1")
        #expect(!"\(invitation)".contains("0123456789abcdef"))
    }

    @Test func `a line that is damaged at any byte, cut or longer is refused`() throws {
        let line = Array(try invitation().text.utf8)
        for index in line.indices {
            for other in Array("Aa0/.-=".utf8) where other != line[index] {
                var damaged = line
                damaged[index] = other
                #expect(throws: FleetInvitationError.self, "\(index)") { try read(damaged) }
            }
            #expect(throws: FleetInvitationError.self) { try read(Array(line[..<index])) }
            var shorter = line
            shorter.remove(at: index)
            #expect(throws: FleetInvitationError.self) { try read(shorter) }
        }
        #expect(throws: FleetInvitationError.damaged) { try read(line + Array("AAAA".utf8)) }
        #expect(throws: FleetInvitationError.notOne) {
            try read([UInt8](repeating: 0x41, count: FleetInvitation.limit + 1))
        }
    }

    @Test func `a line of another version says which`() throws {
        let line = try invitation().text.replacing("fleet-1.", with: "fleet-2.")
        #expect(throws: FleetInvitationError.otherVersion("2")) { try read(Array(line.utf8)) }
    }

    @Test(arguments: [
        "{}", "[]", "nothing",
        #"{"address":"postgresql://db/yard","password":"ab","expires":1}"#,
        #"{"address":"postgresql://a b@db/yard","password":"ab","expires":1}"#,
        #"{"address":"postgresql://a@db/yard?sslkey=/x","password":"ab","expires":1}"#,
        #"{"address":"postgresql://a@db/yard","password":"a:b","expires":1}"#,
        #"{"address":"postgresql://a@db/yard","password":"","expires":1}"#,
        #"{"address":"postgresql://a@db/yard","password":"ab"}"#,
        #"{"address":"postgresql://a@db/yard","password":"ab","expires":1,"authority":"?"}"#,
    ])
    func `a whole line that names no fleet is refused`(content: String) {
        #expect(throws: FleetInvitationError.unfit) { try read(content: content) }
    }

    @Test func `a gateway is called by letters and digits`() {
        for name in ["north-1", "a", "N_1.x", String(repeating: "n", count: 63)] {
            #expect(FleetInvitation.isName(name))
        }
        for name in ["", "-x", ".x", "a b", "a\"b", "ö", "pg_read", "yardmaster_gateway"]
            + [String(repeating: "n", count: 64)]
        {
            #expect(!FleetInvitation.isName(name), "\(name)")
        }
    }

    /// The password and the salt are those of RFC 7677; the keys are PostgreSQL's for them.
    @Test func `what a server keeps of a password is PostgreSQL's own form`() throws {
        let salt = try #require(Base64.bytes("W22ZaJ0SNY7soEsUEjb6gQ==".utf8))
        #expect(
            ScramVerifier.text(of: Secret(Array("pencil".utf8)), salt: salt)
                == "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ=="
                + "$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
                + ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        )
    }

    @Test func `the rule of a fleet is put first, once`() throws {
        let before = "local all all peer\n"
        let after = try #require(AccessRules.adding("yard", to: before))
        #expect(after.hasSuffix(before))
        #expect(after.contains("\nhostssl \"yard\" +yardmaster_gateway,+yardmaster_operator"))
        #expect(AccessRules.adding("yard", to: after) == nil)
        #expect(AccessRules.adding("other", to: after) != nil)
    }
}
