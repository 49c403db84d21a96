import Base

/// One piece of an image in an upload.
package struct SMPChunk: Equatable, Sendable {
    /// The fields that only the first piece has.
    package struct Opening: Equatable, Sendable {
        /// The number of the image in the device; 0 is left out.
        package let image: Int
        /// The length of the whole file.
        package let length: Int
        /// The SHA-256 of the whole file, by which a device recognises an interrupted upload; nil
        /// when the frame has no room for it, or when the upload must not resume.
        package let sha: [UInt8]?
        /// Whether the device should refuse an image that is not newer than the running one.
        package let isUpgradeOnly: Bool

        package init(image: Int, length: Int, sha: [UInt8]?, isUpgradeOnly: Bool = false) {
            self.image = image
            self.length = length
            self.sha = sha
            self.isUpgradeOnly = isUpgradeOnly
        }
    }

    package let offset: Int
    package let data: ArraySlice<UInt8>
    /// Set for offset 0 only.
    package let opening: Opening?

    package init(offset: Int, data: ArraySlice<UInt8>, opening: Opening? = nil) {
        precondition(offset >= 0 && (offset == 0) == (opening != nil), "the first piece opens")
        self.offset = offset
        self.data = data
        self.opening = opening
    }

    /// The bytes of a message that are not data.
    private static func overhead(offset: Int, opening: Opening?) -> Int {
        // The map, and "off" and "data" with their heads; the caller counts the head of the data
        // itself.
        var length = 1 + 4 + CBORWriter.headLength(offset) + 5
        if let opening {
            length += 4 + CBORWriter.headLength(opening.length)
            if let sha = opening.sha { length += 4 + CBORWriter.headLength(sha.count) + sha.count }
            if opening.image != 0 { length += 6 + CBORWriter.headLength(opening.image) }
            if opening.isUpgradeOnly { length += 8 + 1 }
        }
        return length
    }

    /// The most data bytes that fit into a message of `frameLength` bytes at this offset.
    package static func room(frameLength: Int, offset: Int, opening: Opening? = nil) -> Int {
        let left =
            min(frameLength, SMPHeader.length + 0xFFFF) - SMPHeader.length
            - overhead(offset: offset, opening: opening)
        // The head of the data is longer for longer data.
        for head in [1, 2, 3] where left > head && CBORWriter.headLength(left - head) <= head {
            return left - head
        }
        return max(0, left - 3)
    }

    var payloadLength: Int {
        Self.overhead(offset: offset, opening: opening) + CBORWriter.headLength(data.count)
            + data.count
    }

    func write(_ writer: inout CBORWriter) {
        var count = 2
        if let opening {
            count +=
                1 + (opening.sha == nil ? 0 : 1) + (opening.image == 0 ? 0 : 1)
                + (opening.isUpgradeOnly ? 1 : 0)
        }
        writer.beginMap(count)
        if let opening {
            if opening.image != 0 {
                writer.text("image")
                writer.integer(opening.image)
            }
            writer.text("len")
            writer.integer(opening.length)
        }
        writer.text("off")
        writer.integer(offset)
        if let sha = opening?.sha {
            writer.text("sha")
            writer.string(sha[...])
        }
        writer.text("data")
        writer.string(data)
        if opening?.isUpgradeOnly == true {
            writer.text("upgrade")
            writer.bool(true)
        }
    }
}
