/// The memory in which a target stores the bytes of the image that it receives.
package protocol ImageMemory {
    var capacity: Int { get }
    mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int)
    func read(_ range: Range<Int>) -> [UInt8]
}

/// An image memory that is lost with its process.
package struct VolatileMemory: ImageMemory {
    private var bytes: [UInt8]

    package init(capacity: Int) { bytes = [UInt8](repeating: 0xFF, count: capacity) }

    package var capacity: Int { bytes.count }

    package mutating func write(_ new: ArraySlice<UInt8>, at offset: Int) {
        bytes.replaceSubrange(offset..<offset + new.count, with: new)
    }

    package func read(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }
}

extension DepotSlot: ImageMemory {}

/// The memory for a simulated module's image: in the depot's file, or in the process only.
package struct ModuleMemory: ImageMemory {
    private var memory: any ImageMemory

    init(_ memory: any ImageMemory) { self.memory = memory }

    package var capacity: Int { memory.capacity }

    package mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
        memory.write(bytes, at: offset)
    }

    package func read(_ range: Range<Int>) -> [UInt8] { memory.read(range) }
}
