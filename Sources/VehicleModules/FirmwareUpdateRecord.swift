import Base
import Radio

/// The facts of an update that must outlive the program that began it.
///
/// A program stores its `text` and passes it to the update that continues. Without it, the module
/// itself reports how much of the image it has, and only the time already spent waiting for the
/// module is lost.
public struct FirmwareUpdateRecord: Sendable, Equatable {
    let digest: SHA256Digest
    let memory: UpdateMemory
    /// Where the module's bootloader advertises, if it has no name.
    let bootloader: String?

    init(_ digest: SHA256Digest, _ memory: UpdateMemory, bootloader: String?) {
        self.digest = digest
        self.memory = memory
        self.bootloader = bootloader
    }

    /// The digest of the image that was begun, in hex.
    public var image: String { digest.description }

    /// The record as one line of text.
    public var text: String {
        let numbers = [memory.part, memory.acknowledged, memory.interruptions, memory.restarts]
        let facts = [
            "1", image, memory.stage.rawValue,
            memory.settleDeadline.map { String($0.milliseconds) } ?? "-",
            memory.targetSeen ? "seen" : "-", memory.inBootloader ? "bootloader" : "-",
        ]
        return (facts + numbers.map { String($0) } + [bootloader ?? "-"]).joined(separator: " ")
    }

    /// Nil for any text that is not a record.
    public init?(_ text: String) {
        let line = text.prefix { !$0.isNewline }
        let words = line.split(separator: " ", maxSplits: 10).map(String.init)
        guard words.count == 11, words[0] == "1", let digest = SHA256Digest(words[1]),
            let stage = UpdateMemory.Stage(rawValue: words[2]),
            words[3] == "-" || Int64(words[3]) != nil
        else { return nil }
        let numbers = words[6..<10].compactMap { Int($0) }
        guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        var memory = UpdateMemory()
        memory.stage = stage
        memory.settleDeadline = Int64(words[3]).map { WallTime(milliseconds: $0) }
        memory.targetSeen = words[4] == "seen"
        memory.inBootloader = words[5] == "bootloader"
        (memory.part, memory.acknowledged) = (numbers[0], numbers[1])
        (memory.interruptions, memory.restarts) = (numbers[2], numbers[3])
        self.init(digest, memory, bootloader: words[10] == "-" ? nil : words[10])
    }

    /// Whether the records differ at most in the number of bytes, which the module itself knows.
    func isSame(as other: Self?) -> Bool {
        guard var mine = other?.memory, other?.digest == digest, other?.bootloader == bootloader
        else { return false }
        mine.acknowledged = memory.acknowledged
        return mine == memory
    }
}
