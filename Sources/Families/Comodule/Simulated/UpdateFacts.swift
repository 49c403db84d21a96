import Domain
import Wire

/// The facts about updates that a simulated module keeps, besides its own version.
struct UpdateFacts: Equatable {
    /// An image on its way from the module to one of its parts.
    struct Handover: Equatable {
        let part: ModulePart
        let version: FirmwareVersion
        let begins: Moment
        let ends: Moment
    }

    /// The part that the next image is for, as it was announced.
    var preflight = ModulePart.secondary
    var bootloader: FirmwareVersion
    var external1: FirmwareVersion
    var external2: FirmwareVersion
    var handover: Handover?
    /// It runs a new image on trial and will return to this version.
    var revertsTo: FirmwareVersion?
    var revertsAt: Moment?
    /// The system part of a package is installed, and another part may follow.
    var isBetweenParts = false

    init(plan: ModulePlan) {
        bootloader = plan.bootloaderVersion
        external1 = plan.external1Version
        external2 = plan.external2Version
    }

    var components: ComponentsRecord {
        ComponentsRecord(motorController: external1, battery: external2)
    }
}

// MARK: In flash

extension UpdateFacts {
    func append(to bytes: inout ByteWriter) {
        bytes.append(Self.number(of: preflight))
        bytes.append(isBetweenParts ? 1 : 0)
        ModuleFacts.append(bootloader, to: &bytes)
        ModuleFacts.append(external1, to: &bytes)
        ModuleFacts.append(external2, to: &bytes)
        bytes.append(handover.map { Self.number(of: $0.part) + 1 } ?? 0)
        if let handover {
            ModuleFacts.append(handover.version, to: &bytes)
            ModuleFacts.append(handover.begins, to: &bytes)
            ModuleFacts.append(handover.ends, to: &bytes)
        }
        bytes.append(revertsTo == nil ? 0 : 1)
        if let revertsTo {
            ModuleFacts.append(revertsTo, to: &bytes)
            ModuleFacts.append(revertsAt, to: &bytes)
        }
    }

    /// Nil when the bytes were saved by another layout.
    init?(_ reader: inout ByteReader) throws(OutOfBytes) {
        guard let preflight = Self.part(try reader.byte()) else { return nil }
        self.preflight = preflight
        isBetweenParts = try reader.byte() == 1
        bootloader = try ModuleFacts.version(&reader)
        external1 = try ModuleFacts.version(&reader)
        external2 = try ModuleFacts.version(&reader)
        let number = try reader.byte()
        if number > 0 {
            let version = try ModuleFacts.version(&reader)
            guard let part = Self.part(number - 1), let begins = try ModuleFacts.moment(&reader),
                let ends = try ModuleFacts.moment(&reader)
            else { return nil }
            handover = Handover(part: part, version: version, begins: begins, ends: ends)
        }
        if try reader.byte() == 1 {
            revertsTo = try ModuleFacts.version(&reader)
            revertsAt = try ModuleFacts.moment(&reader)
        }
    }

    private static func number(of part: ModulePart) -> UInt8 {
        UInt8(parts.firstIndex(of: part) ?? 0)
    }

    private static let parts = ModulePart.allCases

    private static func part(_ number: UInt8) -> ModulePart? {
        ModulePart.allCases.indices.contains(Int(number))
            ? ModulePart.allCases[Int(number)] : nil
    }
}
