import Base
import Glibc

/// The known facts about the origin of a part, so that a later run can request the rest of the same
/// file.
///
/// Only a hint: an error in it costs a transfer but never gives a wrong image, because the digest
/// decides.
struct PartNote: Equatable {
    private static let sizeLimit = 4_096

    /// The digest of the address, because the address may contain a secret.
    let source: SHA256Digest
    /// The server's strong validator, including its quotes.
    let validator: String

    init(source: SHA256Digest, validator: String) {
        self.source = source
        self.validator = validator
    }

    init?(_ origin: WebAddress, _ head: ResponseHead) {
        guard let validator = head.strongValidator else { return nil }
        self.init(source: SHA256.digest(of: Array(origin.text.utf8)), validator: validator)
    }

    func isFrom(_ origin: WebAddress) -> Bool {
        source == SHA256.digest(of: Array(origin.text.utf8))
    }

    var text: String { "source \(source)\nvalidator \(validator)\n" }

    /// Nil unless the text is exactly these two lines.
    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, lines[2].isEmpty, lines[0].hasPrefix("source "),
            let source = SHA256Digest(lines[0].dropFirst(7)), lines[1].hasPrefix("validator "),
            let validator = ResponseHead.strongValidator(String(lines[1].dropFirst(10)))
        else { return nil }
        self.init(source: source, validator: validator)
    }

    /// Nil when the file does not exist or is not one of ours.
    static func read(from path: String) -> PartNote? {
        guard let file = try? FilePlace.open(path, O_RDONLY) else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: sizeLimit)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0, count < sizeLimit else { return nil }
        return String(validating: bytes.prefix(count), as: UTF8.self).flatMap { PartNote(text: $0) }
    }

    func write(to path: String, by files: any FileLayer) throws(FileFault) {
        let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        defer { close(file) }
        try files.writeAll(Array(text.utf8), to: file, at: 0)
    }
}
