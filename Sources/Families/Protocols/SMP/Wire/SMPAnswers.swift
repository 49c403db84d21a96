package import Base

/// The largest message that the device accepts, and how many it can hold.
package struct SMPParameters: Equatable, Sendable {
    /// The size of a complete message, including its header.
    package let bufferSize: Int
    package let bufferCount: Int

    /// Nil when an update is impossible with these values.
    package init?(bufferSize: Int, bufferCount: Int) {
        guard bufferSize >= 64, bufferCount >= 1 else { return nil }
        // Messages cannot be longer, and no device needs more buffers than there are sequence
        // numbers.
        self.bufferSize = min(bufferSize, SMPHeader.length + 0xFFFF)
        self.bufferCount = min(bufferCount, 64)
    }

    /// Reads the answer; a device that reports the size but not the number has at least one buffer.
    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let size = body["buf_size"]?.integer else { throw .value("buf_size") }
        let count = max(1, body["buf_count"]?.integer ?? 1)
        guard let parameters = SMPParameters(bufferSize: size, bufferCount: count) else {
            throw .value("buf_size")
        }
        self = parameters
    }
}

/// How the bootloader starts a new image.
package enum BootloaderMode: Int, CaseIterable, Sendable, Hashable {
    case singleSlot = 0
    case swapScratch = 1
    case overwrite = 2
    case swapMove = 3
    case directXIP = 4
    case directXIPRevert = 5
    case ramLoad = 6
    case firmwareLoader = 7
    case singleSlotRAMLoad = 8
    case swapOffset = 9

    /// Whether the bootloader returns from an unconfirmed image to the old one at the next start.
    package var canRevert: Bool {
        switch self {
        case .swapScratch, .swapMove, .swapOffset, .directXIPRevert: true
        case .singleSlot, .overwrite, .directXIP, .ramLoad, .firmwareLoader, .singleSlotRAMLoad:
            false
        }
    }

    /// Whether an image must be marked to be started; otherwise the highest version starts.
    package var isMarked: Bool {
        switch self {
        case .swapScratch, .swapMove, .swapOffset, .directXIPRevert, .overwrite: true
        case .singleSlot, .directXIP, .ramLoad, .firmwareLoader, .singleSlotRAMLoad: false
        }
    }
}

/// The facts that the device reports about its bootloader.
package struct SMPBootloaderInfo: Equatable, Sendable {
    /// Nil for an unknown mode.
    package let mode: BootloaderMode?
    package let refusesDowngrade: Bool

    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let mode = body["mode"]?.integer else { throw .value("mode") }
        self.mode = BootloaderMode(rawValue: mode)
        refusesDowngrade = body["no-downgrade"]?.bool ?? false
    }
}

/// One image as the device lists it.
package struct SMPImage: Equatable, Sendable {
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let bootable = Self(rawValue: 1)
        package static let pending = Self(rawValue: 2)
        package static let confirmed = Self(rawValue: 4)
        package static let active = Self(rawValue: 8)
        package static let permanent = Self(rawValue: 16)

        static let names: [(String, Flags)] = [
            ("bootable", .bootable), ("pending", .pending), ("confirmed", .confirmed),
            ("active", .active), ("permanent", .permanent),
        ]
    }

    package let image: Int
    package let slot: Int
    /// Nil when the text is not a version.
    package let version: FirmwareVersion?
    /// The hash by which the bootloader identifies the image; nil when the device does not report
    /// it.
    package let hash: [UInt8]?
    package let flags: Flags

    package init(
        image: Int = 0,
        slot: Int,
        version: FirmwareVersion?,
        hash: [UInt8]?,
        flags: Flags
    ) {
        self.image = image
        self.slot = slot
        self.version = version
        self.hash = hash
        self.flags = flags
    }

    fileprivate init(_ item: CBORValue) throws(SMPReplyError) {
        guard let slot = item["slot"]?.integer, slot >= 0 else { throw .value("slot") }
        self.slot = slot
        let image = item["image"].map { $0.integer } ?? 0
        guard let image, (0...255).contains(image) else { throw .value("image") }
        self.image = image
        version = item["version"]?.text.flatMap { FirmwareVersion($0) }
        hash = item["hash"]?.bytes.flatMap { $0.isEmpty ? nil : $0 }
        flags = Flags.names.reduce(into: []) { flags, name in
            if item[name.0]?.bool == true { flags.insert(name.1) }
        }
    }
}

/// The contents of the device's slots.
package struct SMPImageList: Equatable, Sendable {
    package let images: [SMPImage]
    /// Whether it numbers its images: a device that has only one does not, and takes any number for it.
    package let hasNumbers: Bool

    package init(images: [SMPImage], hasNumbers: Bool = false) {
        (self.images, self.hasNumbers) = (images, hasNumbers)
    }

    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let items = body["images"]?.array else { throw .value("images") }
        var images: [SMPImage] = []
        for item in items { images.append(try SMPImage(item)) }
        self.init(images: images, hasNumbers: items.contains { $0["image"] != nil })
    }

    /// The running image with this number.
    package func active(_ image: Int) -> SMPImage? {
        images.first { $0.image == image && $0.flags.contains(.active) }
    }

    /// The images with this number that do not run.
    package func others(_ image: Int) -> [SMPImage] {
        images.filter { $0.image == image && !$0.flags.contains(.active) }
    }
}

/// The device's progress in an upload.
package struct SMPUploadReply: Equatable, Sendable {
    /// The next byte that the device wants; nil when it only reports success.
    package let offset: Int?
    /// At the end: whether the whole image has the announced digest.
    package let matches: Bool?

    package init(_ body: CBORValue) throws(SMPReplyError) {
        if let value = body["off"] {
            guard let offset = value.integer, offset >= 0 else { throw .value("off") }
            self.offset = offset
        } else {
            offset = nil
        }
        matches = body["match"]?.bool
    }
}

/// The slots for images.
package struct SMPSlotInfo: Equatable, Sendable {
    package struct Slot: Equatable, Sendable {
        package let image: Int
        package let slot: Int
        package let size: Int?
        /// The image number that an upload must name to reach the slot; nil when there is none.
        package let uploadID: Int?
        /// The largest image, if the device reports it: the bootloader needs part of the slot.
        package let maximum: Int?
    }

    package let slots: [Slot]

    package init(_ body: CBORValue) throws(SMPReplyError) {
        guard let images = body["images"]?.array else { throw .value("images") }
        var slots: [Slot] = []
        for item in images {
            guard let image = item["image"]?.integer, let list = item["slots"]?.array else {
                throw .value("image")
            }
            for entry in list {
                guard let slot = entry["slot"]?.integer else { throw .value("slot") }
                slots.append(
                    Slot(
                        image: image,
                        slot: slot,
                        size: entry["size"]?.integer,
                        uploadID: entry["upload_image_id"]?.integer,
                        maximum: item["max_image_size"]?.integer
                    )
                )
            }
        }
        self.slots = slots
    }
}
