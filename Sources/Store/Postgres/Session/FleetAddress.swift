import Base

/// Where a fleet's PostgreSQL is: `postgresql://USER@HOST:PORT,HOST:PORT/DATABASE?KEY=VALUE`.
///
/// It appears in command lines and files that many can read, so it has no password.
package struct FleetAddress: Sendable, Equatable {
    /// One server; several are tried in their order.
    package struct Host: Sendable, Equatable {
        /// A name, an address, or the directory of a unix socket.
        package let name: String
        package let port: UInt16

        package init(_ name: String, port: UInt16 = 5432) {
            self.name = name
            self.port = port
        }

        package var isSocket: Bool { name.hasPrefix("/") }

        /// Whether data for it stays on this machine.
        package var isLocal: Bool {
            if isSocket || name == "localhost" || name == "::1" { return true }
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        }

        package var text: String {
            if isSocket { return "\(name)/.s.PGSQL.\(port)" }
            return name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
        }
    }

    /// Parameters after the question mark: files, each passed to libpq under the same name.
    package enum File: String, CaseIterable, Sendable {
        case passfile, sslrootcert, sslcert, sslkey, sslcrl
    }

    package let hosts: [Host]
    /// Nil for the name of the user that runs the program.
    package let user: String?
    package let database: String
    package let files: [File: String]

    /// The directory of the socket of Debian's server.
    static let usualSocket = "/var/run/postgresql"

    package init(hosts: [Host], user: String?, database: String, files: [File: String] = [:]) {
        self.hosts = hosts
        self.user = user
        self.database = database
        self.files = files
    }

    package init(_ text: String) throws(FleetAddressError) {
        let prefixes = ["postgresql://", "postgres://"]
        guard let prefix = prefixes.first(where: text.hasPrefix) else { throw .scheme }
        var rest = text.dropFirst(prefix.count)
        guard !rest.contains("#") else { throw .form("it has a '#'") }
        var query: Substring = ""
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        var path: Substring = ""
        if let slash = rest.firstIndex(of: "/") {
            path = rest[rest.index(after: slash)...]
            rest = rest[..<slash]
        }
        var user: String?
        if let at = rest.lastIndex(of: "@") {
            let before = rest[..<at]
            guard !before.contains(":") else { throw .password }
            user = before.isEmpty ? nil : try Self.plain(before)
            rest = rest[rest.index(after: at)...]
        }
        guard !path.contains("/") else { throw .form("the database's name has a '/'") }
        let database = try Self.plain(path)
        guard !database.isEmpty else { throw .form("it names no database") }
        var files: [File: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = try Self.plain(parts[0])
            if key == "password" || key == "sslpassword" { throw .password }
            guard let file = File(rawValue: key) else { throw .parameter(key) }
            let value = parts.count == 2 ? try Self.plain(parts[1]) : ""
            guard value.hasPrefix("/") else {
                throw .form("\(key) is not the absolute path of a file")
            }
            guard files.updateValue(value, forKey: file) == nil else {
                throw .form("it has \(key) twice")
            }
        }
        self.init(
            hosts: try Self.hosts(rest),
            user: user,
            database: database,
            files: files
        )
    }

    private static func hosts(_ text: Substring) throws(FleetAddressError) -> [Host] {
        guard !text.isEmpty else { return [Host(usualSocket)] }
        var hosts: [Host] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            var name = part
            var port: UInt16 = 5432
            if part.hasPrefix("[") {
                guard let end = part.firstIndex(of: "]") else {
                    throw .form("a '[' is not closed")
                }
                name = part[part.index(after: part.startIndex)..<end]
                let tail = part[part.index(after: end)...]
                guard tail.isEmpty || tail.hasPrefix(":") else {
                    throw .form("after ']' comes ':' and a port")
                }
                if !tail.isEmpty { port = try Self.port(tail.dropFirst()) }
            } else if let colon = part.firstIndex(of: ":") {
                name = part[..<colon]
                port = try Self.port(part[part.index(after: colon)...])
            }
            let plain = try Self.plain(name)
            guard !plain.isEmpty else { throw .form("a host has no name") }
            hosts.append(Host(plain, port: port))
        }
        guard hosts.count <= 16 else { throw .form("it has more than 16 hosts") }
        return hosts
    }

    private static func port(_ text: Substring) throws(FleetAddressError) -> UInt16 {
        guard let port = UInt16(text), port > 0, text.allSatisfy(\.isNumber) else {
            throw .form("\(text.visible) is no port")
        }
        return port
    }

    /// Decodes percent signs; refuses control characters, because libpq's values end at a zero
    /// byte.
    private static func plain(_ text: Substring) throws(FleetAddressError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard digits.count == 2, let value = Hex.bytes(String(decoding: digits, as: UTF8.self))
            else { throw .form("a '%' is not followed by two hex digits") }
            bytes += value
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let plain = String(validating: bytes, as: UTF8.self)
        else { throw .form("it has bytes that are no text") }
        return plain
    }

    /// The address in the form in which it can be given again; nothing in it is secret.
    package var text: String {
        let servers = hosts.map { host in
            host.isSocket
                ? host.name.replacing("/", with: "%2F") + ":\(host.port)" : host.text
        }
        return "postgresql://" + (user.map { $0 + "@" } ?? "") + servers.joined(separator: ",")
            + "/" + database
    }

    /// The same with its files.
    package var fullText: String {
        let pairs = File.allCases.compactMap { file in
            files[file].map { path in
                let marks = [("%", "%25"), ("&", "%26"), ("#", "%23")]
                return "\(file)=" + marks.reduce(path) { $0.replacing($1.0, with: $1.1) }
            }
        }
        return text + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    /// The same server with another database or other files.
    package func with(database: String? = nil, files: [File: String]? = nil) -> FleetAddress {
        FleetAddress(
            hosts: hosts,
            user: user,
            database: database ?? self.database,
            files: files ?? self.files
        )
    }

    /// Whether TLS with a verified name is used; not when all data stays on this machine.
    package var isVerified: Bool { !hosts.allSatisfy(\.isLocal) }
}

/// Why a text is no address of a fleet; the text itself is not shown, because it may contain a
/// password.
package enum FleetAddressError: Error, Equatable, CustomStringConvertible {
    case scheme
    case password
    case parameter(String)
    case form(String)

    package var description: String {
        switch self {
        case .scheme: "it does not begin with postgresql://"
        case .password: "it has a password, which others can read there"
        case .parameter("sslmode"):
            "sslmode is not a choice: TLS is verified for every server off this machine"
        case .parameter(let key):
            "\(key.visible) is no parameter of it; there are "
                + FleetAddress.File.allCases.map(\.rawValue).joined(separator: ", ")
        case .form(let text): text
        }
    }

    package var hint: String {
        switch self {
        case .password:
            "keep it in a file of mode 0600 that ?passfile=FILE names (HOST:PORT:DATABASE:USER:PASSWORD), "
                + "or hand it over with LoadCredential=fleet-password:FILE"
        case .scheme, .parameter, .form:
            "write it as in postgresql://gateway@db.example/yardmaster"
        }
    }
}
