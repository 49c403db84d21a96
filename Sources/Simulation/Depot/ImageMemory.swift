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

/// A slot is an image memory of the depot's file.
extension DepotSlot: ImageMemory {
    package var capacity: Int { imageCapacity }
}

/// The memory for a simulated module's image: in the depot's file, or in the process only.
package enum ModuleMemory: ImageMemory {
    case volatile(VolatileMemory)
    case slot(DepotSlot)

    package var capacity: Int {
        switch self {
        case .volatile(let memory): memory.capacity
        case .slot(let slot): slot.imageCapacity
        }
    }

    package mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
        switch self {
        case .volatile(var memory):
            self = .slotless
            memory.write(bytes, at: offset)
            self = .volatile(memory)
        case .slot(let slot): slot.write(bytes, at: offset)
        }
    }

    package func read(_ range: Range<Int>) -> [UInt8] {
        switch self {
        case .volatile(let memory): memory.read(range)
        case .slot(let slot): slot.read(range)
        }
    }

    /// Contains no bytes, so that a memory is not copied when it is written.
    private static var slotless: ModuleMemory { .volatile(VolatileMemory(capacity: 0)) }
}
