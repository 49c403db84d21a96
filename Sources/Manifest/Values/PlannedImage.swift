package import Domain
package import SourceTree

/// One binary of a plan: what it must be, and which modules may have it.
package struct PlannedImage: Sendable, Equatable {
    /// What a module must report to have an image; nil means any.
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

    /// What must come out of an image that is packed by gzip.
    package struct Packing: Sendable, Hashable {
        package let digest: SHA256Digest
        package let size: ByteCount

        package init(digest: SHA256Digest, size: ByteCount) {
            self.digest = digest
            self.size = size
        }
    }

    package let name: String
    package let source: ImageSource
    /// Where else the same bytes are, in the order in which they are tried.
    package let mirrors: [ImageSource]
    /// Nil for an image that is not packed.
    package let packing: Packing?
    package let digest: SHA256Digest
    package let version: FirmwareVersion
    package let size: ByteCount?
    package let fits: Fits
    package let trust: ImageTrust
    /// Documents that are kept with it: its bill of materials, and what others say of it.
    package let attachments: [Attachment]
    /// What a module must run before; only the image's signer can say it.
    package internal(set) var predecessor: FirmwareVersion?
    package let place: Place

    package init(
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
