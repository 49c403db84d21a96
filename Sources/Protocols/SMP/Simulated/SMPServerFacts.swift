package import Domain

/// What a device with MCUboot remembers over a restart.
package struct SMPServerFacts: Equatable, Sendable {
    /// What is in a slot.
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
        /// What runs, and whether it still does after the next start.
        package var active: Content
        package var isConfirmed = true
        /// Where what runs lies: changes only where images run in place.
        package var activeSlot = 0
        package var other: Content?
        /// The other has run before, so it needs no check and is listed as confirmed.
        package var otherHasRun = false
        /// The other ran on trial and was not confirmed.
        package var otherWasTried = false
        package var mark = Mark.none
        /// When it was marked, among all images.
        package var markedAs: UInt8 = 0

        package init(active: Content) { self.active = active }

        package var otherSlot: Int { 1 - activeSlot }
    }

    /// An upload under way.
    package struct Upload: Equatable, Sendable {
        package let image: Int
        package let length: Int
        package let sha: [UInt8]
        package var offset = 0
        package var erasedTo = 0

        package init(
            image: Int,
            length: Int,
            sha: [UInt8],
            offset: Int = 0,
            erasedTo: Int = 0
        ) {
            self.image = image
            self.length = length
            self.sha = sha
            self.offset = offset
            self.erasedTo = erasedTo
        }
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

/// How long a device knows an upload again that broke off.
package enum UploadRecall: String, CaseIterable, Sendable {
    /// Each link begins again.
    case untilDisconnect = "until-disconnect"
    /// In its RAM: most devices.
    case untilRestart = "until-restart"
    /// In its flash.
    case always
}

/// How a simulated device with MCUboot is made.
package struct SMPServerRules: Sendable, Equatable {
    package var bufferSize = 2_475
    package var bufferCount = 4
    /// It puts messages together from several writes.
    package var reassembles = true
    package var mode = BootloaderMode.swapMove
    package var tellsParameters = true
    package var tellsBootloader = true
    package var tellsSlots = true
    package var hasEcho = true
    /// It tells of a message that it got in part, and does not put messages together.
    package var refusesParts = false
    package var listsHashes = true
    /// Its answers to pieces of an image say how far it is.
    package var tellsOffsets = true
    /// Its restart does not end the link: the other side's supervision timeout does.
    package var resetsInSilence = false
    /// Its notifications carry no more bytes than so many, whatever the link could.
    package var notificationLimit: Int?
    /// It knows the first version of the protocol only.
    package var isVersion1 = false
    /// Zephyr's arrays and maps have open lengths.
    package var hasOpenLengths = true
    /// Older ones add a result to every answer.
    package var addsResult = false
    /// It writes whole words only and drops the rest of a piece.
    package var writesWords = false
    package var recall = UploadRecall.untilRestart
    /// An erase does not end the upload that went there.
    package var resumesIntoErased = false
    /// It compares the whole with the digest that was announced.
    package var checksDigest = true
    /// It does not start a version older than the one that runs.
    package var refusesDowngrade = false
    /// Only images signed with this key start.
    package var key: [UInt8]?
    /// Images from this number on cannot go back.
    package var firstWithoutRevert = 1
    package var pageSize = 4_096
    /// Erases page by page as data come, not all at the beginning.
    package var erasesAsItGoes = true

    package init() {}
}
