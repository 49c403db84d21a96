package import Base

/// The invitation of one gateway to a fleet, as one line of text that is handed to its machine.
///
/// It is a secret until it is used: its password opens the database once.
package struct FleetInvitation: Sendable, Equatable {
    /// Its user is the gateway's, who is called like the gateway.
    package let address: FleetAddress
    package let password: Secret
    /// The certificate that signs the server's, as DER; nil for one of the authorities of every machine.
    package let authority: [UInt8]?
    package let expires: WallTime

    package var gateway: String { address.user ?? "" }

    /// Nil when the address has no user or a text that the line cannot carry.
    package init?(
        _ address: FleetAddress,
        password: Secret,
        authority: [UInt8]?,
        expires: WallTime
    ) {
        guard let user = address.user, Self.isName(user), address.files.isEmpty,
            authority?.isEmpty != true, (try? FleetAddress(address.text)) == address
        else { return nil }
        self.address = address
        self.password = password
        self.authority = authority
        self.expires = expires
    }

    /// Whether a gateway and its user of the database can be called this.
    ///
    /// PostgreSQL keeps names that begin with `pg_`, and the fleet its roles.
    package static func isName(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}/) != nil
            && !["pg_", "yardmaster_"].contains(where: text.lowercased().hasPrefix)
    }

    /// A new password: letters and digits with 160 random bits, which need no quotes anywhere.
    package static func newPassword() -> Secret {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return Secret(Array(Hex.text(bytes).utf8))
    }

    // MARK: Text

    private static let family = "yardmaster-fleet-"
    private static let version = "1"
    private static let sumLength = 8
    /// The longest text that is read.
    package static let limit = 16_384

    /// The line, without a line feed; it is secret.
    package var text: String {
        let document = JSONValue.object([
            "address": .string(address.text),
            "password": .string(password.withBytes { String(decoding: $0, as: UTF8.self) }),
            "authority": authority.map { .string(Base64.text($0)) },
            "expires": .integer(expires.milliseconds),
        ])
        let bytes = Array(document.text.utf8)
        return Self.family + Self.version + "." + Base64.text(bytes + Self.sum(of: bytes))
    }

    private static func sum(of bytes: [UInt8]) -> [UInt8] {
        Array(SHA256.digest(of: bytes).bytes.prefix(sumLength))
    }

    /// Reads a text; blanks and line ends in it are what mail and terminals put there.
    package init(_ text: Secret) throws(FleetInvitationError) {
        var bytes = text.withBytes { $0.filter { $0 > 0x20 } }
        defer { bytes.wipe() }
        guard bytes.starts(with: Self.family.utf8), bytes.count <= Self.limit else {
            throw .notOne
        }
        let rest = bytes.dropFirst(Self.family.utf8.count)
        guard let dot = rest.firstIndex(of: 0x2E) else { throw .damaged }
        let version = rest[..<dot]
        guard version.elementsEqual(Self.version.utf8) else {
            let isNumber =
                (1...4).contains(version.count)
                && version.allSatisfy { (0x30...0x39).contains($0) }
            throw isNumber ? .otherVersion(String(decoding: version, as: UTF8.self)) : .damaged
        }
        guard var body = Base64.bytes(rest[(dot + 1)...]), body.count > Self.sumLength else {
            throw .damaged
        }
        defer { body.wipe() }
        let content = Array(body.dropLast(Self.sumLength))
        guard body.suffix(Self.sumLength).elementsEqual(Self.sum(of: content)) else {
            throw .damaged
        }
        guard let document = try? JSONValue(json: content),
            let invitation = Self.read(document)
        else { throw .unfit }
        self = invitation
    }

    private static func read(_ document: JSONValue) -> FleetInvitation? {
        guard let address = document["address"]?.string.flatMap({ try? FleetAddress($0) }),
            let password = document["password"]?.string, !password.isEmpty,
            password.utf8.allSatisfy(Hex.isDigit),
            let expires = document["expires"]?.integer
        else { return nil }
        var authority: [UInt8]?
        if let text = document["authority"]?.string {
            guard let bytes = Base64.bytes(text.utf8), !bytes.isEmpty else { return nil }
            authority = bytes
        }
        return FleetInvitation(
            address,
            password: Secret(Array(password.utf8)),
            authority: authority,
            expires: WallTime(milliseconds: expires)
        )
    }
}

/// Why a text is no invitation; nothing of the text is shown, because it may be most of a secret.
package enum FleetInvitationError: Error, Equatable, CustomStringConvertible {
    case notOne
    case otherVersion(String)
    /// A character is missing or another one.
    case damaged
    /// It was not made by `fleet invite`.
    case unfit

    package var description: String {
        switch self {
        case .notOne: "it does not begin like one"
        case .otherVersion(let version): "it is of version \(version), and this program knows 1"
        case .damaged: "a part of it is missing or was changed"
        case .unfit: "what it says names no fleet"
        }
    }

    package var hint: String {
        switch self {
        case .otherVersion: "install the same version of yardmaster on the server and here"
        case .notOne, .damaged, .unfit:
            "copy the whole line that 'yardmaster fleet invite NAME' printed on the server"
        }
    }
}
