package import Base

/// The facts that a simulated module keeps over a restart and over the end of our process.
package protocol FlashFacts {
    /// Passes each fact to `fields`, in the order in which the flash holds them.
    mutating func keep(in fields: inout FlashFields)
}

/// The fields of a module's flash: one list of its facts both writes and reads them.
package struct FlashFields {
    private let isReading: Bool
    private var reader: ByteReader
    private var writer: ByteWriter
    private var isWhole = true

    /// Writes the facts.
    init(capacity: Int) {
        isReading = false
        reader = ByteReader([])
        writer = ByteWriter(capacity: capacity)
    }

    /// Reads the facts from these bytes.
    init(_ bytes: [UInt8]) {
        isReading = true
        reader = ByteReader(bytes)
        writer = ByteWriter(capacity: 0)
    }

    /// What was written.
    var bytes: [UInt8] { writer.bytes }

    /// Whether the bytes that were read had this layout.
    var isRead: Bool { isWhole && reader.isAtEnd }

    mutating func keep<Number: FixedWidthInteger & UnsignedInteger>(_ number: inout Number) {
        guard isReading else { return writer.append(little: number) }
        do throws(OutOfBytes) { number = try reader.little() } catch { isWhole = false }
    }

    /// Keeps a count that has 32 bits.
    mutating func keep(_ count: inout Int) {
        var number = UInt32(clamping: count)
        keep(&number)
        count = Int(number)
    }

    mutating func keep(_ flag: inout Bool) {
        var byte: UInt8 = flag ? 1 : 0
        keep(&byte)
        flag = byte == 1
    }

    mutating func keep<Choice: RawRepresentable<UInt8>>(_ choice: inout Choice) {
        var number = choice.rawValue
        keep(&number)
        if let found = Choice(rawValue: number) { choice = found } else { isWhole = false }
    }

    mutating func keep(_ bytes: inout [UInt8]) {
        var count = UInt16(clamping: bytes.count)
        keep(&count)
        guard isReading else { return writer.append(contentsOf: bytes) }
        do throws(OutOfBytes) { bytes = try reader.bytes(Int(count)) } catch { isWhole = false }
    }

    mutating func keep(_ text: inout String) {
        var bytes = Array(text.utf8)
        keep(&bytes)
        if isReading { text = String(decoding: bytes, as: UTF8.self) }
    }

    mutating func keep(_ moment: inout Moment?) {
        var number = UInt64(bitPattern: moment?.nanoseconds ?? -1)
        keep(&number)
        let nanoseconds = Int64(bitPattern: number)
        moment = nanoseconds < 0 ? nil : Moment(nanoseconds: nanoseconds)
    }

    mutating func keep(_ version: inout FirmwareVersion) {
        var (major, minor, patch, build) =
            (version.major, version.minor, version.patch, version.build)
        keep(&major)
        keep(&minor)
        keep(&patch)
        keep(&build)
        version = FirmwareVersion(major, minor, patch, build: build)
    }

    /// Keeps a value that may be absent; `blank` is where its reading begins.
    mutating func keep<Value>(
        _ value: inout Value?,
        blank: Value,
        _ each: (inout Value, inout Self) -> Void
    ) {
        var isThere = value != nil
        keep(&isThere)
        guard isThere else { return value = nil }
        var found = value ?? blank
        each(&found, &self)
        value = found
    }

    /// Keeps a list; `blank` is where the reading of a value begins.
    mutating func keep<Value>(
        _ values: inout [Value],
        blank: Value,
        _ each: (inout Value, inout Self) -> Void
    ) {
        var count = UInt8(clamping: values.count)
        keep(&count)
        if isReading { values = [Value](repeating: blank, count: Int(count)) }
        for index in values.indices.prefix(Int(count)) { each(&values[index], &self) }
    }
}

/// A version is what most simulated modules keep.
extension FirmwareVersion: FlashFacts {
    package mutating func keep(in fields: inout FlashFields) { fields.keep(&self) }
}
