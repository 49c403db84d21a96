package import Base

extension FrozenPlan {
    /// The text that people sign: the plan in its unique spelling, the other devices of its
    /// vehicles, every program that it starts, the fleet and the operator's profiles.
    ///
    /// A line for each member, and for each element of a list in it, so that two texts can be compared.
    package func approvalText(
        fleet: String?,
        profiles: [(name: String, digest: SHA256Digest)]
    ) -> String {
        let more = JSONValue.object([
            "devices": .array(vehicles.compactMap(\.device)),
            "programs": .array(programs.map(\.document)),
            "profiles": .array(
                profiles.map { [.string($0.name), .string($0.digest.description)] }
            ),
            "fleet": fleet.map { .string($0) },
        ])
        let members = (canonical.members ?? []) + (more.members ?? [])
        let lines = members.map { member in
            let value: String
            if let elements = member.value.array, !elements.isEmpty {
                value = "[\n" + elements.map(\.text).joined(separator: ",\n") + "\n]"
            } else {
                value = member.value.text
            }
            return JSONValue.string(member.name).text + ":" + value
        }
        return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
    }
}

extension PlannedVehicle {
    /// Its id, and what its row says of its GO device and of its bond; nil when it says nothing.
    fileprivate var device: JSONValue? {
        let facts = JSONValue.object([
            "go-serial": goSerial.map { .string($0.text) },
            "hardware-id": hardwareID.map { .integer(Int64($0)) },
            "pairing": bond.pairing.map { .string($0.rawValue) },
            "renew-bond": bond.mayRenew ? .bool(true) : nil,
        ])
        return facts.members?.isEmpty == false ? [.string(id.text), facts] : nil
    }
}

/// The approval of a plan: the text that was signed, and the signatures.
package struct PlanApproval: Sendable, Equatable {
    /// The names of those whose signatures count, in the order of the policy.
    package let names: [String]
    package let text: String
    /// The files of the signatures.
    package let signatures: [String]

    package init(names: [String], text: String, signatures: [String]) {
        self.names = names
        self.text = text
        self.signatures = signatures
    }

    /// The form in which it is kept.
    package var value: JSONValue {
        .object([
            "by": .array(names.map(JSONValue.string)),
            "plan": .string(text),
            "signatures": .array(signatures.map(JSONValue.string)),
        ])
    }

    package init?(_ value: JSONValue) {
        guard let names = value["by"]?.array?.compactMap(\.string),
            let text = value["plan"]?.string,
            let signatures = value["signatures"]?.array?.compactMap(\.string)
        else { return nil }
        self.init(names: names, text: text, signatures: signatures)
    }
}
