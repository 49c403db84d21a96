/// A piece of a file on its way to a device.
package struct SMPFilePiece: Equatable, Sendable {
    package let name: String
    package let offset: Int
    package let data: ArraySlice<UInt8>
    /// Of the whole file: with the first piece.
    package let length: Int?

    package init(name: String, offset: Int, data: ArraySlice<UInt8>, length: Int?) {
        self.name = name
        self.offset = offset
        self.data = data
        self.length = length
    }
}
