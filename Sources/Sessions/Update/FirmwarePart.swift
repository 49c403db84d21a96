/// One piece of firmware to send: what describes it and what it is.
package struct FirmwarePart: Sendable, Equatable {
    /// The same firmware linked for one slot of the module.
    package struct Variant: Sendable, Equatable {
        /// Nil when it runs from any.
        package let slot: Int?
        package let firmware: [UInt8]

        package init(slot: Int? = nil, firmware: [UInt8]) {
            self.slot = slot
            self.firmware = firmware
        }
    }

    /// What the module judges before it takes the firmware; empty where the protocol has none.
    package let initPacket: [UInt8]
    /// Which of several images of the module it is.
    package let image: Int
    /// One, or one a slot for modules that run images where they lie: the module's free slot says
    /// which of them is sent.
    package let variants: [Variant]
    /// Where firmware that is two things in one ends the first of them; nil where it is one.
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

    /// Nil without a variant.
    package init?(image: Int, variants: [Variant]) {
        guard !variants.isEmpty else { return nil }
        initPacket = []
        split = nil
        self.image = image
        self.variants = variants
    }

    /// What is sent where there is no choice.
    package var firmware: [UInt8] { variants[0].firmware }

    /// What is to be sent at most.
    package var size: Int { variants.reduce(0) { max($0, $1.firmware.count) } }
}
