import Base

/// A kind of text with its own rules, defined once for the reader and for editors.
enum Form: CaseIterable, Sendable {
    case name, imageName, vehicleID, serial, profile, secret, path
    case key, target
    case source, digest, version, clock, opening, days, zone, adapter, property, label, condition,
        word

    /// The name for messages, with its article.
    var title: String {
        switch self {
        case .name: "a name"
        case .imageName: "an image name"
        case .vehicleID: "a vehicle's id"
        case .serial: "a serial"
        case .profile: "a profile"
        case .secret: "a secret reference"
        case .path: "a path"
        case .key: "a public key"
        case .target: "a target's name"
        case .source: "a URL"
        case .digest: "a SHA-256 digest"
        case .version: "a version"
        case .clock: "a time of day"
        case .opening: "an opening"
        case .days: "a rule for days"
        case .zone: "a time zone"
        case .adapter: "an adapter"
        case .property: "a property"
        case .label: "a label"
        case .condition: "a condition"
        case .word: "a word"
        }
    }

    /// A description of valid text.
    var hint: String {
        switch self {
        case .name, .profile: "1 to 64 of a-z, 0-9, `.`, `_` and `-`; not `.` or `-` first"
        case .imageName:
            "1 to 64 of A-Z, a-z, 0-9, `.`, `_` and `-`; not `.` or `-` first"
        case .vehicleID:
            "1 to 128 bytes that are seen, with spaces only inside; without `*`, `?` and `=`, and not "
                + "`+`, `-` or `@` first"
        case .serial:
            "1 to 64 visible ASCII characters without spaces, `*` and `?`; not `=`, `+`, `-` or `@` "
                + "first"
        case .secret: "write `file:PATH`, `credential:NAME` or `env:NAME`, never the secret itself"
        case .path: "write a path relative to the manifest, such as `fleet.csv`"
        case .key: "write `RW…` as minisign prints it, or the path of its file"
        case .target: "write it as the repository does, without empty parts, `.` and `..`"
        case .source: "write `https://…`, `file:RELATIVE` or `file:///ABSOLUTE`"
        case .digest: "64 hex digits, as `sha256sum FILE` prints them"
        case .version: "two to four numbers, such as \"4.12.0\""
        case .clock: "write hours and minutes, such as \"01:00\""
        case .opening:
            "write days if not every day, then times: \"mon-thu 22:00-05:00\", \"01:00 for 4h\""
        case .days: "write mon-fri, 2026-12-24, 12-20..01-06 or last friday"
        case .zone: "write an area and city, such as Europe/Tallinn, or UTC"
        case .adapter: "write `hci0`, `hci1`, … or its address, such as `00:1A:7D:DA:71:13`"
        case .property: "a letter, then up to 63 of letters, digits, `_`, `.` and `-`"
        case .label: "write the name of a column of the fleet list"
        case .condition: "write an operator and a value, such as \">= 40\" or \"== locked\""
        case .word: "write the program, then each of its arguments"
        }
    }

    /// The same rule as a regular expression, for the JSON Schema.
    ///
    /// The expression may accept more than `accepts` where an exact one would be unreadable, but
    /// never less.
    var pattern: String {
        switch self {
        case .name, .profile: "^[a-z0-9_][a-z0-9._-]{0,63}$"
        case .imageName: "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$"
        case .vehicleID:
            "^[^\\u0000-\\u0020\\u007f*?=+@-]([^\\u0000-\\u001f\\u007f*?=]*"
                + "[^\\u0000-\\u0020\\u007f*?=])?$"
        case .serial: "^[!-),.-<>A-~][!-)+->@-~]{0,63}$"
        case .secret: "^(file|credential|env):.+$"
        case .path: "^.{1,4096}$"
        case .key: "^.{1,4096}$"
        case .target: "^[^/].{0,1023}$"
        case .source: "^(https?://|file:).+$"
        case .digest: "^[0-9A-Fa-f]{64}$"
        case .version: "^[0-9]{1,10}\\.[0-9]{1,10}([.+][0-9]{1,10}){0,2}$"
        case .clock: "^([01][0-9]|2[0-3]):[0-5][0-9]$"
        case .opening:
            "^(.+ )?([01][0-9]|2[0-3]):[0-5][0-9](-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)| +for +[0-9a-z]+)"
                + " *$"
        case .days: "^.*[a-zA-Z0-9].*$"
        case .zone: "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,3}$"
        case .adapter: "^(hci[0-9]{1,3}|([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})$"
        case .property: "^[A-Za-z][A-Za-z0-9_.-]{0,63}$"
        case .label, .word: "^.+$"
        case .condition: "^ *(==|!=|>=|<=|>|<)? *[^ ].*$"
        }
    }

    /// Whether the text must be quoted, because other YAML readers would take it for a number.
    var needsQuotes: Bool { self == .version || self == .clock }

    func accepts(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return switch self {
        case .name, .profile: Naming.isWord(bytes, upperCase: false)
        case .imageName: Naming.isWord(bytes, upperCase: true)
        case .vehicleID: VehicleID(text) != nil
        case .serial: Serial(text) != nil
        case .secret: true
        case .path: bytes.count <= 4_096 && !bytes.contains(0)
        case .key: bytes.count <= 4_096 && !bytes.isEmpty && !bytes.contains(0)
        case .target: Self.isTarget(bytes)
        case .source: true
        case .digest: SHA256Digest(text) != nil
        case .version: FirmwareVersion(text) != nil
        case .clock: TimeOfDay(text) != nil
        case .opening, .days: calendarFault(text) == nil
        case .zone: Self.isZone(text)
        case .adapter:
            bytes.starts(with: Array("hci".utf8)) && (4...6).contains(bytes.count)
                && bytes.dropFirst(3).allSatisfy(Self.isDigit)
                || Self.isAddress(bytes)
        case .property:
            (1...64).contains(bytes.count) && Self.isLetter(bytes[0])
                && bytes.allSatisfy { Self.isWordByte($0, upperCase: true) }
        case .label, .condition: true
        case .word: !bytes.isEmpty && !bytes.contains(0)
        }
    }

    private static func isAddress(_ bytes: [UInt8]) -> Bool {
        let parts = bytes.split(separator: 0x3A, omittingEmptySubsequences: false)
        return parts.count == 6 && parts.allSatisfy { $0.count == 2 && $0.allSatisfy(Hex.isDigit) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func isWordByte(_ byte: UInt8, upperCase: Bool) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        case 0x41...0x5A: upperCase
        default: false
        }
    }

    /// Why the text is not an opening or a rule for days; nil for other forms.
    private func calendarFault(_ text: String) -> CalendarFault? {
        do throws(CalendarFault) {
            if self == .opening { _ = try Opening(text) }
            if self == .days { _ = try DayRule.list(text.lowercased()) }
            return nil
        } catch { return error }
    }

    /// Whether this is a minisign key as its single line of text, and not the path of a file that
    /// contains it.
    static func isKeyText(_ text: String) -> Bool {
        text.utf8.count == 56 && text.hasPrefix("RW") && !text.utf8.contains(0x2E)
    }

    private static func isTarget(_ bytes: [UInt8]) -> Bool {
        (1...1_024).contains(bytes.count) && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            && bytes.split(separator: 0x2F, omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
            }
    }

    /// Checks the characters of an area and city; the zone itself is looked up when it is used.
    private static func isZone(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        return (1...4).contains(parts.count) && text.utf8.count <= 64
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        isDigit($0) || isLetter($0) || $0 == 0x5F || $0 == 0x2B || $0 == 0x2D
                    }
            }
    }
}

extension Form {
    /// The text of a node in this form, or nil after an error that does not repeat a secret.
    func read(_ node: SourceNode, _ diagnostics: Diagnostics) -> String? {
        if self == .clock, case .scalar(let text, _) = node.value,
            let time = TimeOfDay(twelveHours: text)
        {
            diagnostics.error(
                node.place,
                "\(quoted(text)) is not \(title)",
                hint: "write \"\(time)\""
            )
            return nil
        }
        let text =
            needsQuotes ? node.quotedText(diagnostics, title) : node.text(diagnostics, title)
        guard let text else { return nil }
        guard accepts(text) else {
            let why = calendarFault(text).map { ": \($0)" } ?? ""
            diagnostics.error(node.place, "\(quoted(text)) is not \(title)\(why)", hint: hint)
            return nil
        }
        return text
    }
}
