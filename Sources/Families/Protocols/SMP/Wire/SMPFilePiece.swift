/// A piece of a file that is sent to a device.
package struct SMPFilePiece: Equatable, Sendable {
    package let name: String
    package let offset: Int
    package let data: ArraySlice<UInt8>
    /// The length of the whole file, in the first piece only.
    package let length: Int?

    package init(name: String, offset: Int, data: ArraySlice<UInt8>, length: Int?) {
        self.name = name
        self.offset = offset
        self.data = data
        self.length = length
    }
}
