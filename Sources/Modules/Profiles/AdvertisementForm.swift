package import Domain
package import Radio

/// How a module is known by what it advertises, and where its serial stands in that.
package struct AdvertisementForm: Sendable, Hashable {
    package enum SerialForm: String, CaseIterable, Sendable, Hashable {
        /// Raw bytes: two hex digits each.
        case hex
        /// Characters as they are.
        case text
    }

    package enum SerialPlace: Sendable, Hashable {
        /// After the company identifier: so many bytes from there on, and no more data than that
        /// unless `isExact` is false.
        case manufacturerData(offset: Int, length: Int, form: SerialForm, isExact: Bool)
        /// What follows this prefix of the name; the whole name after an empty one.
        case name(after: String)
        /// The address, for modules that never change theirs.
        case address
    }

    /// Nil when no manufacturer data is looked at.
    package let company: UInt16?
    /// Nil when no service is advertised.
    package let service: GATTUUID?
    /// Nil when the name is not looked at.
    package let name: NamePattern?
    /// In the order in which they are tried: the first that is there is what the module is called,
    /// and it may be listed by each of them.
    package let serials: [SerialPlace]

    /// Nil unless something tells these modules from others, and there is a serial.
    package init?(
        company: UInt16?,
        service: GATTUUID?,
        name: NamePattern? = nil,
        serials: [SerialPlace]
    ) {
        guard company != nil || service != nil || name != nil, !serials.isEmpty else { return nil }
        if company == nil {
            for case .manufacturerData in serials { return nil }
        }
        self.company = company
        self.service = service
        self.name = name
        self.serials = serials
    }

    /// Whether it is one of these modules, whichever.
    package func matches(_ advertisement: Advertisement) -> Bool {
        if let company, advertisement.manufacturerData[company] == nil { return false }
        if let service, !advertisement.services.contains(service) {
            // Not every module has room for its service beside the company's data.
            guard company != nil, advertisement.services.isEmpty else { return false }
        }
        guard let name else { return true }
        return advertisement.name.map(name.matches) ?? false
    }

    /// What the module may be listed by, the one it is called first; empty for everybody else.
    package func serials(in advertisement: Advertisement) -> [Serial] {
        guard matches(advertisement) else { return [] }
        var found: [Serial] = []
        for place in serials {
            guard let serial = serial(at: place, in: advertisement), !found.contains(serial) else {
                continue
            }
            found.append(serial)
        }
        return found
    }

    /// The serial of a module of this kind; nil for everybody else.
    package func serial(in advertisement: Advertisement) -> Serial? {
        serials(in: advertisement).first
    }

    private func serial(at place: SerialPlace, in advertisement: Advertisement) -> Serial? {
        switch place {
        case .manufacturerData(let offset, let length, let form, let isExact):
            guard let data = company.flatMap({ advertisement.manufacturerData[$0] }),
                offset >= 0, data.count - offset >= length,
                !isExact || data.count == offset + length
            else { return nil }
            let bytes = data[offset..<(offset + length)]
            switch form {
            case .hex: return Serial(bytes: bytes)
            case .text: return Serial(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
            }
        case .name(let prefix):
            guard let name = advertisement.name, name.hasPrefix(prefix) else { return nil }
            return Serial(name: name.dropFirst(prefix.count))
        case .address:
            return Serial(advertisement.peer.handle)
        }
    }
}

extension Serial {
    /// The serial of a module that is known by its name: a space becomes `_`, and what is neither
    /// a letter, a digit nor a sign of ASCII becomes `%` with its hex digits.
    package init?(name: some StringProtocol) {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case 0x20: text += "_"
            case 0x21...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + Hex.text([byte])
            }
        }
        self.init(text)
    }
}

/// A name in which `*` stands for any characters.
package struct NamePattern: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    /// Nil for a pattern that any name would match.
    package init?(_ text: String) {
        guard text.contains(where: { $0 != "*" }) else { return nil }
        self.text = text
    }

    package var description: String { text }

    package func matches(_ name: String) -> Bool {
        let pattern = Array(text.utf8)
        let name = Array(name.utf8)
        var (at, star, resume) = (0, -1, 0)
        var index = 0
        while index < name.count {
            if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
                (star, resume) = (at, index)
                at += 1
            } else if at < pattern.count, pattern[at] == name[index] {
                at += 1
                index += 1
            } else if star >= 0 {
                resume += 1
                (at, index) = (star + 1, resume)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

// MARK: The other way round

extension AdvertisementForm {
    /// Whether a module of this kind may be listed by it.
    package func canBe(_ serial: Serial) -> Bool {
        serials.contains { place in
            switch place {
            case .manufacturerData(_, let length, .hex, _):
                serial.text.utf8.count == length * 2 && Hex.bytes(serial.text) != nil
            case .manufacturerData(_, let length, .text, _): serial.text.utf8.count <= length
            case .name, .address: true
            }
        }
    }

    /// How many hex digits each serial has; nil where they have other forms.
    package var serialDigits: Int? {
        guard serials.count == 1, case .manufacturerData(_, let length, .hex, _) = serials[0] else {
            return nil
        }
        return length * 2
    }
}

extension AdvertisementForm {
    /// What a module with this serial advertises: for those that are simulated.
    package func advertised(
        _ serial: Serial,
        name: String?,
        address: String
    ) -> Advertisement {
        var heard = Advertisement(peer: Peer(handle: address), name: name, signal: 0)
        if let service { heard.services = [service] }
        if let company { heard.manufacturerData = [company: []] }
        switch serials[0] {
        case .manufacturerData(let offset, let length, let form, _):
            let bytes = form == .hex ? Hex.bytes(serial.text) ?? [] : Array(serial.text.utf8)
            let filled =
                bytes.prefix(length)
                + [UInt8](repeating: 0, count: max(0, length - bytes.count))
            company.map {
                heard.manufacturerData[$0] = [UInt8](repeating: 0, count: offset) + filled
            }
        case .name(let prefix): heard.name = prefix + serial.text
        case .address: heard.peer = Peer(handle: serial.text.uppercased())
        }
        return heard
    }
}
