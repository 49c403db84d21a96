import Base
import Store
import Testing

/// Addresses of fleets: they contain no password, and nothing that weakens the connection.
@Suite struct AddressTests {
    @Test func `an address names servers, user, database and files`() throws {
        let address = try FleetAddress(
            "postgresql://north%201@db1.example,db2.example:6432,[fe80::1]:7/yard"
                + "?sslrootcert=/etc/ca.pem&passfile=/etc/pass"
        )
        #expect(
            address.hosts == [
                .init("db1.example"), .init("db2.example", port: 6432), .init("fe80::1", port: 7),
            ]
        )
        #expect(address.user == "north 1" && address.database == "yard")
        #expect(address.files == [.sslrootcert: "/etc/ca.pem", .passfile: "/etc/pass"])
        #expect(address.isVerified)
    }

    @Test(arguments: [
        ("postgresql:///yard", "/var/run/postgresql", false),
        ("postgresql://%2Ftmp%2Fa:6000/yard", "/tmp/a", false),
        ("postgresql://localhost/yard", "localhost", false),
        ("postgresql://127.0.0.1/yard", "127.0.0.1", false),
        ("postgresql://[::1]/yard", "::1", false),
        ("postgresql://127.0.0.1.example/yard", "127.0.0.1.example", true),
        ("postgresql://localhost.example/yard", "localhost.example", true),
        ("postgres://10.0.0.1/yard", "10.0.0.1", true),
    ])
    func `what leaves the machine is verified`(text: String, host: String, isVerified: Bool) throws
    {
        let address = try FleetAddress(text)
        #expect(address.hosts.map(\.name) == [host])
        #expect(address.isVerified == isVerified)
        #expect(try FleetAddress(address.text) == address)
        let settings = FleetSettings(address, name: "yardmaster/north-1")
        let parameters = Dictionary(
            settings.parameters(for: address.hosts[0]),
            uniquingKeysWith: { first, _ in first }
        )
        #expect(parameters["sslmode"] == (isVerified ? "verify-full" : "prefer"))
        #expect(parameters["channel_binding"] == (isVerified ? "require" : "prefer"))
        #expect(parameters["target_session_attrs"] == "read-write")
    }

    @Test(arguments: [
        ("postgresql://north:secret@db/yard", FleetAddressError.password),
        ("postgresql://:secret@db/yard", .password),
        ("postgresql://db/yard?password=secret", .password),
        ("postgresql://db/yard?sslmode=disable", .parameter("sslmode")),
        ("postgresql://db/yard?options=-c%20x", .parameter("options")),
        ("mysql://db/yard", .scheme),
        ("postgresql://db", .form("it names no database")),
        ("postgresql://db:0/yard", .form("0 is no port")),
        ("postgresql://db:70000/yard", .form("70000 is no port")),
        ("postgresql://a,,b/yard", .form("a host has no name")),
        (
            "postgresql://db/yard?passfile=pass",
            .form("passfile is not the absolute path of a file")
        ),
        ("postgresql://db/ya%00rd", .form("it has bytes that are no text")),
        ("postgresql://db/ya%4", .form("a '%' is not followed by two hex digits")),
        ("postgresql://db/a/b", .form("the database's name has a '/'")),
    ])
    func `what is wrong with an address is said without showing it`(
        text: String,
        error: FleetAddressError
    ) {
        #expect(throws: error) { try FleetAddress(text) }
        #expect(!error.description.contains("secret") && !error.hint.contains("secret"))
    }

    @Test func `several servers are all verified when one is away`() throws {
        let address = try FleetAddress("postgresql://localhost,db.example/yard")
        #expect(address.isVerified)
    }

    @Test(arguments: [
        ("40001" as String?, FleetError.Kind.collided), ("40P01", .collided), ("55P03", .busy),
        ("57014", .busy), ("53300", .busy), ("57P01", .lost), ("25006", .lost), ("08006", .lost),
        ("42P01", .noSchema), ("42501", .forbidden), ("23514", .refused), ("28P01", .refused),
        (nil, .lost),
    ])
    func `what a code comes to`(code: String?, kind: FleetError.Kind) {
        #expect(FleetError.kind(of: code) == kind)
    }
}
