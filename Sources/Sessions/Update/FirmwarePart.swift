package import Domain

/// One piece of firmware to send: what describes it and what it is.
package struct FirmwarePart: Sendable, Equatable {
    /// What the module judges before it takes the firmware; empty where the protocol has none.
    package let initPacket: [UInt8]
    package let firmware: [UInt8]
    /// By what the module names the installed image; nil where it does not.
    package let digest: SHA256Digest?
    /// Which of several images of the module it is.
    package let image: Int

    package init(
        initPacket: [UInt8] = [],
        firmware: [UInt8],
        digest: SHA256Digest? = nil,
        image: Int = 0
    ) {
        self.initPacket = initPacket
        self.firmware = firmware
        self.digest = digest
        self.image = image
    }
}
