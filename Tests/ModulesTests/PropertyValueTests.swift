import Base
import Families
import Radio
import Testing

@testable import VehicleModules

/// Values in records, and the checks of written values in their order.
@Suite struct PropertyValueTests {
    // MARK: Fields

    private static func field(
        _ offset: Int,
        _ length: Int,
        _ order: ByteField.ByteOrder = .little,
        signed: Bool = false
    ) -> ByteField {
        sure(
            ByteField(
                register: 1,
                offset: offset,
                length: length,
                order: order,
                isSigned: signed
            )
        )
    }

    private static let data: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0xFF, 0xFE, 0x80, 0x00]

    @Test(
        arguments: [
            (field(2, 1), 1), (field(2, 2), 0x0201), (field(2, 2, .big), 0x0102),
            (field(2, 4), 0x0403_0201), (field(2, 4, .big), 0x0102_0304), (field(6, 1), 255),
            (field(6, 1, signed: true), -1), (field(6, 2, .big, signed: true), -2),
            (field(6, 2, .little, signed: true), -257), (field(8, 2, .big, signed: true), -32_768),
            (field(8, 2, .big), 32_768), (field(9, 1), 0), (field(8, 1, signed: true), -128),
        ] as [(ByteField, Int64)]
    )
    func `a number is read where it stands`(field: ByteField, number: Int64) {
        #expect(field.integer(in: Self.data) == number)
        var copy = Self.data
        let isPut = field.put(number, into: &copy)
        #expect(isPut && copy == Self.data)
    }

    @Test func `a field outside the record cannot be made`() {
        for (offset, length) in [(0, 1), (1, 1), (2, 9), (9, 2), (10, 1), (2, 0), (-1, 1)] {
            #expect(ByteField(register: 1, offset: offset, length: length) == nil)
        }
        for (offset, length) in [(Int.max, 1), (2, .max), (.min, .min), (9, .min)] {
            #expect(ByteField(register: 1, offset: offset, length: length) == nil)
        }
    }

    @Test func `data that is too short has no value`() {
        let field = Self.field(8, 2)
        for count in 0..<8 {
            var data = [UInt8](repeating: 1, count: count)
            #expect(field.integer(in: data) == nil)
            #expect(field.bytes(in: data) == nil)
            let isPut = field.put(1, into: &data)
            #expect(!isPut)
        }
    }

    @Test func `a number that does not fit is not put`() {
        var data = Self.data
        let cases: [(ByteField, Int64)] = [
            (Self.field(2, 1), 256), (Self.field(2, 1), -1), (Self.field(2, 1, signed: true), 128),
            (Self.field(2, 1, signed: true), -129), (Self.field(2, 4), 1 << 32),
            (Self.field(2, 8), -1),
        ]
        for (field, number) in cases {
            let isPut = field.put(number, into: &data)
            #expect(!isPut)
        }
        #expect(data == Self.data)
    }

    // MARK: Scales

    @Test(
        arguments: [
            ("0.1", "0", 253, 25.3), ("0.001", "0", 1_234_567, 1_234.567), ("1", "-40", 0, -40),
            ("0.5", "-40", 81, 0.5), ("-1", "0", 7, -7), ("10", "0", 3, 30),
            ("0.000001", "1", 1, 1.000001),
            ("0.1", "0", 4_294_967_295, 429_496_729.5),
        ] as [(String, String, Int64, Double)]
    )
    func `a reading has no rounding of its own`(
        scale: String,
        offset: String,
        raw: Int64,
        number: Double
    ) {
        let form = sure(
            RangeForm(scale: sure(Decimal(scale)), offset: sure(Decimal(offset)))
        )
        #expect(form.number(raw) == number)
        #expect(form.raw(number) == raw)
    }

    @Test(arguments: ["", ".", "1.", ".5", "1e3", "+1", "--1", "1234567890123", "0.1234567", "١"])
    func `what is no decimal number is none`(text: String) { #expect(Decimal(text) == nil) }

    @Test func `no number of a register or a manifest is too much for a scale`() {
        let form = sure(RangeForm(scale: sure(Decimal("999.999999")), offset: .zero))
        #expect(form.number(.max).isFinite && form.number(.min).isFinite)
        for number in [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, 1e300] {
            #expect(form.raw(number) == nil)
        }
    }

    // MARK: Writable values

    @Test(
        arguments: [
            ("speed", .number(1), .propertyNotWritable("speed")),
            ("motor_serial", .bytes([]), .propertyNotWritable("motor_serial")),
            ("lights", .number(1), .propertyWrongType("lights", is: .states)),
            ("assist", .state("on"), .propertyWrongType("assist", is: .range)),
            ("label", .number(1), .propertyWrongType("label", is: .raw)),
            ("assist", .bytes([1]), .propertyWrongType("assist", is: .range)),
            ("assist", .number(5), .rangeOutOfBounds("assist", 0...4)),
            ("assist", .number(-1), .rangeOutOfBounds("assist", 0...4)),
            ("assist", .number(.nan), .rangeOutOfBounds("assist", 0...4)),
            ("assist", .number(.infinity), .rangeOutOfBounds("assist", 0...4)),
            // The bounds are checked before the step.
            ("assist", .number(4.5), .rangeOutOfBounds("assist", 0...4)),
            ("assist", .number(2.5), .invalidWriteStep("assist", step: 1, from: 0)),
            ("speed_limit", .number(20.3), .invalidWriteStep("speed_limit", step: 0.5, from: 5)),
            ("mode", .number(0.1), .invalidWriteStep("mode", step: 1, from: 0)),
            (
                "lights", .state("on"),
                .unknownState("lights", known: ["disabled", "enabled", "blinking"])
            ),
            (
                "lights", .unknownState(1),
                .unknownState("lights", known: ["disabled", "enabled", "blinking"])
            ),
            ("label", .bytes([]), .valueBytesInvalidSize("label", capacity: 4)),
            ("label", .bytes([1, 2, 3]), .valueBytesInvalidSize("label", capacity: 4)),
            ("label", .bytes([1, 2, 3, 4, 5]), .valueBytesInvalidSize("label", capacity: 4)),
            ("lihgts", .number(1), .propertyNotFound("lihgts", nearest: "lights")),
            ("xyzzy", .number(1), .propertyNotFound("xyzzy", nearest: nil)),
        ] as [(String, PropertyValue, PropertyWriteError)]
    )
    func `what may not be written is refused with its reason and a remedy`(
        name: String,
        value: PropertyValue,
        error: PropertyWriteError
    ) throws {
        try ModuleBench([ModuleBench.module()]).run { bench in
            let connection = bench.connection()
            await #expect(throws: PropertyWriteError.moduleNotConnected) {
                try await connection.write(value, to: name)
            }
            try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
            let before = await bench.settings()
            await #expect(throws: error) { try await connection.write(value, to: name) }
            #expect(await bench.settings() == before)
            // The check for an update comes before all others except the one for the connection.
            await connection.updating("secondary", .uploading, percent: 50)
            await #expect(throws: PropertyWriteError.firmwareUpdateOngoing) {
                try await connection.write(value, to: name)
            }
            await connection.disconnect()
        }
        #expect(error.sentence.utf8.count > 10 && error.remedy.utf8.count > 10)
    }

    @Test(arguments: [0.0, 1, 2, 3, 4])
    func `every step of a range can be written`(number: Double) throws {
        let spec = try #require(genericProfile.property("assist"))
        #expect(throws: Never.self) { try spec.check(.number(number)) }
    }

    @Test func `a range knows its steps`() throws {
        guard case .range(let form)? = genericProfile.property("speed_limit")?.form else {
            Issue.record("no range")
            return
        }
        #expect(form.writing?.steps == 80)
        #expect(form.writing?.initial == 25)
    }

    @Test(arguments: [
        ("assist", "3", "3"), ("assist", "3.0", "3"), ("lights", "enabled", "enabled"),
        ("label", "0x00FF00ff", "0x00ff00ff"), ("clock_zone", "-120", "-120"),
    ])
    func `a literal of a manifest is a value`(name: String, literal: String, text: String) throws {
        #expect(try genericProfile.value(of: literal, for: name).text == text)
    }

    @Test(arguments: [
        ("assist", "three"), ("assist", "0x3"), ("assist", "1e0"), ("assist", ""),
        ("assist", "inf"), ("label", "00ff00ff"), ("label", "0x0"), ("lights", ""),
        ("speed", "3"), ("assist", String(repeating: "1", count: 400)),
    ])
    func `a literal that is none of its property is refused`(name: String, literal: String) {
        #expect(throws: PropertyMistake.self) {
            try genericProfile.value(of: literal, for: name)
        }
    }
}
