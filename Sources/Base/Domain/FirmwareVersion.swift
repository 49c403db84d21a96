/// A firmware version of two to four numbers, compared number by number.
///
/// Missing numbers count as zero: 4.12 and 4.12.0 are the same version.
package struct FirmwareVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let major: UInt32
    package let minor: UInt32
    package let patch: UInt32
    package let build: UInt32

    package init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32 = 0, build: UInt32 = 0) {
        self.major = major
        self.minor = minor
        self.patch = patch
        self.build = build
    }

    /// Reads `4.12`, `4.12.0`, `1.2.3.45` and `1.2.3+45`; anything else is nil.
    package init?(_ text: some StringProtocol) {
        let parts = Array(text.utf8).split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == 0x2E || $0 == 0x2B }
        )
        guard (2...4).contains(parts.count) else { return nil }
        if let plus = text.utf8.firstIndex(of: 0x2B) {
            let dots = text.utf8[..<plus].count { $0 == 0x2E }
            guard dots == 2, parts.count == 4 else { return nil }
        }
        var numbers: [UInt32] = [0, 0, 0, 0]
        for (index, part) in parts.enumerated() {
            guard (1...10).contains(part.count),
                part.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt32(String(decoding: part, as: UTF8.self))
            else { return nil }
            numbers[index] = number
        }
        self.init(numbers[0], numbers[1], numbers[2], build: numbers[3])
    }

    package var description: String {
        build == 0 ? "\(major).\(minor).\(patch)" : "\(major).\(minor).\(patch).\(build)"
    }

    package static func < (left: FirmwareVersion, right: FirmwareVersion) -> Bool {
        (left.major, left.minor, left.patch, left.build)
            < (right.major, right.minor, right.patch, right.build)
    }
}
