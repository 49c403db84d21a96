package import Base

/// The facts that a device with MCUboot keeps over a restart.
package struct SMPServerFacts: Equatable, Sendable {
    /// The content of a slot.
    package struct Content: Equatable, Sendable {
        package var version: FirmwareVersion
        package var hash: [UInt8]

        package init(version: FirmwareVersion, hash: [UInt8]) {
            self.version = version
            self.hash = hash
        }
    }

    package enum Mark: UInt8, Equatable, Sendable {
        case none, test, permanent
    }

    /// One image with its two slots.
    package struct Image: Equatable, Sendable {
        /// The running image; `isConfirmed` is whether it still runs after the next start.
        package var active: Content
        package var isConfirmed = true
        /// The slot of the running image: it changes only when images run in place.
        package var activeSlot = 0
        package var other: Content?
        /// Whether the other image has run before, so that it needs no check and is listed as
        /// confirmed.
        package var otherHasRun = false
        /// Whether the other image ran on trial and was not confirmed.
        package var otherWasTried = false
        package var mark = Mark.none
        /// The order of its marking among all images.
        package var markedAs: UInt8 = 0

        package init(active: Content) { self.active = active }

        package var otherSlot: Int { 1 - activeSlot }
    }

    /// An upload in progress.
    package struct Upload: Equatable, Sendable {
        package var image: Int
        package var length: Int
        package var sha: [UInt8]
        package var offset = 0
        package var erasedTo = 0
    }

    package var images: [Image]
    package var upload: Upload?
    package var values: SMPServerValues

    package init(images: [Image], values: SMPServerValues = SMPServerValues()) {
        precondition(!images.isEmpty, "a device has an image")
        self.images = images
        self.values = values
    }
}

/// How long a device can resume an interrupted upload.
package enum UploadRecall: String, CaseIterable, Sendable {
    /// Each link begins again.
    case untilDisconnect = "until-disconnect"
    /// The device remembers it in RAM: most devices.
    case untilRestart = "until-restart"
    /// The device remembers it in flash.
    case always
}

/// The properties of a simulated device with MCUboot.
package struct SMPServerRules: Sendable, Equatable {
    package var bufferSize = 2_475
    package var bufferCount = 4
    /// It reassembles messages from several writes.
    package var reassembles = true
    package var mode = BootloaderMode.swapMove
    package var tellsParameters = true
    package var tellsBootloader = true
    package var tellsSlots = true
    package var hasEcho = true
    /// Its characteristic takes writes with response only.
    package var wantsRequests = false
    /// It answers partial messages with an error, and does not reassemble messages.
    package var refusesParts = false
    package var listsHashes = true
    /// Its answers to pieces of an image contain the offset.
    package var tellsOffsets = true
    /// Its restart does not end the link: the other side's supervision timeout does.
    package var resetsInSilence = false
    /// The longest notification that it sends, even when the link could carry more; nil for no
    /// limit.
    package var notificationLimit: Int?
    /// It supports only the first version of the protocol.
    package var isVersion1 = false
    /// Its arrays and maps have indefinite lengths, as Zephyr's.
    package var hasOpenLengths = true
    /// It adds a result to every answer, as older devices do.
    package var addsResult = false
    /// It writes only whole words and drops the rest of a piece.
    package var writesWords = false
    package var recall = UploadRecall.untilRestart
    /// An erase does not end the upload into the erased slot.
    package var resumesIntoErased = false
    /// It compares the whole image with the announced digest.
    package var checksDigest = true
    /// It does not start a version older than the running one.
    package var refusesDowngrade = false
    /// It starts only images that are signed with this key; nil for any.
    package var key: [UInt8]?
    /// It lists of its other cores only what waits for them, as an nRF5340 does.
    package var hidesCores = false
    /// Images from this number on cannot revert.
    package var firstWithoutRevert = 1
    package var pageSize = 4_096
    /// It erases each page when its data arrives, not all pages at the beginning.
    package var erasesAsItGoes = true

    package init() {}
}
