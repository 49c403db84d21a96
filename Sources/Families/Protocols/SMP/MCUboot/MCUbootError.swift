/// Why bytes are not an MCUboot image, and at which byte.
package struct MCUbootError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        case endsEarly(needed: Int)
        case badMagic
        case badHeaderSize
        case emptyImage
        /// The trailing values do not begin with their magic number.
        case badValuesMagic
        /// The header and the protected values state different lengths.
        case protectedSizeDiffers
        /// The values do not fill the length that they state.
        case badValuesLength
        /// A value with the wrong length for its kind.
        case badValue(MCUbootValue.Kind)
        /// A value that is allowed once is present twice.
        case duplicateValue(MCUbootValue.Kind)
        case noHash
        case severalHashes
        /// A compressed image that does not state the hash that it has when it is installed.
        case noDecompressedHash
        /// After the image there are bytes that are neither erased flash nor a trailer.
        case trailingBytes
    }

    package let reason: Reason
    /// The offset in the file, from 0.
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
            case .noDecompressedHash:
                "the compressed image does not state the hash of its decompressed form"
            case .trailingBytes: "behind the image stands something that does not belong there"
            }
        return "\(what), at byte \(offset)"
    }
}
