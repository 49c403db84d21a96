/// Where a target keeps the bytes of the image it receives.
package protocol ImageMemory {
    var capacity: Int { get }
    mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int)
    func read(_ range: Range<Int>) -> [UInt8]
}

/// An image memory that goes with its process.
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

/// Where a simulated module's image goes: into the depot's file, or nowhere that lasts.
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

    /// Holds no bytes, so that a memory that is written to is not copied.
    private static var slotless: ModuleMemory { .volatile(VolatileMemory(capacity: 0)) }
}
