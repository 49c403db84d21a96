import Wire

/// One piece of an image on its way.
package struct SMPChunk: Equatable, Sendable {
    /// What only the first piece carries.
    package struct Opening: Equatable, Sendable {
        /// Which of the device's images it is; 0 is left out.
        package let image: Int
        /// Of the whole file.
        package let length: Int
        /// The SHA-256 of the whole file, by which a device knows an upload again; nil when the
        /// frame has no room for it, or when resuming is not wanted.
        package let sha: [UInt8]?
        /// The device refuses what is not newer than what it runs.
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
    /// Given with offset 0, and only there.
    package let opening: Opening?

    package init(offset: Int, data: ArraySlice<UInt8>, opening: Opening? = nil) {
        precondition(offset >= 0 && (offset == 0) == (opening != nil), "the first piece opens")
        self.offset = offset
        self.data = data
        self.opening = opening
    }

    /// Bytes of a message that are not data, when the piece has up to `room` bytes in all.
    private static func overhead(offset: Int, opening: Opening?) -> Int {
        // Map, "off" and "data" with their heads; the data's own head is counted by the caller.
        var length = 1 + 4 + CBORWriter.headLength(offset) + 5
        if let opening {
            length += 4 + CBORWriter.headLength(opening.length)
            if let sha = opening.sha { length += 4 + CBORWriter.headLength(sha.count) + sha.count }
            if opening.image != 0 { length += 6 + CBORWriter.headLength(opening.image) }
            if opening.isUpgradeOnly { length += 8 + 1 }
        }
        return length
    }

    /// The most data bytes that a message of `frameLength` bytes carries at this offset.
    package static func room(frameLength: Int, offset: Int, opening: Opening? = nil) -> Int {
        let left =
            min(frameLength, SMPHeader.length + 0xFFFF) - SMPHeader.length
            - overhead(offset: offset, opening: opening)
        // The head of the data takes more bytes the longer they are.
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
