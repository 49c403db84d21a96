package import Base

/// Values of a plan: one that the file does not name stays as it is.
extension FieldReader {
    package mutating func read(
        _ key: String,
        in range: ClosedRange<Duration> = .zero ... .seconds(365 * 86_400),
        into time: inout Duration
    ) {
        time = duration(key, in: range, default: time)
    }

    package mutating func read<Number: FixedWidthInteger>(
        _ key: String,
        in range: ClosedRange<Int>,
        into number: inout Number
    ) {
        number = Number(integer(key, in: range, default: Int(number)))
    }

    package mutating func read(_ key: String, into flag: inout Bool) {
        flag = boolean(key, default: flag)
    }

    package mutating func read<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: String,
        into choice: inout Choice
    ) {
        choice = self.choice(key, default: choice)
    }

    /// A number of bytes.
    package mutating func read(bytes key: String, in range: ClosedRange<Int>, into count: inout Int)
    {
        count = byteCount(key, in: range, .optional)?.bytes ?? count
    }
}
