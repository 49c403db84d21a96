package import Base
import Glibc

/// The flash of the simulated modules, in a file that survives a killed process.
///
/// There is one slot per module: two copies of its facts, written in turn, then its image area.
/// Facts are stored in a mapping of the file, so that the kernel has every store immediately.
/// Images are written and read with system calls: a page fault for every four kilobytes would cost
/// more.
package final class DepotMemory {
    typealias Failure = SimulatedDepot.MemoryFailure

    private static let magic: [UInt8] = Array("YMDEPOT1".utf8)
    private static let page = 4_096
    package static let factsBound = 1_900

    let imageCapacity: Int
    private let path: String
    private let descriptor: Int32
    private var base: UnsafeMutableRawPointer
    private var length: Int
    private var slots: [String: Int] = [:]

    private var slotSize: Int { Self.page + imageCapacity }

    /// Opens the memory at `path`, or begins an empty one.
    init(path: String, imageCapacity: Int) throws(Failure) {
        self.path = path
        self.imageCapacity = (imageCapacity + Self.page - 1) / Self.page * Self.page
        do throws(FileFault) {
            descriptor = try FilePlace.open(path, O_RDWR | O_CREAT, mode: 0o600)
        } catch { throw Failure("open", path, error.code) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let failure = Failure("fstat", path, errno)
            close(descriptor)
            throw failure
        }
        let isNew = status.st_size == 0
        length = isNew ? Self.page : Int(status.st_size)
        guard !isNew || ftruncate(descriptor, off_t(Self.page)) == 0,
            let mapped = Self.map(descriptor, length)
        else {
            let failure = Failure("mmap", path, errno)
            close(descriptor)
            throw failure
        }
        base = mapped
        if isNew {
            base.copyMemory(from: Self.magic, byteCount: Self.magic.count)
            base.storeBytes(of: UInt64(self.imageCapacity), toByteOffset: 8, as: UInt64.self)
        }
        try readSlots()
    }

    /// Maps the file, and turns the kernel's read-ahead off: modules are far apart in the file, so
    /// pages after the one that was read are not needed and would stay in memory.
    private static func map(_ descriptor: Int32, _ length: Int) -> UnsafeMutableRawPointer? {
        let mapped = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        madvise(mapped, length, MADV_RANDOM)
        return mapped
    }

    private func readSlots() throws(Failure) {
        let magic = (0..<8).map { base.load(fromByteOffset: $0, as: UInt8.self) }
        guard magic == Self.magic,
            base.load(fromByteOffset: 8, as: UInt64.self) == UInt64(imageCapacity),
            (length - Self.page).isMultiple(of: slotSize)
        else {
            throw Failure(
                description: "\(path) is not the memory of this depot; remove it to begin a new one"
            )
        }
        for index in 0..<(length - Self.page) / slotSize {
            let name = try name(ofSlot: index)
            guard !name.isEmpty else { continue }
            slots[name] = index
        }
    }

    deinit {
        munmap(base, length)
        close(descriptor)
    }

    /// Virtual nanoseconds that have passed in this depot.
    var clock: Int64 {
        get { base.load(fromByteOffset: 16, as: Int64.self) }
        set { base.storeBytes(of: newValue, toByteOffset: 16, as: Int64.self) }
    }

    /// Makes room for modules that have no slot yet.
    func reserve(_ serials: [Serial]) throws(Failure) {
        let missing = serials.filter { slots[$0.text] == nil }
        guard !missing.isEmpty else { return }
        let first = (length - Self.page) / slotSize
        let grown = length + missing.count * slotSize
        guard ftruncate(descriptor, off_t(grown)) == 0 else {
            throw Failure("ftruncate", path, errno)
        }
        guard let mapped = Self.map(descriptor, grown) else { throw Failure("mmap", path, errno) }
        munmap(base, length)
        (base, length) = (mapped, grown)
        for (index, serial) in missing.enumerated() {
            slots[serial.text] = first + index
            let bytes = Array(serial.text.utf8)
            offset(ofSlot: first + index).copyMemory(from: bytes, byteCount: bytes.count)
        }
    }

    /// The part of the memory that belongs to one module; nil when it has no slot.
    func slot(of serial: Serial) -> DepotSlot? {
        slots[serial.text].map { DepotSlot(memory: self, index: $0) }
    }

    private func name(ofSlot index: Int) throws(Failure) -> String {
        guard let bytes = head(ofSlot: index, 64) else {
            throw Failure("pread", path, errno)
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The first bytes of a slot; nil when the file cannot be read.
    ///
    /// It is read with a system call, not through the mapping: there the kernel would map the pages
    /// around it.
    fileprivate func head(ofSlot index: Int, _ count: Int = page) -> [UInt8]? {
        read(count, at: Self.page + index * slotSize)
    }

    private func read(_ count: Int, at place: Int) -> [UInt8]? {
        var got = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, read in
            got = pread(descriptor, room.baseAddress, count, off_t(place))
            read = max(0, got)
        }
        return got < count ? nil : bytes
    }

    private func imagePlace(ofSlot index: Int, _ offset: Int) -> Int {
        Self.page + index * slotSize + Self.page + offset
    }

    fileprivate func image(ofSlot index: Int, _ range: Range<Int>) -> [UInt8] {
        guard let bytes = read(range.count, at: imagePlace(ofSlot: index, range.lowerBound)) else {
            preconditionFailure("\(path) cannot be read: error \(errno)")
        }
        return bytes
    }

    fileprivate func write(_ bytes: [UInt8], ofSlot index: Int, at offset: Int) {
        let put = bytes.withUnsafeBytes {
            pwrite(descriptor, $0.baseAddress, $0.count, off_t(imagePlace(ofSlot: index, offset)))
        }
        // A full disk is fatal here, as it is for a store into a mapping.
        precondition(put == bytes.count, "\(path) cannot be written: error \(errno)")
    }

    fileprivate func offset(ofSlot index: Int) -> UnsafeMutableRawPointer {
        base + Self.page + index * slotSize
    }
}

/// One module's part of the depot's memory.
package final class DepotSlot {
    private let memory: DepotMemory
    private let index: Int
    /// Two copies of the facts follow the serial's 64 bytes.
    private static let copies = [64, 64 + 2_016]
    /// The newest copy of the facts, once this process has written one.
    private var written: Copy?
    /// Consecutive bytes of the image that are not in the file yet, and their offset: packets are
    /// too small for a system call each.
    private var waiting: [UInt8] = []
    private var waitingPlace = 0
    /// When there are more bytes than this, they are written to the file.
    private static let mostWaiting = 16_384

    fileprivate init(memory: DepotMemory, index: Int) {
        self.memory = memory
        self.index = index
    }

    deinit { flush() }

    package var capacity: Int { memory.imageCapacity }

    private var start: UnsafeMutableRawPointer { memory.offset(ofSlot: index) }

    /// One of the two copies of a slot's facts.
    private struct Copy {
        let index: Int
        /// Increases with each save.
        let sequence: UInt64
    }

    /// The last facts that were saved completely; nil when there are none.
    package func facts() -> [UInt8]? { newest()?.facts }

    /// Saves facts over the older copy, so that an interrupted save loses nothing.
    ///
    /// Bytes of the image that the facts refer to are in the file first. Virtual time is saved with
    /// the facts, because deadlines among them refer to it.
    package func save(_ facts: [UInt8], at now: Moment) {
        flush()
        memory.clock = max(memory.clock, now.nanoseconds)
        precondition(facts.count <= DepotMemory.factsBound, "the facts of a module are bounded")
        let newest = written ?? newest()?.copy
        let next = Copy(
            index: newest?.index == 0 ? 1 : 0,
            sequence: (newest?.sequence ?? 0) + 1
        )
        // Only stores: a read through the mapping would bring the pages around it into memory.
        let at = start + Self.copies[next.index]
        at.storeBytes(of: 0, toByteOffset: 8, as: UInt32.self)
        (at + 16).copyMemory(from: facts, byteCount: facts.count)
        at.storeBytes(of: next.sequence, as: UInt64.self)
        at.storeBytes(of: UInt16(facts.count), toByteOffset: 12, as: UInt16.self)
        at.storeBytes(of: seal(facts), toByteOffset: 8, as: UInt32.self)
        written = next
    }

    package func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
        precondition(offset >= 0 && offset + bytes.count <= capacity, "outside the flash")
        let follows = offset == waitingPlace + waiting.count
        if !follows || waiting.count + bytes.count > Self.mostWaiting { flush() }
        if waiting.isEmpty {
            waitingPlace = offset
            waiting.reserveCapacity(max(4_096, bytes.count))
        }
        waiting.append(contentsOf: bytes)
    }

    package func read(_ range: Range<Int>) -> [UInt8] {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= capacity,
            "outside the flash"
        )
        flush()
        return memory.image(ofSlot: index, range)
    }

    private func flush() {
        guard !waiting.isEmpty else { return }
        memory.write(waiting, ofSlot: index, at: waitingPlace)
        // The buffer is freed: a depot has thousands of modules, and few are written to at a time.
        waiting = []
    }

    /// The newest of the complete copies.
    private func newest() -> (copy: Copy, facts: [UInt8])? {
        guard let head = memory.head(ofSlot: index) else { return nil }
        return Self.copies.indices.compactMap { whole($0, in: head) }
            .max { $0.copy.sequence < $1.copy.sequence }
    }

    private func whole(_ copy: Int, in head: [UInt8]) -> (copy: Copy, facts: [UInt8])? {
        head.withUnsafeBytes { head in
            let at = Self.copies[copy]
            let sequence = head.load(fromByteOffset: at, as: UInt64.self)
            let count = Int(head.load(fromByteOffset: at + 12, as: UInt16.self))
            guard sequence > 0, count <= DepotMemory.factsBound else { return nil }
            let facts = Array(head[(at + 16)..<(at + 16 + count)])
            guard head.load(fromByteOffset: at + 8, as: UInt32.self) == seal(facts) else {
                return nil
            }
            return (Copy(index: copy, sequence: sequence), facts)
        }
    }

    /// A checksum that is never zero.
    private func seal(_ facts: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0x811C_9DC5
        for byte in facts { sum = (sum ^ UInt32(byte)) &* 0x0100_0193 }
        return sum | 1
    }
}
