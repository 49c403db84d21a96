/// Why bytes are no MCUboot image, and at which byte.
package struct MCUbootError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        case endsEarly(needed: Int)
        case badMagic
        case badHeaderSize
        case emptyImage
        /// What should begin the trailing values does not.
        case badValuesMagic
        /// The header and the protected values tell different lengths.
        case protectedSizeDiffers
        /// The values do not fill the length they tell.
        case badValuesLength
        /// A value whose length is not that of its kind.
        case badValue(MCUbootValue.Kind)
        /// A value that may come once comes twice.
        case duplicateValue(MCUbootValue.Kind)
        case noHash
        case severalHashes
        /// Something stands behind the image that is neither erased flash nor a trailer.
        case trailingBytes
    }

    package let reason: Reason
    /// Counts from 0.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String {
        let what =
            switch reason {
            case .endsEarly(let needed): "the image ends early, \(needed) bytes are needed"
            case .badMagic: "this is no MCUboot image: its magic number is missing"
            case .badHeaderSize: "the header is shorter than any"
            case .emptyImage: "the image holds no code"
            case .badValuesMagic: "the trailing values are not where the header says"
            case .protectedSizeDiffers:
                "header and protected values tell different lengths"
            case .badValuesLength: "the trailing values do not fill the length they tell"
            case .badValue(let kind): "the \(kind) has a wrong length"
            case .duplicateValue(let kind): "the \(kind) is there twice"
            case .noHash: "the image has no hash"
            case .severalHashes: "the image has several hashes"
            case .trailingBytes: "behind the image stands something that does not belong there"
            }
        return "\(what), at byte \(offset)"
    }
}
