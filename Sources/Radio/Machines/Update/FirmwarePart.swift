/// One piece of firmware to send, with its init packet.
package struct FirmwarePart: Sendable, Equatable {
    /// The same firmware linked for one slot of the module.
    package struct Variant: Sendable, Equatable {
        /// Nil when the firmware runs from any slot.
        package let slot: Int?
        package let checksums: PrefixChecksums

        package init(slot: Int? = nil, firmware: [UInt8]) {
            self.slot = slot
            checksums = PrefixChecksums(firmware)
        }

        package var firmware: [UInt8] { checksums.bytes }

        package static func == (left: Variant, right: Variant) -> Bool {
            left.slot == right.slot && left.firmware == right.firmware
        }
    }

    /// The packet that the module checks before it accepts the firmware; empty where the protocol
    /// has none.
    package let initPacket: [UInt8]
    /// The number of the image, for modules that have several.
    package let image: Int
    /// One variant, or one for each slot on modules that run images in place: the module's free
    /// slot decides which of them is sent.
    package let variants: [Variant]
    /// The offset at which the second part begins in firmware that consists of two parts; nil for
    /// one part.
    package let split: Int?

    package init(
        initPacket: [UInt8] = [],
        firmware: [UInt8],
        image: Int = 0,
        split: Int? = nil
    ) {
        self.initPacket = initPacket
        self.image = image
        self.split = split
        variants = [Variant(firmware: firmware)]
    }

    /// Nil without variants.
    package init?(image: Int, variants: [Variant]) {
        guard !variants.isEmpty else { return nil }
        initPacket = []
        split = nil
        self.image = image
        self.variants = variants
    }

    /// The firmware that is sent where there is no choice.
    package var firmware: [UInt8] { variants[0].firmware }

    /// The checksums of the beginnings of that firmware.
    package var checksums: PrefixChecksums { variants[0].checksums }

    /// The size of the largest variant.
    package var size: Int { variants.reduce(0) { max($0, $1.firmware.count) } }
}
