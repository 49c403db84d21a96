import Base

/// The facts that a simulated module keeps.
package struct ModuleFacts: FlashFacts {
    /// An image on its way from the module to one of its parts.
    struct Handover: Equatable {
        var part: ModulePart
        var version: FirmwareVersion
        var begins: Moment
        var ends: Moment
    }

    var version: FirmwareVersion
    var primaryVersion: FirmwareVersion
    var ongoingUntil: Moment?
    var transfer = TransferFacts()
    /// The part that the next image is for, as it was announced.
    var preflight = ModulePart.secondary
    /// The system part of a package is installed, and another part may follow.
    var isBetweenParts = false
    var bootloader: FirmwareVersion
    var external1: FirmwareVersion
    var external2: FirmwareVersion
    var handover: Handover?
    /// It runs a new image on trial and will return to this version.
    var revertsTo: FirmwareVersion?
    var revertsAt: Moment?
    /// The settings of the vehicle; nil while they are the initial ones.
    var vehicle: VehicleSettings?

    init(plan: ModulePlan) {
        version = plan.version
        primaryVersion = plan.primaryVersion
        bootloader = plan.bootloaderVersion
        external1 = plan.external1Version
        external2 = plan.external2Version
    }

    var components: ComponentsRecord {
        ComponentsRecord(motorController: external1, battery: external2)
    }

    package mutating func keep(in fields: inout FlashFields) {
        fields.keep(&version)
        fields.keep(&primaryVersion)
        fields.keep(&ongoingUntil)
        fields.keep(&transfer.initPacket)
        fields.keep(&transfer.initSize, blank: 0) { $1.keep(&$0) }
        fields.keep(&transfer.initAccepted)
        fields.keep(&transfer.received)
        fields.keep(&transfer.executed)
        fields.keep(&transfer.receivedCRC)
        fields.keep(&transfer.executedCRC)
        fields.keep(&transfer.objectSize, blank: 0) { $1.keep(&$0) }
        fields.keep(&preflight)
        fields.keep(&isBetweenParts)
        fields.keep(&bootloader)
        fields.keep(&external1)
        fields.keep(&external2)
        let never = Moment(nanoseconds: 0)
        let blank = Handover(part: .secondary, version: bootloader, begins: never, ends: never)
        fields.keep(&handover, blank: blank) {
            $1.keep(&$0.part)
            $1.keep(&$0.version)
            $1.keep(&$0.begins)
            $1.keep(&$0.ends)
        }
        fields.keep(&revertsTo, blank: bootloader) { $1.keep(&$0) }
        fields.keep(&revertsAt)
        fields.keep(&vehicle, blank: VehicleSettings()) { $0.keep(in: &$1) }
    }
}

extension FlashFields {
    fileprivate mutating func keep(_ part: inout ModulePart) {
        let parts = ModulePart.allCases
        var number = UInt8(parts.firstIndex(of: part) ?? 0)
        keep(&number)
        part = parts[min(Int(number), parts.count - 1)]
    }

    fileprivate mutating func keep(_ moment: inout Moment) {
        var kept: Moment? = moment
        keep(&kept)
        moment = kept ?? moment
    }
}
