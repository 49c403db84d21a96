import Simulation
import SourceTree

extension DepotFile {
    /// Reads the initial settings of a simulated module's vehicle.
    static func readVehicle(_ reader: inout FieldReader, into vehicle: inout VehicleSettings) {
        enum Lights: String, CaseIterable { case disabled, enabled, blinking }
        if let lights = reader.choice("lights", Lights.self, .optional) {
            vehicle.lights = UInt8(Lights.allCases.firstIndex(of: lights) ?? 0)
        }
        vehicle.assist = UInt8(reader.integer("assist", in: 0...255, default: 0))
        vehicle.mode = UInt8(reader.integer("mode", in: 0...255, default: 0))
        vehicle.temperature = Int8(reader.integer("temperature", in: -128...127, default: 21))
        vehicle.odometerMetres = UInt32(
            reader.integer("odometer", in: 0...4_000_000, default: 1_234) * 1_000
        )
    }

    /// Reads the faults that concern the exchanges of a link, among the keys of a fault.
    static func conversationFaults(
        _ reader: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> [ModulePlan.Fault.Kind] {
        var kinds: [ModulePlan.Fault.Kind] = []
        let time = Duration.milliseconds(1)...(.seconds(3_600))
        if let exchange = reader.choice("link-lost-in", ModulePlan.Exchange.self, .optional) {
            kinds.append(.linkLostIn(exchange))
        }
        if let exchange = reader.choice("silent-in", ModulePlan.Exchange.self, .optional) {
            kinds.append(.silentIn(exchange))
        }
        if let after = reader.duration("link-lost-after", in: time, .optional) {
            kinds.append(.linkLostAfter(after))
        }
        if let slow = reader.duration("answers-after", in: time, .optional) {
            kinds.append(.slow(slow))
        }
        if let rate = reader.integer("storm", in: 1...100_000, .optional) {
            kinds.append(.storm(perSecond: rate))
        }
        if let text = reader.text("lacks", .optional) {
            if text.utf8.count == 4, let short = UInt16(text, radix: 16) {
                kinds.append(.lacks(short))
            } else {
                diagnostics.error(
                    reader.place(of: "lacks"),
                    "a characteristic is four hex digits here",
                    hint: "as in `lacks: \"2556\"`"
                )
            }
        }
        return kinds
    }
}
