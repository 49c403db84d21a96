/// Encodes names from outside as parts of addresses and of file names.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes everything except the unreserved characters of RFC 3986 section 2.3; also `/`.
    static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: text.append(byte)
            default: text += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
