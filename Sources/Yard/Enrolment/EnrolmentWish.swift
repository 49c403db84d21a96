import Base
package import Commands

/// The flags and arguments of `enrol`.
package struct EnrolmentWish: Sendable {
    /// The vehicle's id; nil with a batch.
    let vehicle: String?
    let batch: String?
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
        guard let fleet = invocation[Command.list] else {
            throw CommandError(
                .usage,
                "no fleet list is given for the vehicle's row",
                hint: "name the fleet list with --list FLEET.csv"
            )
        }
        self.fleet = fleet
        vehicle = invocation.arguments.first
        batch = invocation[Command.batch]
        serial = invocation[Command.serial]
        name = invocation[Command.name]
        family = invocation[Command.family]
        profile = invocation[Command.profile]
        oldSecret = invocation[Command.oldSecret]
        passkey = invocation[Command.passkey]
        keys = invocation[Command.keys]
        credentials = invocation[Command.credentials]
        receiver = invocation[Command.receiver]
        rotates = invocation[Command.rotate]
        undoes = invocation[Command.undo]
        search = invocation[Command.search]
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
