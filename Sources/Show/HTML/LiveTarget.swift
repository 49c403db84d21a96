import Base

/// The parsed address of a request (RFC 3986): the words of a path and the values of a query.
///
/// Ambiguous addresses are refused: a proxy in front must not read an address in another way than
/// we do.
package struct LiveTarget: Sendable, Equatable {
    /// Percent-decoded; none is empty, `.` or `..`.
    package let words: [String]
    /// By name; no name occurs twice.
    package let query: [String: String]

    /// Why an address is refused.
    package enum Fault: Error, Sendable, Equatable, CaseIterable {
        case tooLong, notAPath, badEscape, badText, badWord, doubleName
    }

    package static let limit = 2_048

    package init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.limit else { throw .tooLong }
        let bytes = Array(text.utf8)
        // Neither `http://…` nor `*` nor `//host`.
        guard bytes.first == 0x2F, bytes.dropFirst().first != 0x2F else { throw .notAPath }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x23 }) else {
            throw .badText
        }
        let mark = bytes.firstIndex(of: 0x3F) ?? bytes.endIndex
        var words: [String] = []
        let path = bytes[1..<mark]
        if !path.isEmpty {
            for part in path.split(separator: 0x2F, omittingEmptySubsequences: false) {
                let word = try Self.decoded(part, plusIsSpace: false)
                guard !word.isEmpty, word != ".", word != ".." else { throw .badWord }
                words.append(word)
            }
        }
        self.words = words
        query = try Self.form(bytes[mark...].dropFirst())
    }

    /// The fields of a form, in a query or in a body (`application/x-www-form-urlencoded`).
    package static func form(_ bytes: ArraySlice<UInt8>) throws(Fault) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in bytes.split(separator: 0x26) {
            let sign = pair.firstIndex(of: 0x3D) ?? pair.endIndex
            let name = try decoded(pair[..<sign], plusIsSpace: true)
            let value = try decoded(pair[sign...].dropFirst(), plusIsSpace: true)
            guard fields.updateValue(value, forKey: name) == nil else { throw .doubleName }
        }
        return fields
    }

    private static func decoded(
        _ bytes: ArraySlice<UInt8>,
        plusIsSpace: Bool
    ) throws(Fault) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case 0x25:
                guard let high = rest.popFirst().flatMap(digit),
                    let low = rest.popFirst().flatMap(digit)
                else { throw .badEscape }
                result.append(high << 4 | low)
            case 0x2B where plusIsSpace: result.append(0x20)
            default: result.append(byte)
            }
        }
        guard let text = String(validating: result, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { throw .badText }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// A word for an address: everything except letters, digits and `-._~` is escaped.
    package static func escaped(_ word: String) -> String {
        var text = ""
        for byte in word.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + Hex.text([byte]).uppercased()
            }
        }
        // As words of a path these would have another meaning.
        return text == "." ? "%2E" : text == ".." ? "%2E%2E" : text
    }
}
