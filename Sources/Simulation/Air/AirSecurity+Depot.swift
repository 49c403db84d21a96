package import Base
import Radio

extension AirSecurity.Plan {
    /// Reads the module's pairing from a depot's file; nil when the module does not pair.
    package static func read(
        _ reader: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> AirSecurity.Plan? {
        let kind = reader.choice("pairing", default: PairingKind.none)
        let digits = reader.text("passkey", .optional)
        let slots = reader.integer("bond-slots", in: 0...100, default: 4)
        let refuses = reader.boolean("refuses-pairing", default: false)
        let pairing: Pairing
        switch kind {
        case .none: return nil
        case .justWorks: pairing = .justWorks
        case .passkey:
            guard let passkey = digits.flatMap({ Passkey(text: $0) }) else {
                diagnostics.error(
                    reader.place(of: digits == nil ? "pairing" : "passkey"),
                    "a passkey is six digits",
                    hint: "invent one, in quotes: `passkey: \"012345\"`"
                )
                return nil
            }
            pairing = .passkey(passkey)
        }
        var plan = AirSecurity.Plan(pairing)
        plan.slots = slots
        plan.refuses = refuses
        return plan
    }
}
