package import Base

/// One binary of a plan: its expected content, and the modules that it may be sent to.
package struct PlannedImage: Sendable, Equatable {
    /// What a module must report to get an image; nil means any value.
    package struct Fits: Sendable, Hashable {
        package let family: Family
        package let type: UInt32?
        package let variant: UInt32?

        package init(family: Family, type: UInt32?, variant: UInt32?) {
            self.family = family
            self.type = type
            self.variant = variant
        }
    }

    /// The expected content of an image that is packed with gzip.
    package struct Packing: Sendable, Hashable {
        package let digest: SHA256Digest
        package let size: ByteCount
    }

    package internal(set) var name: String
    package let source: ImageSource
    /// Other sources of the same bytes, in the order in which they are tried.
    package let mirrors: [ImageSource]
    /// Nil for an image that is not packed.
    package let packing: Packing?
    package let digest: SHA256Digest
    package let version: FirmwareVersion
    package let size: ByteCount?
    package let fits: Fits
    package internal(set) var trust: ImageTrust
    /// Documents that are kept with it: its bill of materials and its attestations.
    package internal(set) var attachments: [Attachment]
    /// The oldest version that a module must run before; only the image's signer can set it.
    package internal(set) var predecessor: FirmwareVersion?
    package let place: Place

    init(
        name: String,
        source: ImageSource,
        mirrors: [ImageSource] = [],
        packing: Packing? = nil,
        digest: SHA256Digest,
        version: FirmwareVersion,
        size: ByteCount?,
        fits: Fits,
        trust: ImageTrust = .digest,
        attachments: [Attachment] = [],
        place: Place
    ) {
        self.name = name
        self.source = source
        self.mirrors = mirrors
        self.packing = packing
        self.digest = digest
        self.version = version
        self.size = size
        self.fits = fits
        self.trust = trust
        self.attachments = attachments
        self.place = place
    }
}
