package import Base

/// The fact that a person has recalled an image: no transfer of it begins until that is lifted.
///
/// A transfer that has begun is finished, as under an abort: a module that has half an image may run
/// none.
package struct Recall: JournalRecord, Sendable, Equatable {
    package let image: SHA256Digest
    /// Its name where it was recalled.
    package let name: String
    package let reason: String
    package let author: String
    package let made: WallTime

    package init(
        _ image: SHA256Digest,
        name: String,
        reason: String,
        author: String,
        at made: WallTime
    ) {
        self.image = image
        self.name = name
        self.reason = reason
        self.author = author
        self.made = made
    }

    /// The sentence for people about an image that is not sent.
    package var sentence: String {
        "its image \(name.visible) is recalled, by \(author.visible): \(reason.visible)"
    }

    static let columns = "image, name, reason, author, made"

    init(row: borrowing some RecordRow & ~Copyable) throws(JournalError) {
        image = try row.value(0) { SHA256Digest($0) }
        name = row.text(1) ?? ""
        reason = row.text(2) ?? ""
        author = row.text(3) ?? ""
        made = row.time(4) ?? WallTime(milliseconds: 0)
    }

    /// In the order of `columns`.
    var values: [Value] {
        [.text(image.description), .text(name), .text(reason), .text(author), Value(made)]
    }
}

/// The first transfer of an image to a module by a rollout, and what the module ran before it.
///
/// It outlives the records of runs: what vehicles are brought back to is read from it.
package struct Transfer: JournalRecord, Sendable, Equatable {
    package let serial: Serial
    package let vehicle: VehicleID
    package let rollout: String
    package let image: SHA256Digest
    /// The name of the image in the manifest.
    package let name: String
    package let version: FirmwareVersion?
    /// The part of the module that it replaces.
    package let target: String
    /// Nil when the module could not report it.
    package let before: FirmwareVersion?
    /// Whether the module was seen to run the image for good.
    package let isProven: Bool

    static let columns = "serial, vehicle, rollout, image, name, version, target, before, proven"

    init(row: borrowing some RecordRow & ~Copyable) throws(JournalError) {
        serial = try row.value(0) { Serial($0) }
        vehicle = try row.value(1) { VehicleID($0) }
        rollout = row.text(2) ?? ""
        image = try row.value(3) { SHA256Digest($0) }
        name = row.text(4) ?? ""
        version = try row.optional(5) { FirmwareVersion($0) }
        target = row.text(6) ?? ""
        before = try row.optional(7) { FirmwareVersion($0) }
        isProven = row.isTrue(8)
    }
}

extension Sequence<Transfer> {
    /// The image that each module ran when it was last seen to run one of these, by serial and part.
    package var running: [Transfer] {
        var last: [String: Transfer] = [:]
        for transfer in self where transfer.isProven {
            last["\(transfer.serial) \(transfer.target)"] = transfer
        }
        return last.values.sorted {
            ($0.vehicle, $0.serial.text, $0.target) < ($1.vehicle, $1.serial.text, $1.target)
        }
    }
}
