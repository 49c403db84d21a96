package import Commands
import Domain
import Families
import Modules

/// The flags and arguments of `enrol`.
package struct EnrolmentWish: Sendable {
    /// The vehicle's id; nil with a batch.
    package let vehicle: String?
    package let batch: String?
    /// The fleet list that the vehicles are added to.
    let fleet: String
    let serial: String?
    let name: String?
    let family: String
    let profile: String
    let oldSecret: String?
    let passkey: String?
    let keys: String
    let credentials: String?
    /// The operator's program that receives each proven secret.
    let receiver: String?
    let rotates: Bool
    let undoes: Bool
    let search: Duration

    package init(_ invocation: Invocation) throws(CommandError) {
        guard let fleet = invocation.value("list") else {
            throw CommandError(
                .usage,
                "no fleet list is given for the vehicle's row",
                hint: "name the fleet list with --list FLEET.csv"
            )
        }
        self.fleet = fleet
        vehicle = invocation.arguments.first
        batch = invocation.value("batch")
        serial = invocation.value("serial")
        name = invocation.value("name")
        family = invocation.value("family") ?? FamilyRegistry.shapes[0].family.rawValue
        profile = invocation.value("profile") ?? Profile.generic
        oldSecret = invocation.value("old-secret")
        passkey = invocation.value("passkey")
        keys = invocation.value("keys") ?? "keys"
        credentials = invocation.value("credentials")
        receiver = invocation.value("hand-to")
        rotates = invocation.has("rotate")
        undoes = invocation.has("undo")
        search = invocation.value("for").flatMap { Duration(text: $0) } ?? .seconds(30)
        guard (vehicle == nil) != (batch == nil) else {
            throw CommandError(
                .usage,
                vehicle == nil ? "no vehicle is named" : "a vehicle is named beside --batch",
                hint: "name the vehicle's id, or --batch FILE.csv"
            )
        }
        guard !undoes || batch == nil && !rotates && serial == nil && name == nil else {
            throw CommandError(.usage, "--undo takes exactly one vehicle of the list")
        }
    }

    /// The folder of the fleet list, to which relative paths refer.
    var folder: String {
        guard let slash = fleet.lastIndex(of: "/") else { return "." }
        return slash == fleet.startIndex ? "/" : String(fleet[..<slash])
    }
}
