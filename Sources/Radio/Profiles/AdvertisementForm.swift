package import Base

/// How to recognise modules by their advertisements, and where the serial is in them.
package struct AdvertisementForm: Sendable, Hashable {
    package enum SerialForm: String, CaseIterable, Sendable, Hashable {
        /// Raw bytes: two hex digits for each byte.
        case hex
        /// Characters as they are.
        case text
    }

    package enum SerialPlace: Sendable, Hashable {
        /// `length` bytes from `offset` after the company identifier. More data may follow only if
        /// `isExact` is false.
        case manufacturerData(offset: Int, length: Int, form: SerialForm, isExact: Bool)
        /// The part of the name after this prefix; with an empty prefix, the whole name.
        case name(after: String)
        /// The address, for modules whose address never changes.
        case address
    }

    /// Nil when the manufacturer data is not checked.
    package let company: UInt16?
    /// Nil when no service is advertised.
    package let service: GATTUUID?
    /// Nil when the name is not checked.
    package let name: NamePattern?
    /// The places in the order in which they are tried.
    ///
    /// The first serial found is the module's serial, and a fleet list may contain any of them.
    package let serials: [SerialPlace]

    /// Nil unless something distinguishes these modules from others, and there is a serial.
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

    /// Whether the advertiser is a module of this kind.
    package func matches(_ advertisement: Advertisement) -> Bool {
        if let company, advertisement.manufacturerData[company] == nil { return false }
        if let service, !advertisement.services.contains(service) {
            // Not every module has room for its service beside the manufacturer data.
            guard company != nil, advertisement.services.isEmpty else { return false }
        }
        guard let name else { return true }
        return advertisement.name.map(name.matches) ?? false
    }

    /// All serials of the module, the one that it is called by first; empty for other devices.
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

    /// The serial of a module of this kind; nil for other devices.
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
    /// The serial of a module that is recognised by its name: a space becomes `_`, and every byte
    /// that is not a visible ASCII character becomes `%` with two hex digits.
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

    /// Nil for a pattern that matches every name.
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
    /// Whether a module of this kind can have this serial.
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

    /// The number of hex digits of each serial; nil where serials have another form.
    package var serialDigits: Int? {
        guard serials.count == 1, case .manufacturerData(_, let length, .hex, _) = serials[0] else {
            return nil
        }
        return length * 2
    }
}

extension AdvertisementForm {
    /// The advertisement of a simulated module with this serial.
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
