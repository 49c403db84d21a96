package import Base

/// The status and the headers of one HTTP answer that matter here; none of them is trusted.
package struct ResponseHead: Sendable, Equatable {
    /// An answer with more bytes of headers is refused.
    static let sizeLimit = 64 << 10

    /// The range of a file that a server says it sends.
    package struct Span: Sendable, Equatable {
        package let first: Int
        package let last: Int
        /// Nil when the server does not know it.
        package let total: Int?
    }

    /// The time when a server wants the next request.
    package enum Wait: Sendable, Equatable {
        case seconds(Int)
        case until(WallTime)

        /// Zero when that time is over.
        package func duration(from now: WallTime) -> Duration {
            switch self {
            case .seconds(let count): .seconds(count)
            case .until(let time):
                .milliseconds(
                    max(0, time.milliseconds.subtractingReportingOverflow(now.milliseconds).0)
                )
            }
        }
    }

    package private(set) var status = 0
    package private(set) var length: Int?
    package private(set) var span: Span?
    private(set) var entityTag: String?
    package private(set) var retryAfter: Wait?
    private(set) var contentType: String?
    private(set) var contentCoding: String?
    /// Whether it names another address.
    private(set) var hasLocation = false
    /// The contradiction in it, nil when there is none.
    package private(set) var fault: String?
    private var size = 0

    package init() {}

    /// Takes one line, with or without its line feed; a status line begins a new head.
    package mutating func take(_ line: [UInt8]) {
        var line = line[...]
        while let last = line.last, last == 0x0A || last == 0x0D { line = line.dropLast() }
        size += line.count + 2
        guard size <= Self.sizeLimit else {
            fault = "more than \(Self.sizeLimit) bytes of headers"
            return
        }
        if line.starts(with: "HTTP/".utf8) {
            let size = size
            self = ResponseHead()
            self.size = size
            let parts = line.split(separator: 0x20, maxSplits: 2)
            guard parts.count >= 2, parts[1].count == 3, let status = Self.number(parts[1]) else {
                fault = "no status"
                return
            }
            self.status = status
            return
        }
        guard let colon = line.firstIndex(of: 0x3A) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        let value = Self.trimmed(line[(colon + 1)...])
        take(name, value)
    }

    private mutating func take(_ name: String, _ value: ArraySlice<UInt8>) {
        let text = String(decoding: value, as: UTF8.self)
        switch name {
        case "content-length":
            guard let number = Self.number(value) else { return fault = "no length" }
            if let length, length != number { fault = "two different lengths" }
            length = number
        case "content-range":
            let span = Self.span(text)
            if self.span != nil, self.span != span { fault = "two different ranges" }
            self.span = span
            if span == nil, !text.hasPrefix("bytes */") { fault = "no range" }
        case "etag": entityTag = text
        case "retry-after":
            if let seconds = Self.number(value) {
                retryAfter = .seconds(seconds)
            } else if let date = WallTime(httpDate: text) {
                retryAfter = .until(date)
            }
        case "content-type": contentType = text
        case "content-encoding": contentCoding = text
        case "location": hasLocation = !value.isEmpty
        default: return
        }
    }

    /// The validator by which a server recognises that a file has not changed by a single byte, if
    /// it sent one.
    package var strongValidator: String? { entityTag.flatMap(Self.strongValidator) }

    /// `"…"` of printable characters (RFC 9110, section 8.8.3); nil also for a weak one.
    static func strongValidator(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard (2...512).contains(bytes.count), bytes.first == 0x22, bytes.last == 0x22,
            bytes.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) })
        else { return nil }
        return text
    }

    /// Reads `bytes 0-99/1000`, or `*` for an unknown total.
    private static func span(_ text: String) -> Span? {
        guard text.hasPrefix("bytes ") else { return nil }
        let parts = text.utf8.dropFirst(6).split(separator: 0x2F, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: 0x2D, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]),
            first <= last
        else { return nil }
        if parts[1].elementsEqual([0x2A]) { return Span(first: first, last: last, total: nil) }
        guard let total = number(parts[1]), last < total else { return nil }
        return Span(first: first, last: last, total: total)
    }

    /// Reads up to 18 digits and no other characters.
    private static func number(_ bytes: some Collection<UInt8>) -> Int? {
        guard (1...18).contains(bytes.count) else { return nil }
        var value = 0
        for byte in bytes {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return bytes
    }
}
